import { expect } from 'chai';
import fc from 'fast-check';
import { plainText } from '../../../platform/templates/plain-text.ts';
import { render, renderText } from './rendering.ts';

describe('the text part', () => {
  it('takes tags with the name of an inherited property', () => {
    expect(plainText('<p>Hello</p><constructor/x>Ann</Constructor>')).to.equal('Hello\n\nAnn');
    expect(plainText('<toString>Ann</toString><__proto__>Lee</__proto__>')).to.contain('Ann');
  });

  it('has the text of the HTML with links and lists', () => {
    const html = `<html><head><title>No</title><style>p{color:red}</style></head><body>
      <h1>Hello   Ann</h1><p>Thank you &amp; welcome.<br>Bye</p><ul><li>one<li>two</ul>
      <p><a href="https://example.com/a?b=1&amp;c=2">Open</a> <a href="https://example.com">https://example.com</a></p>
      <img src="https://example.com/pixel.gif" alt="logo"></body></html>`;
    expect(plainText(html)).to.equal(
      'Hello Ann\n\nThank you & welcome.\nBye\n\n * one\n * two\n\nOpen [https://example.com/a?b=1&c=2] https://example.com',
    );
  });

  it('keeps each paragraph on one line', () => {
    expect(plainText(`<p>${'word '.repeat(100)}</p>`)).to.equal('word '.repeat(100).trim());
  });

  it('contains the values of the mail, also in links', () => {
    const html = '<p>Hi {{ name }}</p><a href="{{ url }}">{{ url }}</a> <a href="{{ url }}">{{ label }}</a>';
    const data = { name: 'Tom & <Ann>', url: 'https://example.com/?a=1&b=2', label: 'Go' };
    expect(renderText(html, data)).to.equal(
      'Hi Tom & <Ann>\n\nhttps://example.com/?a=1&b=2 Go [https://example.com/?a=1&b=2]',
    );
  });

  it('is correct for each mail of a template, in any order', () => {
    const html =
      '<h1>{{ a }}</h1>{% if b %}<p>{{ b }}</p>{% endif %}{% for c in cs %}<p>{{ c }} {{ a }}</p>{% endfor %}';
    expect(renderText(html, { a: 'A', b: 'B', cs: ['1', '2'] })).to.equal('A\n\nB\n\n1 A\n\n2 A');
    expect(renderText(html, { a: 'X', b: 'Y', cs: ['3', '4'] })).to.equal('X\n\nY\n\n3 X\n\n4 X');
    expect(renderText(html, { a: 'X', b: '', cs: [] })).to.equal('X');
    expect(renderText(html, { a: 'S', b: 'S', cs: ['S', 'S'] })).to.equal('S\n\nS\n\nS S\n\nS S');
  });

  it('ends with the footer, as the HTML does', () => {
    const footer = '<p>Bye {{ name }}</p>';
    expect(renderText('<body><p>Hi</p></body>', { name: 'Ann' }, footer)).to.equal('Hi\n\nBye Ann');
  });

  it('equals the converted HTML when values follow an unfinished tag, also through a block', () => {
    const html =
      '{{ c | safe }}{% set s %}{{ a }}{% endset %}{{ s }}<p>x</p><{% set t %}y{% endset %}{{ a }}>z</{{ a }}>';
    for (const c of ['<', '&', '<b', 'x'])
      for (const a of ['Ann Bo', 'p', 'amp'])
        expect(renderText(html, { a, c }), `${a} ${c}`).to.equal(plainText(render(html, { a, c })));
  });

  it('equals the converted HTML for any values', () => {
    const html =
      '<h1>{{ a }}</h1><p>x {{ b }} y{{ c }}z <b>{{ a }}</b></p><{{ tag }}>t</{{ tag }}><table><tr><td>{{ b }}<td>' +
      '<a href="https://e.example/{{ c }}">{{ a }}</a></table>{% macro m(v) %}<i>{{ v }}</i>{% endmacro %}{{ m(b) }}' +
      '{{ c | safe }}{% set s %}{{ a }}{% endset %}{{ s | trim }}<pre>{{ a }}</pre><img alt="{{ a }}">{# {{ b }} #}';
    const value = fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        'Ann',
        'Ann Bo',
        ' a',
        'a ',
        'a  b',
        'a\nb',
        '',
        '<p>x</p>',
        '&lt;',
        '\u200b',
        '\u00a0',
        '\x020\x03',
        '0',
        'x\x02',
      ),
    );
    fc.assert(
      fc.property(value, value, value, fc.constantFrom('p', 'b', 'div', 'h2'), (a, b, c, tag) => {
        const data = { a, b, c, tag };
        expect(renderText(html, data)).to.equal(plainText(render(html, data)));
      }),
      { numRuns: 1000 },
    );
  });

  it('is produced from hostile HTML', () => {
    const hostile = [
      '<div>'.repeat(100_000),
      '<table><tr><td>'.repeat(60_000),
      '<ul><li>'.repeat(60_000),
      `<ol>${'<li>x'.repeat(100_000)}`,
      `<p ${'a=b '.repeat(200_000)}>`,
      '<a'.repeat(400_000),
      '<!--'.repeat(200_000),
      `<p>${' '.repeat(900_000)}x`,
      '&amp;'.repeat(180_000),
      'x'.repeat(1_000_000),
    ];
    for (const html of hostile) expect(plainText(html), html.slice(0, 20)).to.be.a('string');
  });
});
