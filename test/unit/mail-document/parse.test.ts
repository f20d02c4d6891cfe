import { expect } from 'chai';
import {
  checkSavedBlocks,
  parseBrandKit,
  parseDocument,
  savedBlockIds,
} from '../../../platform/mail-document/index.ts';
import { documentOf, paragraph, parsed, SAVED_ID, text } from './documents.ts';

/** Returns the paths of what is wrong with a document, each with its code. */
const faultsOf = (value: unknown, savedBlock?: 'FOOTER' | 'SECTION') =>
  (parseDocument(value, { savedBlock }).errors ?? []).map(({ path, code }) => `${path} ${code}`);
const inDocument = (...content: unknown[]) => faultsOf(documentOf(...content));

const link = (href: string) => paragraph(text('here', { type: 'link', attrs: { href } }));
const image = (attrs: object) => ({ type: 'image', attrs: { src: 'https://example.com/a.png', ...attrs } });
const chip = (attrs: object) => paragraph({ type: 'variable', attrs });
const section = (...content: unknown[]) => ({ type: 'section', content });
const repeat = (...content: unknown[]) => ({ type: 'repeat', content });
const condition = (test: unknown) => ({ type: 'condition', attrs: { test }, content: [] });
const columns = (...widths: number[]) => ({
  type: 'columns',
  content: widths.map((width) => ({ type: 'column', attrs: { width } })),
});
const footer = { type: 'footer', content: [paragraph(text('Bye'))] };
const saved = { type: 'saved', attrs: { blockId: SAVED_ID } };
const nested = (depth: number): unknown => (depth === 1 ? { type: 'divider' } : section(nested(depth - 1)));

