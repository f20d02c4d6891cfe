import { expect } from 'chai';
import { defaultBrandKit, documentVariables, documentWarnings } from '../../../platform/mail-document/index.ts';
import { documentOf, paragraph, parsed, text } from './documents.ts';

const LONG = 'This text is long enough. '.repeat(5);
const known = new Set(['firstName', 'order', 'email']);

function warningsOf(content: unknown[], rest: object = {}, context: object = {}): string[] {
  const document = parsed({ ...documentOf(...content), preheader: [text('News')], ...rest });
  const warnings = documentWarnings(document, { brandKit: defaultBrandKit, knownVariables: known, ...context });
  return warnings.map(({ level, code, path }) => [level, code, path].filter(Boolean).join(' '));
}

const image = (attrs: object) => ({ type: 'image', attrs: { src: 'https://example.com/a.png', alt: 'A', ...attrs } });
const link = (href: string) => paragraph(text('here', { type: 'link', attrs: { href } }));

describe('warnings about a document', () => {
  it('has none for a complete one', () => {
    expect(warningsOf([paragraph(text(`Hi {{firstName ?? "there"}}, ${LONG}`)), image({})])).to.deep.equal([]);
  });

  it('finds missing preview texts and alternative texts, and too little text', () => {
    expect(warningsOf([image({ alt: ' ' }), image({ alt: '', decorative: true })], { preheader: [] })).to.deep.equal([
      'INFO preheader_missing preheader',
      'WARNING alt_missing content.0.attrs.alt',
      'INFO text_thin',
    ]);
  });

  it('finds links that lead nowhere, and http: and large images', () => {
    const large = { imageBytes: (src: string) => (src.includes('large') ? 1_000_001 : undefined) };
    const content = [
      paragraph(text(LONG)),
      link('#'),
      link('#top'),
      { type: 'button', content: [text('Go')] },
      image({ src: 'http://example.com/a.png' }),
      image({ src: 'https://example.com/large.png', href: '' }),
      { type: 'html', attrs: { html: '<a href="">x</a><img src="http://example.com/b.png">' } },
    ];
    expect(warningsOf(content, {}, large)).to.have.members([
      'WARNING insecure_image content.4.attrs.src',
      'WARNING image_large content.5.attrs.src',
      'WARNING alt_missing content.6.attrs.html',
      'WARNING insecure_image content.6.attrs.html',
      'ERROR link_empty content.1.content.0.marks.0.attrs.href',
      'ERROR link_empty content.3.attrs.href',
      'ERROR link_empty content.5.attrs.href',
      'ERROR link_empty content.6.attrs.html',
    ]);
  });

  it('finds unknown variables and those without fallback, but not items of loops', () => {
    const repeat = { type: 'repeat', content: [paragraph(text('{{item.name}} {{ loop.index }}'))] };
    const content = [
      paragraph(text('{{firstName}} {{ nickName ?? "you" }} {{ email }} {{address}} {{ data.order }}')),
      repeat,
    ];
    expect(warningsOf(content)).to.deep.equal([
      'WARNING fallback_missing content.0.content.0',
      'WARNING variable_unknown content.0.content.2',
      'WARNING fallback_missing content.0.content.8',
    ]);
    expect(documentVariables(parsed(documentOf(...content))).map(({ name }) => name)).to.deep.equal([
      'firstName',
      'nickName',
      'email',
      'address',
      'data.order',
    ]);
  });

  it('finds variables in addresses and html blocks', () => {
    const content = [
      {
        type: 'button',
        attrs: { href: 'https://a.example/{{ slug }}?n={{ firstName ?? "" }}' },
        content: [text('Go')],
      },
      link('https://a.example/{{ firstName }}'),
      image({ src: 'https://a.example/{{ picture }}.png', href: '{{ unsubscribeUrl }}' }),
      {
        type: 'html',
        attrs: { html: '<p>{% if vip %}{{ firstName }} {{ firstName }}{% endif %}{{ order ?? "" }}</p>' },
      },
      { type: 'repeat', content: [{ type: 'button', attrs: { href: '{{ item.url }}' }, content: [text('Go')] }] },
    ];
    expect(warningsOf([paragraph(text(LONG)), ...content])).to.deep.equal([
      'WARNING variable_unknown content.1.attrs.href',
      'WARNING fallback_missing content.2.content.0.marks.0.attrs.href',
      'WARNING variable_unknown content.3.attrs.src',
      'WARNING variable_unknown content.4.attrs.html',
      'WARNING fallback_missing content.4.attrs.html',
    ]);
  });

  it('finds what is wrong in a saved block, at its place', () => {
    const blockId = '0190b0a0-0000-7000-8000-000000000000';
    const inside = documentOf(
      paragraph(text('{{ firstName }} {{ nickName }}')),
      paragraph(text('x', { type: 'color', attrs: { color: '#999999' } })),
      image({ alt: '' }),
      link('#'),
    );
    const savedBlocks = new Map([[blockId, { kind: 'SECTION', document: parsed(inside) }]]);
    const content = [paragraph(text(LONG)), { type: 'saved', attrs: { blockId } }];
    expect(warningsOf(content, {}, { savedBlocks })).to.deep.equal([
      'WARNING alt_missing content.1',
      'ERROR link_empty content.1',
      'WARNING contrast_low content.1',
      'WARNING fallback_missing content.1',
      'WARNING variable_unknown content.1',
    ]);
  });

  it('measures contrast in light and dark, once for each pair of colors', () => {
    const colored = (color: string) => paragraph(text('x', { type: 'color', attrs: { color } }));
    expect(warningsOf([colored('#999999'), colored('#999999'), colored('#111111')])).to.deep.equal([
      'WARNING contrast_low content.0.content.0.marks.0.attrs.color',
      'WARNING contrast_low content.2.content.0.marks.0.attrs.color',
    ]);
    const section = { type: 'section', attrs: { background: '#fef3c7' }, content: [paragraph(text('dark on light'))] };
    expect(warningsOf([section])).to.deep.equal([]);
    const button = {
      type: 'button',
      attrs: { href: 'https://a.example', background: '#ffff00' },
      content: [text('Go')],
    };
    expect(warningsOf([button])).to.deep.equal(['WARNING contrast_low content.0.attrs']);
    expect(warningsOf([paragraph(text('x'))], { theme: { text: '#aaaaaa' } })).to.deep.equal([
      'WARNING contrast_low content.0',
    ]);
  });

  it('misses the unsubscribe link of email without our footer', () => {
    const needs = { needsUnsubscribeLink: true };
    expect(warningsOf([link('https://a.example')], {}, needs)).to.deep.equal(['ERROR unsubscribe_missing']);
    expect(warningsOf([link('{{ unsubscribeUrl }}')], {}, needs)).to.deep.equal([]);
  });
});
