import { expect } from 'chai';
import fc from 'fast-check';
import nunjucks from 'nunjucks';
import { checkTemplate } from '../../../platform/templates/index.ts';
import { render } from './rendering.ts';

const variables = {
  name: 'Ann O\'Neil <ann@example.com> & "Co"',
  price: 12.345,
  count: 3,
  zero: 0,
  none_: null,
  yes: true,
  no: false,
  blank: '',
  long: 'The quick brown fox jumps over the lazy dog',
  lines: 'one\ntwo\r\nthree',
  html: '<p>Hi <b>you</b></p> <!-- hidden --> a < b',
  tags: ['red', 'Green', 'blue'],
  numbers: [3, 1, 2],
  empty: [],
  users: [
    { name: 'Bob', age: 30, active: true, address: { city: 'Rome' } },
    { name: 'ann', age: 25, active: false, address: { city: 'Bern' } },
    { name: 'Cy', age: 30, active: true, address: { city: 'Rome' } },
  ],
  profile: { tier: 'gold', 'two words': 'x', deep: { deeper: { deepest: 'bottom' } } },
  pairs: [
    ['a', 1],
    ['b', 2],
  ],
  url: 'https://example.com/?a=1&b=2',
};

const templates = [
  // Output and access
  'Hello {{ name }}!',
  '{{ name | safe }} {{ missing }} {{ none_ }} {{ zero }} {{ yes }} {{ price }}',
  '{{ profile.tier }} {{ profile["two words"] }} {{ profile.deep.deeper.deepest }} {{ profile.no.no.no }}',
  '{{ tags[0] }} {{ tags[count - 1] }} {{ tags.length }} {{ name.length }} {{ tags[9] }} {{ long[4] }}',
  '{{ tags }} {{ numbers }} {{ profile }}',
  '{{ "a\\n\\t\\"b\\\\" }} {{ \'it\' }} {{ 1.50 }} {{ 007 }} {{ [1, "x", [2]] }} {{ {a: 1}.a }} {{ {"b c": 2}["b c"] }}',
  // Operators
  '{{ 1 + 2 * 3 - 4 / 2 }} {{ 7 // 2 }} {{ 7 % 4 }} {{ 2 ** 5 }} {{ -count }} {{ +count }} {{ (1 + 2) * 3 }}',
  '{{ 5 * 7 % 4 }} {{ 7 % 4 * 5 }} {{ 20 / 3 % 4 }} {{ 10 * 3 / 7 }} {{ 10 / 4 * 3 / 7 % 2 }} {{ 1 + 2 - 3 + 4 - 5 - 6 }}',
  '{{ 3 * 10 // 4 }} {{ 10 // 4 * 3 }} {{ 2 ** 3 ** 2 }} {{ 2 * 3 ** 2 - 1 }} {{ "1" + 2 - 3 }} {{ 10 - (2 - 3) * 2 }}',
  '{{ "a" + 1 }} {{ "a" ~ 1 ~ yes }} {{ count + "1" }}',
  '{{ count == 3 }} {{ count == "3" }} {{ count === "3" }} {{ count != 3 }} {{ count !== 4 }} {{ 1 < 2 }} {{ 2 <= 1 }}',
  '{{ yes and no }} {{ no or "x" }} {{ not yes }} {{ not (no or zero) }} {{ blank or "empty" }}',
  '{{ "red" in tags }} {{ "pink" in tags }} {{ "pink" not in tags }} {{ "Ann" in name }} {{ "tier" in profile }}',
  '{{ "yes" if yes else "no" }} {{ "yes" if no }}',
  '{{ count is odd }} {{ count is even }} {{ missing is defined }} {{ name is defined }} {{ none_ is null }}',
  '{{ 9 is divisibleby(3) }} {{ name is string }} {{ count is number }} {{ tags is iterable }} {{ profile is mapping }}',
  '{{ count is gt(2) }} {{ count is le(2) }} {{ count is eq(3) }} {{ "abc" is lower }} {{ "ABC" is not lower }}',
  '{{ missing is undefined }} {{ yes is truthy }} {{ zero is falsy }} {{ ("x" | safe) is escaped }}',
  // Blocks
  '{% if yes %}a{% elif no %}b{% else %}c{% endif %}{% if no %}a{% elif yes %}b{% endif %}{% if no %}x{% else %}c{% endif %}',
  '{% for tag in tags %}{{ loop.index }}/{{ loop.length }} {{ tag }}{% if not loop.last %}, {% endif %}{% endfor %}',
  '{% for tag in tags %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{% endfor %}',
  '{% for x in empty %}x{% else %}none{% endfor %}{% for x in missing %}x{% else %}none{% endfor %}',
  '{% for key, value in profile.deep %}{{ key }}{% endfor %}{% for a, b in pairs %}{{ a }}={{ b }};{% endfor %}',
  '{% for u in users %}{% for t in tags %}{{ u.name }}{{ t }}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}',
  '{% for c in "abc" %}{{ c }}.{% endfor %}{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(5, 0, -2) %}{{ i }}{% endfor %}',
  '{% set x = 5 %}{{ x }}{% set x = x + 1 %}{{ x }}{% set a, b = 2 %}{{ a }}{{ b }}',
  '{% set n = 0 %}{% for t in tags %}{% set n = n + 1 %}{% set inner = t %}{% endfor %}{{ n }}{{ inner }}',
  '{% set block %}<b>{{ name }}</b>{% endset %}{{ block }} {{ block | safe }}',
  '{% macro greet(who, greeting="Hi") %}<i>{{ greeting }} {{ who }}</i>{% endmacro %}{{ greet(name) }}{{ greet("Bo", "Yo") }}{{ greet(greeting="Hey", who="Cy") }}',
  '{% macro box(title) %}[{{ title }}:{{ caller() }}]{% endmacro %}{% call box("T") %}in <b>{{ count }}</b>{% endcall %}',
  '{% macro each(list) %}{% for x in list %}{{ caller(x) }}{% endfor %}{% endmacro %}{% call(item) each(tags) %}<{{ item }}>{% endcall %}',
  '{% macro down(n) %}{{ n }}{% if n > 0 %}{{ down(n - 1) }}{% endif %}{% endmacro %}{{ down(5) }}',
  '{% set top = "t" %}{% macro m() %}{{ top }}{% set top = "inner" %}{{ top }}{% endmacro %}{{ m() }}{{ top }}',
  '{% switch count %}{% case 1 %}one{% case 3 %}three{% default %}other{% endswitch %}',
  '{% switch profile.tier %}{% case "silver" %}{% case "gold" %}precious{% default %}plain{% endswitch %}',
  '{% switch missing %}{% case 1 %}one{% default %}other{% endswitch %}',
  '{% raw %}{{ not rendered }} {% if %}{% endraw %}{% verbatim %}{{ x }}{% endverbatim %}',
  'a {# a comment {{ name }} #} b {#- trimmed -#} c',
  '  {{- count -}}  x  {%- if yes -%}  y  {%- endif -%}  z  ',
  '{% filter upper %}abc {{ count }}{% endfilter %}{% filter replace("a", "b") %}banana{% endfilter %}',
  // Filters
  '{{ -5 | abs }} {{ long | capitalize }} {{ "ab" | center(7) }}| {{ missing | default("d") }} {{ none_ | default("d") }} {{ blank | d("d", true) }}',
  '{{ profile.deep | dump }} {{ tags | dump }} {{ numbers | dump(2) }}',
  '{{ name | escape }} {{ name | e | e }} {{ "<b>" | safe | forceescape }} {{ "<i>" | safe | escape }}',
  '{{ tags | first }} {{ tags | last }} {{ tags | length }} {{ profile | length }} {{ name | length }} {{ missing | length }}',
  '{{ "3.7x" | float }} {{ "x" | float(1) }} {{ "12px" | int }} {{ "x" | int(9) }} {{ "ff" | int(0, 16) }}',
  '{% for city, people in users | groupby("address.city") %}{{ city }}:{{ people | length }};{% endfor %}',
  '{{ lines | indent }}|{{ lines | indent(2, true) }}',
  '{{ tags | join }} {{ tags | join(", ") }} {{ users | join("/", "name") }}',
  '{{ "abc" | list | join("-") }}{% for e in profile | list %}{{ e.key }};{% endfor %}',
  '{{ name | lower }} {{ name | upper }} {{ "foo bar" | title }} {{ "  x " | trim }}|',
  '{{ lines | escape | nl2br }} {{ lines | nl2br }}',
  '{{ numbers | reject("odd") | join }} {{ numbers | select("odd") | join }} {{ [0, 1, ""] | select | join }}',
  '{{ users | selectattr("active") | join(",", "name") }} {{ users | rejectattr("active") | join(",", "name") }}',
  '{{ "banana" | replace("a", "o") }} {{ "banana" | replace("a", "o", 2) }} {{ "abc" | replace("", "-") }} {{ 4.5 | replace("4", "5") }} {{ 14 | replace(4, "x") }}',
  '{{ "abc" | reverse }} {{ tags | reverse | join }}',
  '{{ price | round }} {{ price | round(1) }} {{ price | round(1, "floor") }} {{ price | round(2, "ceil") }}',
  '{% for row in [1,2,3,4,5] | slice(2) %}[{{ row | join }}]{% endfor %}{% for row in [1,2,3] | slice(2, "f") %}[{{ row | join }}]{% endfor %}',
  '{% for row in [1,2,3,4,5] | batch(2) %}[{{ row | join }}]{% endfor %}{% for row in [1,2,3] | batch(2, "f") %}[{{ row | join }}]{% endfor %}',
  '{{ tags | sort | join }} {{ tags | sort(true) | join }} {{ tags | sort(false, true) | join }} {{ users | sort(attribute="age") | join(",", "name") }}',
  '{% for k, v in {b: 2, A: 3, c: 1} | dictsort %}{{ k }}{% endfor %}{% for k, v in {b: 2, A: 3, c: 1} | dictsort(false, "value") %}{{ k }}{% endfor %}',
  '{{ numbers | sum }} {{ users | sum("age") }} {{ numbers | sum(start=10) if false else "" }}',
  '{{ count | string }} {{ html | striptags }} {{ "a\n\n\n\nb  c <p>d</p>" | striptags(true) }}',
  '{{ long | truncate(12) }} {{ long | truncate(12, true) }} {{ long | truncate(12, false, "~") }} {{ "x" | truncate(12) }}',
  '{{ "a b&c" | urlencode }} {{ {a: 1, b: "x y"} | urlencode }} {{ pairs | urlencode }}',
  '{{ "see http://example.com/x and www.a.org or me@b.com." | urlize | safe }}',
  '{{ long | wordcount }}',
];

/** Sums and products of small numbers, with and without parentheses. */
const sum = fc.letrec<{ term: string; sum: string }>((tie) => ({
  term: fc.oneof(
    { depthSize: 'small' },
    fc.nat({ max: 20 }).map(String),
    tie('sum').map((inner) => `(${inner})`),
  ),
  sum: fc
    .array(fc.tuple(tie('term'), fc.constantFrom('+', '-', '*', '/', '%')), { minLength: 1, maxLength: 5 })
    .map((terms) => terms.flat().slice(0, -1).join(' ')),
})).sum;

describe('templates', () => {
  it('evaluate arithmetic as nunjucks does', () => {
    fc.assert(
      fc.property(sum, (text) => {
        const expected = nunjucks.renderString(`{{ ${text} }}`, {});
        expect(render(`{{ ${text} }}`), text).to.equal(expected === 'NaN' ? '' : expected);
      }),
      { numRuns: 2000 },
    );
  });

  for (const source of templates)
    it(`render as in nunjucks: ${source}`, () => {
      expect(checkTemplate(source)).to.deep.equal([]);
      expect(render(source, variables)).to.equal(nunjucks.renderString(source, variables));
    });
});