describe('reading a document', () => {
  it('fills in the defaults of the example', () => {
    expect(parsed(documentOf({ type: 'paragraph' }, { type: 'spacer' }, image({})))).to.deep.equal({
      version: 1,
      lang: 'en',
      preheader: [],
      theme: { background: null, surface: null, text: null, link: null, button: null, font: null, width: 600 },
      content: [
        { type: 'paragraph', attrs: { align: 'left', size: 'normal' }, content: [] },
        { type: 'spacer', attrs: { height: 24 } },
        {
          type: 'image',
          attrs: {
            src: 'https://example.com/a.png',
            alt: '',
            decorative: false,
            width: 552,
            href: null,
            align: 'center',
            full: false,
          },
        },
      ],
    });
  });

  it('makes chips of complete variables in text, which keep its marks', () => {
    const [block] = parsed(
      documentOf(paragraph(text('Hi {{ first name ?? "a \\"b\\" }}" }}{{a.b}}! {{ x', { type: 'bold' }))),
    ).content;
    const marks = [{ type: 'bold' }];
    expect(block).to.have.deep.property('content', [
      { type: 'text', text: 'Hi ', marks },
      { type: 'variable', attrs: { name: 'first name', fallback: 'a "b" }}', format: null }, marks },
      { type: 'variable', attrs: { name: 'a.b', fallback: null, format: null }, marks },
      { type: 'text', text: '! {{ x', marks },
    ]);
  });

  for (const tag of [
    '{{ a | upper }}',
    '{{ 1 }}',
    '{{ a or b }}',
    '{{ __proto__ }}',
    '{{ a.constructor }}',
    '{{ }}',
    '{{{ a }}}',
    '{% if a %}',
  ])
    it(`refuses ${tag} in text`, () => {
      expect(inDocument(section(paragraph(text('x'), text(tag))))).to.deep.equal([
        'content.0.content.0.content.1.text invalid_string',
      ]);
    });

  it('keeps anything in alternative texts', () => {
    expect(inDocument(image({ alt: '{{ a | b }} {% if' }))).to.deep.equal([]);
  });

  for (const name of ['', 'a"b', "a'b", 'a{b', 'a.__proto__', 'prototype', 'x'.repeat(101), 'a..b'])
    it(`refuses the variable name ${name.slice(0, 20) || '(empty)'}`, () => {
      expect(inDocument(chip({ name })))
        .to.have.lengthOf(1)
        .and.to.match(/^content\.0\.content\.0\.attrs\.name /);
    });

  it('accepts any fallback of 500 characters, and known formats', () => {
    expect(inDocument(chip({ name: 'a b.c', fallback: '}} {{"\'\\'.padEnd(500, '%}'), format: 'date' }))).to.deep.equal(
      [],
    );
    expect(inDocument(chip({ name: 'a', fallback: 'x'.repeat(501), format: 'title' }))).to.deep.equal([
      'content.0.content.0.attrs.fallback too_big',
      'content.0.content.0.attrs.format invalid_enum',
    ]);
  });

  for (const href of [
    '',
    '#',
    '#top',
    '{{ url }}',
    '{{ a }}javascript:x',
    'HTTPS://a.example',
    'mailto:a@b.c',
    'tel:+1',
    'sms:1',
    'https://a.example/{{ id }}',
  ])
    it(`accepts a link to ${href || '(nothing)'}`, () => expect(inDocument(link(href))).to.deep.equal([]));

  for (const href of [
    'javascript:x',
    ' java\tscript:x',
    'data:text/html,x',
    '/path',
    'example.com',
    '//example.com',
    'ftp://a',
    'https{{ a }}://b',
    '{{ a',
    'https://a/{{ | }}',
  ])
    it(`refuses a link to ${href}`, () => {
      expect(inDocument(link(href))).to.deep.equal(['content.0.content.0.marks.0.attrs.href invalid_string']);
    });

  it('refuses images that are neither http nor https', () => {
    for (const src of ['data:image/png;base64,x', 'mailto:a@b.c', 'a.png', '#'])
      expect(inDocument(image({ src })), src).to.deep.equal(['content.0.attrs.src invalid_string']);
    expect(inDocument(image({ src: '' }))).to.deep.equal(['content.0.attrs.src too_small']);
    expect(inDocument({ type: 'image', attrs: {} })).to.deep.equal(['content.0.attrs.src required']);
    expect(inDocument(image({ src: 'http://example.com/a.png' }))).to.deep.equal([]);
  });

  it('refuses unknown blocks, attributes, marks and values with their paths', () => {
    expect(inDocument({ type: 'video' }, { type: 'column' }, { content: [] })).to.deep.equal([
      'content.0.type invalid_enum',
      'content.1.type invalid_enum',
      'content.2.type required',
    ]);
    expect(inDocument({ type: 'spacer', attrs: { height: 201, color: 'x' }, id: 1 })).to.deep.equal([
      'content.0.id custom',
      'content.0.attrs.height too_big',
      'content.0.attrs.color custom',
    ]);
    expect(inDocument(paragraph(text('x', { type: 'blink' }), { type: 'image' }))).to.deep.equal([
      'content.0.content.0.marks.0.type invalid_enum',
      'content.0.content.1.type invalid_enum',
    ]);
    for (const [type, attrs] of [
      ['heading', { level: 4 }],
      ['paragraph', { align: 'justify' }],
      ['paragraph', { size: 'huge' }],
      ['image', { src: 'https://a.example', width: 0 }],
      ['section', { padding: 65 }],
      ['section', { background: 'red' }],
      ['divider', { color: '#fff' }],
      ['repeat', { limit: 101 }],
      ['repeat', { item: 'a b' }],
      ['social', { links: [{ network: 'myspace', href: 'https://a.example' }] }],
      ['saved', { blockId: 'x' }],
      ['button', { href: 'https://a.example', fullOnPhone: 'yes' }],
    ] as const)
      expect(inDocument({ type, attrs }), `${type} ${JSON.stringify(attrs)}`).to.have.lengthOf(1);
    expect(faultsOf({ ...documentOf(), theme: { width: 640 }, lang: 'x y', author: 1 })).to.have.lengthOf(3);
    expect(faultsOf({ version: 2, content: [] })).to.deep.equal(['version invalid_enum']);
    expect(faultsOf('text')).to.deep.equal([' invalid_type']);
  });

  it('refuses NUL and half surrogate pairs anywhere', () => {
    expect(inDocument(paragraph(text('a\0')))).to.deep.equal(['content.0.content.0.text invalid_string']);
    expect(inDocument(image({ alt: '\ud800' }))).to.deep.equal(['content.0.attrs.alt invalid_string']);
    expect(inDocument(condition({ field: 'data.a', operator: 'in', value: ['\udc00'] }))).to.deep.equal([
      'content.0.attrs.test.value.0 invalid_string',
    ]);
  });

  it('limits depth, blocks and bytes', () => {
    expect(inDocument(nested(6))).to.deep.equal([]);
    expect(inDocument(nested(7))).to.deep.equal([`content.0${'.content.0'.repeat(6)} too_big`]);
    const list = { type: 'bulletList', content: [{ type: 'listItem', content: [paragraph()] }] };
    expect(inDocument(section(section(section(section(list)))))).to.deep.equal([]);
    const many = (count: number) => Array.from({ length: count }, () => ({ type: 'divider' }));
    expect(inDocument(...many(500))).to.deep.equal([]);
    expect(inDocument(...many(501))).to.deep.equal(['content.500 too_big']);
    const withBytes = (bytes: number) => {
      const value = documentOf(paragraph(text('')));
      const rest = bytes - JSON.stringify(value).length;
      return documentOf(paragraph(text('x'.repeat(rest))));
    };
    expect(faultsOf(withBytes(524_288))).to.deep.equal([]);
    expect(faultsOf(withBytes(524_289))).to.deep.equal([' too_big']);
  });

  it('refuses what the template language has no room for', () => {
    const chips = Array.from({ length: 8_000 }, () => ({ type: 'variable', attrs: { name: 'a' } }));
    expect(inDocument(paragraph(...chips))).to.deep.equal(['content custom']);
  });

  it('checks where columns, loops and footers stand', () => {
    expect(inDocument(columns(50, 50), columns(20, 30, 25, 25))).to.deep.equal([]);
    expect(inDocument(columns(100))).to.deep.equal(['content.0.content too_small']);
    expect(inDocument(columns(20, 20, 20, 20, 20))).to.deep.equal(['content.0.content too_big']);
    expect(inDocument(columns(50, 49))).to.deep.equal(['content.0.content custom']);
    const within = {
      type: 'columns',
      content: [{ type: 'column', content: [section(columns(50, 50))] }, { type: 'column' }],
    };
    expect(inDocument(within)).to.deep.equal(['content.0.content.0.content.0.content.0 custom']);
    expect(inDocument(repeat(section(repeat())))).to.deep.equal(['content.0.content.0.content.0 custom']);
    expect(inDocument(section(footer))).to.deep.equal(['content.0.content.0 custom']);
    expect(inDocument(footer, footer)).to.deep.equal(['content.1 custom']);
    expect(inDocument({ type: 'footer', content: [{ type: 'divider' }] })).to.deep.equal([
      'content.0.content.0.type invalid_enum',
    ]);
    const otherwise = { type: 'otherwise', content: [] };
    const test = { field: 'subscribed', operator: 'equals', value: true };
    expect(inDocument({ type: 'condition', attrs: { test }, content: [otherwise, otherwise] })).to.deep.equal([
      'content.0.content.0 custom',
    ]);
  });

  it('limits conditions to contact fields and operators without time', () => {
    const accepted = [
      { field: 'data["a b"]', operator: 'exists' },
      { field: 'email', operator: 'endsWith', value: '@example.com' },
      {
        logic: 'AND',
        groups: [
          {
            filters: [],
            conditions: { logic: 'OR', groups: [{ filters: [{ field: 'data.a', operator: 'in', value: [1] }] }] },
          },
        ],
      },
      { expression: 'items | length > 2 and plan == "%}"' },
    ];
    for (const test of accepted) expect(inDocument(condition(test)), JSON.stringify(test)).to.deep.equal([]);
    const refused: [unknown, string][] = [
      [{ field: 'createdAt', operator: 'equals', value: '2026-01-01' }, 'field'],
      [{ field: 'segment.6d1a3c52-5a3e-4f0e-9d2b-0c7b8f1f2a11', operator: 'memberOfSegment' }, 'field'],
      [{ field: 'data.a', operator: 'within', value: 1, unit: 'days' }, 'operator'],
      [{ field: 'data.a', operator: 'anniversaryWithin', value: 1, unit: 'days' }, 'operator'],
      [{ field: 'subscribed', operator: 'equals', value: 'yes' }, 'value'],
      [{ logic: 'AND', groups: [] }, 'groups'],
      [{ expression: 'a %}{% endif %}{% if b' }, 'expression'],
      [{ expression: 'a %}<script>{% else %}' }, 'expression'],
      [{ expression: 'a ==' }, 'expression'],
      [{ expression: '' }, 'expression'],
    ];
    for (const [test, part] of refused)
      expect(inDocument(condition(test)), JSON.stringify(test))
        .to.have.lengthOf(1)
        .and.satisfy(([path]: string[]) => path?.startsWith(`content.0.attrs.test.${part} `));
  });

  it('cleans HTML with a warning, and refuses template tags that do not parse or nest', () => {
    const html = (value: string) => documentOf({ type: 'html', attrs: { html: value } });
    const { document, warnings } = parseDocument(
      html('<p onclick="x">a<b>b<script>x</script><a href="javascript:x">c</a><a href="{{ u ?? "q" }}">d'),
    );
    expect(document?.content[0]).to.have.nested.property(
      'attrs.html',
      '<p>a<b>b<a>c</a><a href="{{ u ?? "q" }}">d</a></b></p>',
    );
    expect(warnings).to.have.lengthOf(1);
    expect(warnings?.[0]).to.include({ code: 'html_cleaned', level: 'WARNING', path: 'content.0.attrs.html' });
    for (const fault of [
      '{% if a %}',
      '{{ | }}',
      '<b>{% if a %}</b>{% endif %}',
      '{% if a %}<table><tr><td>{% endif %}',
    ])
      expect(faultsOf(html(fault)), fault).to.deep.equal(['content.0.attrs.html invalid_string']);
    expect(parseDocument(html('{% if a %}<b>a</b>{% else %}<i>b</i>{% endif %}')).warnings).to.deep.equal([]);
  });
});

