// What an html block may contain.

export const allowedElements = new Set(
  (
    'a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del dfn div dl ' +
    'dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark ol p pre q s samp ' +
    'section small span strike strong sub sup table tbody td tfoot th thead time tr tt u ul var wbr'
  ).split(' '),
);

export const voidElements = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));

/** Their content is no text for readers, or would run. */
export const droppedWithContent = new Set(
  (
    'applet audio canvas frameset iframe math noembed noframes noscript object plaintext script select style svg ' +
    'template textarea title video xmp'
  ).split(' '),
);

export const allowedAttributes = new Set(
  (
    'abbr align alt bgcolor border bordercolor cellpadding cellspacing class color colspan dir face height hspace id ' +
    'lang name nowrap rel role rowspan scope size span start style target title type valign value vspace width'
  ).split(' '),
);

const rows = ['table', 'tbody', 'thead', 'tfoot'];

/** The parents that the parts of a table need. */
export const tableParents = new Map([
  ['caption', ['table']],
  ['colgroup', ['table']],
  ['col', ['colgroup', 'table']],
  ['tbody', ['table']],
  ['thead', ['table']],
  ['tfoot', ['table']],
  ['tr', rows],
  ['td', ['tr']],
  ['th', ['tr']],
]);
