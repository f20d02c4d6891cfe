import { expect } from 'chai';
import { pino } from 'pino';
import { createRenderer, type Renderer, type RenderItem } from '../../../platform/templates/index.ts';
import { render } from './rendering.ts';

const item = (data: Record<string, unknown> = {}): RenderItem => ({ data, builtIn: {} });

describe('hostile templates', () => {
  let renderer: Renderer;

  before(() => {
    // Only the budget of a template ends it, however slow the machine is.
    renderer = createRenderer({ log: pino({ level: 'silent' }), processes: 1, limits: { silenceMs: 600_000 } });
  });
  after(() => renderer.close());

  const loop = (body: string, times = 100_000) => `{% for i in range(${times}) %}${body}{% endfor %}`;
  const growing = (change: string) => `{% set a = [1, 1] %}{% set s = "x" %}${loop(change, 200)}`;
  const attacks: Record<string, string> = {
    'a list of a billion': '{% for i in range(1000000000) %}x{% endfor %}',
    'loops in loops': loop(loop(loop(''))),
    'loops that write': loop(loop('{{ name }}')),
    'a loop over much text': loop('{{ name }}'.repeat(3000)),
    'a loop over a long list': loop(`{% set x = [${'1,'.repeat(5000)}1] %}`),
    'a text that doubles': `${growing('{% set s = s ~ s %}')}{{ s }}`,
    'a text that doubles by adding': `${growing('{% set s = s + s %}')}{{ s }}`,
    'a text that doubles by catching': growing('{% set s %}{{ s }}{{ s }}{% endset %}'),
    'a list that doubles, as JSON': `${growing('{% set a = [a, a] %}')}{{ a | dump(10) }}`,
    'an object that doubles, as JSON': `${growing('{% set a = {a: a, b: a} %}')}{{ a | dump }}`,
    'a list that keeps everything': `{% set l = [] %}${loop('{% set l = [l, {a: long ~ i}] %}')}`,
    'a macro that calls itself': '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
    'a macro that calls itself twice':
      '{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(40) }}',
    'macros that call each other':
      '{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}',
    'a caller that calls':
      '{% macro m() %}{{ caller() }}{% endmacro %}{% macro r() %}{% call m() %}{{ r() }}{% endcall %}{% endmacro %}{{ r() }}',
    'batch that fills up': '{{ [1] | batch(1000000000, "x") }}',
    'slices without number': '{{ [1] | slice(1000000000, "x") }}',
    'replace that multiplies': '{{ long | replace("a", long) }}',
    'replace of nothing': '{{ long | replace("", long) }}',
    'join that multiplies': '{{ long | list | join(long) }}',
    'a list of one text many times': `{% set l = [${'long,'.repeat(5000)}1] %}{{ l }}`,
    'a needle in a haystack': loop('{{ ("b" ~ long) in long }}'),
    'equal texts compared': loop('{% set q = (long ~ "x") == (long ~ "y") %}'),
    ...Object.fromEntries(
      [
        'upper',
        'title',
        'striptags',
        'trim',
        'nl2br',
        'urlize',
        'wordcount',
        'list',
        'reverse',
        'sort',
        'escape',
        'int',
        'urlencode',
      ].map((filter) => [`${filter} over and over`, loop(`{% set x = text | ${filter} %}`)]),
    ),
  };
  const data = { name: 'Ann', long: 'a'.repeat(100_000), text: '<a \n'.repeat(20_000) };

  for (const [name, html] of Object.entries(attacks))
    it(`are refused, and other mail is rendered: ${name}`, async () => {
      const [attack, other] = await Promise.all([
        renderer.render({ subject: 'x', html, items: [item(data)] }),
        renderer.render({ subject: 'Hi {{ name }}', html: '<p>{{ name }}</p>', items: [item({ name: 'Bo' })] }),
      ]);
      expect(attack).to.have.lengthOf(1);
      expect(attack[0]).to.include({ ok: false }).and.have.property('reason').that.is.oneOf(['time', 'size']);
      expect(other).to.have.lengthOf(1);
      expect(other[0]).to.include({ ok: true, subject: 'Hi Bo', html: '<p>Bo</p>', text: 'Bo' });
    });

  it('are refused in a subject', async () => {
    const [result] = await renderer.render({ subject: loop(loop('x')), html: '', items: [item()] });
    expect(result).to.include({ ok: false, reason: 'time' });
  });

  it('do not end the process that renders them', async () => {
    const before = renderer.pids;
    await renderer.render({ subject: '', html: loop(loop('{{ name }}')), items: [item(data)] });
    expect(renderer.pids).to.include.members(before).and.have.lengthOf.at.most(2);
  });

  it('are refused only for the contacts whose data makes them expensive', async () => {
    const html = '{% for a in range(n) %}{% for b in range(n) %}{% endfor %}{% endfor %}ok';
    const items = Array.from({ length: 100 }, (_, index) => item({ n: index % 10 === 3 ? 1_000_000 : 1 }));
    const results = await renderer.render({ subject: '', html, items });
    expect(results.map(({ ok }) => ok)).to.deep.equal(items.map((_, index) => index % 10 !== 3));
  });

  it('are refused for all 2000 mails after a sample was refused', async () => {
    const html = loop(loop(''));
    const results = await renderer.render({ subject: '', html, items: Array.from({ length: 2000 }, () => item(data)) });
    expect(results).to.have.lengthOf(2000);
    expect(results.every((result) => !result.ok && result.reason === 'time')).to.equal(true);
  });

  it('add less than 100 MB to the memory of the calling process', async () => {
    const before = process.memoryUsage().rss;
    await Promise.all(
      Object.values(attacks).map((html) => renderer.render({ subject: '', html, items: [item(data)] })),
    );
    expect(process.memoryUsage().rss - before).to.be.below(100 * 1024 * 1024);
  });

  it('reach no prototype, no function and no global', () => {
    const names = [
      'constructor',
      '__proto__',
      'prototype',
      'toString',
      'valueOf',
      'hasOwnProperty',
      '__defineGetter__',
      'call',
    ];
    const things = [
      '',
      'data',
      'text',
      'list',
      'list[0]',
      'object',
      'number',
      '"x"',
      '[]',
      '{}',
      'range',
      'loop',
      'caller',
      'm',
      '(text | safe)',
    ];
    const values = { text: 'x', list: [{}], object: { a: 1 }, number: 1 };
    for (const thing of things)
      for (const name of names)
        for (const access of thing ? [`${thing}.${name}`, `${thing}["${name}"]`, `${thing}.${name}.${name}`] : [name]) {
          const source = `{% macro m() %}{% endmacro %}{% for i in [1] %}[{{ ${access} }}{{ ${access} | dump }}]{% endfor %}`;
          expect(render(source, values), access).to.equal('[]');
        }
    for (const name of [
      'process',
      'global',
      'globalThis',
      'require',
      'module',
      'env',
      'context',
      'frame',
      'runtime',
      'cb',
      'this',
      'self',
      'eval',
      'Function',
      'range',
      'cycler',
      'joiner',
      'lineno',
      'output',
      'm',
    ])
      expect(render(`{% macro m() %}x{% endmacro %}{{ ${name} }}`), name).to.equal('');
    for (const filter of [
      'join(",", "constructor")',
      'sum("constructor")',
      'sort(attribute="__proto__") | length',
      'selectattr("constructor") | length',
      'groupby("constructor") | length',
    ])
      expect(render(`{{ list | ${filter} }}`, values), filter).to.be.oneOf(['', '0', '1']);
  });

  it('see only own values, whatever their names', () => {
    const data = JSON.parse(
      '{"__proto__": {"polluted": "yes"}, "constructor": "c", "toString": "t", "length": 1000000000}',
    );
    expect(render('{{ constructor }} {{ toString }} {{ polluted }}|{{ data.constructor }}', data)).to.equal('c t |c');
    expect(render('{% for x in data %}x{% else %}none{% endfor %}{{ data ~ "" }}{{ data == 1 }}', data)).to.equal(
      'none[object Object]false',
    );
    expect(render('{% set x = {"__proto__": 1, constructor: 2} %}{{ x | dump }}{{ {}.polluted }}', {})).to.equal(
      '{&quot;__proto__&quot;:1,&quot;constructor&quot;:2}',
    );
    expect(Object.hasOwn(Object.prototype, 'polluted')).to.equal(false);
  });
});