describe('saved blocks', () => {
  it('have one footer when they are footers, none otherwise, and hold no others', () => {
    expect(faultsOf(documentOf(footer), 'FOOTER')).to.deep.equal([]);
    expect(faultsOf(documentOf(paragraph()), 'FOOTER')).to.deep.equal(['content custom']);
    expect(faultsOf(documentOf(footer), 'SECTION')).to.deep.equal(['content.0 custom']);
    expect(faultsOf(documentOf(saved), 'SECTION')).to.deep.equal(['content.0 custom']);
  });

  it('must exist, and may stand where their content may', () => {
    const check = (kind: 'FOOTER' | 'SECTION', own: unknown, ...content: unknown[]) => {
      const document = parsed(documentOf(...content));
      const blocks = new Map([[SAVED_ID, { kind, document: parsed(documentOf(own)) }]]);
      return checkSavedBlocks(document, blocks).map(({ path }) => path);
    };
    const document = parsed(documentOf(section(saved), saved));
    expect(savedBlockIds(document)).to.deep.equal([SAVED_ID]);
    expect(checkSavedBlocks(document, new Map()).map(({ path }) => path)).to.deep.equal([
      'content.0.content.0.attrs.blockId',
      'content.1.attrs.blockId',
    ]);
    expect(check('SECTION', paragraph(), section(saved), saved)).to.deep.equal([]);
    expect(check('FOOTER', footer, saved)).to.deep.equal([]);
    expect(check('FOOTER', footer, section(saved))).to.deep.equal(['content.0.content.0']);
    expect(check('FOOTER', footer, footer, saved)).to.deep.equal(['content.1']);
    expect(check('SECTION', repeat(), repeat(saved))).to.deep.equal(['content.0.content.0']);
  });
});

