import { expect } from 'chai';
import fc from 'fast-check';
import { checkTemplate } from '../../../platform/templates/index.ts';
import { render } from './rendering.ts';

const violationsOf = (source: string): string[] =>
  checkTemplate(source).map(({ line, column, message }) => `${line}:${column} ${message}`);

describe('checking a template', () => {
  it('accepts plain texts and valid templates', () => {
    for (const source of [
      '',
      'plain',
      '<style>a{b:c}</style>',
      '{{ name ?? "x" }}',
      '{% if a %}b{% endif %}',
      '{ { } }',
    ])
      expect(violationsOf(source), source).to.deep.equal([]);
  });

  it('reports line and column in the source', () => {
    expect(violationsOf('<p>\n  {{ name ?? "x" }} {{ first name }}\n  {{ name | nope }}</p>')).to.deep.equal([
      '3:13 unknown filter "nope"',
    ]);
    expect(violationsOf('one\r\ntwo\r\n{% iff x %}')).to.deep.equal(['3:4 unknown block tag: iff']);
    expect(violationsOf('{# c\nc #}{% raw %}\n{{ x | nope }}{% endraw %}{{ x | nope }}')).to.deep.equal([
      '3:34 unknown filter "nope"',
    ]);
  });

  it('reports all violations of a template that can be parsed', () => {
    expect(violationsOf('{{ a | b }} {{ c is d }}\n{{ e() }} {{ f.g() }}')).to.deep.equal([
      '1:8 unknown filter "b"',
      '1:21 unknown test "d"',
      '2:4 unknown function "e"',
      '2:17 methods cannot be called in templates; use a filter',
    ]);
  });

  const one: [source: string, violation: string][] = [
    ['{{ a', '1:1 this tag is never closed: "}}" is missing'],
    ['x {% if a', '1:3 this tag is never closed: "%}" is missing'],
    ['{{ "a }}', '1:4 this text is never closed: a quotation mark is missing'],
    ['a{# b', '1:2 this comment is never closed: "#}" is missing'],
    ['{% raw %}x', '1:1 "raw" is never closed: "{% endraw %}" is missing'],
    ['{% raw -%}x', '1:1 "raw" is never closed: "{% endraw %}" is missing'],
    ['a\n{% if x %}{% for y in z %}{% endfor %}', '2:4 "if" is not complete or never closed'],
    ['{% for x in y %}{% if z %}{% endif %}', '1:4 "for" is not complete or never closed'],
    ['{% endif %}', '1:4 unknown block tag: endif'],
    ['{{ }}', '1:4 unexpected token: }}'],
    ['{{ a ? b }}', '1:6 unexpected character "?"'],
    ['{{ a 😀 }}', '1:6 unexpected character "😀"'],
    ['{{ a[] }}', '1:5 a name or number is expected between the brackets'],
    ['{{ () }}', '1:4 one expression is expected between the parentheses'],
    ['{{ {1: 2} }}', '1:5 a key must be a name or a text'],
    ['{% set a.b = 1 %}', '1:9 a name is expected'],
    ['{% macro m("a") %}{% endmacro %}', '1:12 a name is expected'],
    ['{{ a | sort(up=1) }}', '1:8 the filter "sort" has no argument "up"'],
    ['{{ a | replace(r/(a+)+$/, "") }}', '1:16 regular expressions are not available in templates'],
    [`{{ ${'['.repeat(200)}${']'.repeat(200)} }}`, '1:153 this is nested too deeply'],
    [`{{ ${'('.repeat(9_000)}${')'.repeat(9_000)} }}`, '1:1 this is nested too deeply'],
    ['{{ a }}'.repeat(10_000), '1:46668 the template has too many parts'],
    ['{% switch x %}', '1:4 "switch" is not complete or never closed'],
    ['{% call x %}{% endcall %}', '1:4 "call" is not complete or never closed'],
  ];
  for (const [source, violation] of one)
    it(`rejects ${source.length > 60 ? `${source.slice(0, 20)}...` : source}`, () => {
      expect(violationsOf(source)).to.deep.equal([violation]);
    });

  it('rejects tags that load other templates or are asynchronous', () => {
    const tags = [
      'include "x"',
      'import "x" as y',
      'from "x" import y',
      'extends "x"',
      'block b',
      'asyncEach a in b',
      'asyncAll a in b',
      'ifAsync a',
    ];
    for (const tag of tags) {
      const [name] = tag.split(' ');
      expect(violationsOf(`{% ${tag} %}`), tag).to.deep.equal([`1:4 "${name}" is not available in templates`]);
    }
  });

  it('rejects sources that inject JavaScript into nunjucks', () => {
    const code = 'constructor.constructor("return process")()';
    for (const source of [
      `{{ x is "a\\").${code};(\\"" }}`,
      '{{ x"&Function`return\\x20process```&" }}',
      `{{ "".${code} }}`,
      `{{ range.${code} }}`,
      `{% for a,b in x %}{% endfor %}{{ x["\\\\"]() }}`,
      '{% macro a(x;y) %}{% endmacro %}',
    ])
      expect(violationsOf(source), source).to.have.lengthOf.at.least(1);
  });

  it('checks hostile sources of a megabyte without failing', () => {
    const hostile = [
      `${' '.repeat(1_000_000)}x{{- a }}`,
      '{% raw -%}'.repeat(100_000),
      `{% raw %}${'{%'.repeat(500_000)}`,
      '{{ a }}'.repeat(140_000),
      `{{ ${'a '.repeat(500_000)}}}`,
      `{{ ${'a.'.repeat(500_000)}a }}`,
      `{{ "${'\\'.repeat(1_000_000)}`,
      `{%${' '.repeat(1_000_000)}raw`,
      '{% if a %}'.repeat(100_000),
      `{{ a${' | upper'.repeat(125_000)} }}`,
      `{{ a${' + a'.repeat(250_000)} }}`,
      '{#'.repeat(500_000),
      `{{ [${'1,'.repeat(500_000)}1] }}`,
      '{% for a, b in c %}'.repeat(50_000),
    ];
    for (const source of hostile) expect(checkTemplate(source), source.slice(0, 30)).to.be.an('array');
  });

  it('accepts no source that cannot be rendered', () => {
    const part = fc.oneof(
      fc.constantFrom(
        '{{',
        '}}',
        '{%',
        '%}',
        '{#',
        '#}',
        '{{-',
        '-%}',
        ' ',
        '\n',
        '"',
        "'",
        '\\',
        '`',
        '$',
        ';',
        '(',
        ')',
        '[',
        ']',
        '{',
        '}',
        ',',
        ':',
        '|',
        '.',
        '~',
        '+',
        '-',
        '*',
        '/',
        '//',
        '**',
        '<',
        '==',
        '!=',
        '=',
        '??',
        '?',
        '1',
        '2.5',
        'a',
        'name',
        'first name',
        'range',
        'caller',
        'if',
        'else',
        'elif',
        'endif',
        'for',
        'in',
        'endfor',
        'set',
        'endset',
        'macro',
        'endmacro',
        'call',
        'endcall',
        'switch',
        'case',
        'default',
        'endswitch',
        'filter',
        'endfilter',
        'raw',
        'endraw',
        'and',
        'or',
        'not',
        'is',
        'none',
        'true',
        'defined',
        'upper',
        'sort',
        'join',
        'safe',
        'constructor',
        '__proto__',
        'loop',
        'data',
        '{% if a %}',
        '{% endif %}',
        '{% for x in a %}',
        '{% endfor %}',
        '{{ a }}',
      ),
      fc.string({ maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const source = parts.join('');
        checkTemplate(source);
        expect(render(source, { a: ['x', 1], name: '<b>', 'first name': 'Ann' })).to.be.a('string');
      }),
      { numRuns: 3000 },
    );
  });
});
