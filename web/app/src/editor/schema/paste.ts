// Cleans what is pasted from Word, Google Docs and web pages, so that only the structure of the text is left.

/** Word and Google Docs mark their HTML. */
const isFromDocs = (html: string): boolean => /id="docs-internal-guid/.test(html);

const DROPPED =
  'script, style, meta, link, title, xml, svg, iframe, object, form, input, button, select, textarea, noscript';

/** Runs in browsers only: needs their parser. */
export function cleanPastedHtml(html: string): string {
  // Our own HTML is complete as it is.
  if (html.includes('data-block=') || html.includes('data-pm-slice')) return html;
  const { body } = new DOMParser().parseFromString(withoutConditionals(html), 'text/html');
  for (const element of body.querySelectorAll(DROPPED)) element.remove();
  for (const element of [...body.querySelectorAll<HTMLElement>('*')])
    if (element.tagName.includes(':')) unwrap(element);
  // Google Docs puts everything into a bold element that is not bold.
  if (isFromDocs(html))
    for (const bold of body.querySelectorAll<HTMLElement>('b[id^=docs-internal-guid]')) unwrap(bold);
  wordLists(body);
  for (const element of body.querySelectorAll<HTMLElement>('span, font')) styledSpan(element);
  // Tables of texts become paragraphs: columns of an email are for the layout.
  for (const cell of body.querySelectorAll('td, th')) asParagraph(cell);
  for (const paragraph of body.querySelectorAll('p'))
    if (paragraph.textContent?.replace(/\u00a0/g, ' ').trim() === '' && !paragraph.querySelector('img'))
      paragraph.remove();
  return body.innerHTML;
}

/** `<!--[if …]> … <![endif]-->` and the revealed form of Word. */
const withoutConditionals = (html: string): string =>
  html.replace(/<!--\[if[\s\S]*?<!\[endif\]-->/gi, '').replace(/<!\[(?:if|endif)[^>]*>/gi, '');

function unwrap(element: Element): void {
  element.replaceWith(...element.childNodes);
}

function asParagraph(cell: Element): void {
  if (cell.querySelector('p, div, ul, ol, h1, h2, h3, h4, h5, h6, table')) return;
  const paragraph = cell.ownerDocument.createElement('p');
  paragraph.append(...cell.childNodes);
  cell.append(paragraph);
}

/** Text formats as styles become elements. */
function styledSpan(span: HTMLElement): void {
  const { fontWeight, fontStyle, textDecoration, textDecorationLine } = span.style;
  const lines = `${textDecoration} ${textDecorationLine}`;
  const isInLink = span.closest('a') !== null || span.querySelector('a') !== null;
  const tags = [
    (fontWeight === 'bold' || Number(fontWeight) >= 600) && !span.closest('h1, h2, h3, h4, h5, h6') && 'strong',
    fontStyle === 'italic' && 'em',
    lines.includes('underline') && !isInLink && 'u',
    lines.includes('line-through') && 's',
  ].filter((tag) => tag !== false);
  let inner: ChildNode[] = [...span.childNodes];
  for (const tag of tags) {
    const element = span.ownerDocument.createElement(tag);
    element.append(...inner);
    inner = [element];
  }
  span.replaceWith(...inner);
}

/** Word writes list items as paragraphs with a bullet as text. */
function wordLists(body: HTMLElement): void {
  let list: HTMLElement | undefined;
  for (const paragraph of [...body.querySelectorAll<HTMLElement>('p')]) {
    const isItem =
      /mso-list:\s*(?!none)/i.test(paragraph.getAttribute('style') ?? '') &&
      paragraph.className.includes('ListParagraph');
    if (!isItem) {
      list = undefined;
      continue;
    }
    const marks = [...paragraph.querySelectorAll<HTMLElement>('span[style*="mso-list"]')];
    const marked = marks.map(({ textContent }) => textContent).join('');
    for (const mark of marks) mark.remove();
    const [bullet = marked] = /^\s*(?:[·•§o▪-]|\d+[.)])\s+/.exec(paragraph.textContent ?? '') ?? [];
    if (!list || list.nextElementSibling !== paragraph) {
      list = body.ownerDocument.createElement(/\d/.test(bullet) ? 'ol' : 'ul');
      paragraph.before(list);
    }
    if (marked === '') removeStart(paragraph, bullet.length);
    const item = body.ownerDocument.createElement('li');
    const content = body.ownerDocument.createElement('p');
    content.append(...paragraph.childNodes);
    item.append(content);
    list.append(item);
    paragraph.remove();
  }
}

function removeStart(element: HTMLElement, length: number): void {
  const walker = element.ownerDocument.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let left = length;
  for (let node = walker.nextNode(); node && left > 0; node = walker.nextNode()) {
    const text = node.textContent ?? '';
    node.textContent = text.slice(left);
    left -= text.length;
  }
}