describe('a brand kit', () => {
  it('has defaults for what is left out', () => {
    const { brandKit } = parseBrandKit({ colors: { link: '#ABCDEF' }, font: 'Times New Roman' });
    expect(brandKit).to.deep.include({ font: 'Times New Roman', radius: 6, logoUrl: null, address: null });
    expect(brandKit?.colors).to.include({ link: '#ABCDEF', buttonText: '#ffffff' });
  });

  it('refuses colors, addresses and fonts that email cannot have', () => {
    const faults = parseBrandKit({
      colors: { link: 'red' },
      font: 'Comic Sans',
      logoUrl: 'mailto:a@b.c',
      radius: 33,
      address: 'a\0',
    });
    expect(faults.errors).to.have.lengthOf(1);
    const links = [{ network: 'x', href: 'mailto:a@b.c' }];
    expect(parseBrandKit({ logoUrl: '{{ logo }}', socialLinks: links }).errors?.map(({ path }) => path)).to.deep.equal([
      'logoUrl',
      'socialLinks.0.href',
    ]);
    const others = parseBrandKit({ colors: { link: 'red' }, font: 'Comic Sans', logoUrl: 'mailto:a@b.c', radius: 33 });
    expect(others.errors?.map(({ path }) => path)).to.have.members(['colors.link', 'font', 'logoUrl', 'radius']);
  });
});
