import { expect } from 'chai';
import { Parser } from 'htmlparser2';
import { parseDocument, renderDocument } from '../../../platform/mail-document/index.ts';
import { Budget } from '../../../platform/templates/language/budget.ts';
import { Placeholders } from '../../../platform/templates/language/placeholders.ts';
import { RenderRun } from '../../../platform/templates/language/run.ts';
import { compileTemplate, type Template } from '../../../platform/templates/language/template.ts';

const DOCUMENTS = 3_000;
const SEED = 7;

const texts = [
  'plain',
  '{{ x',
  '}} y',
  '{# c #}',
  '{ {',
  '<script>alert(1)</script>',
  '"quotes" & \'single\'',
  '{{{{',
  'ä€😀',
  '</td></table>',
  '<!--[if mso]>',
  '-->',
  '{',
  'a{',
  '{b',
  '<!--footer-->',
  '\x02\x03\x01',
  '&amp;&#123;',
  '\u00a0',
  '{{ a ?? "<b>" }}',
  '',
];
const hrefs = [
  'https://e.example/?a=1&b=2',
  '{{ url }}',
  '{{ empty }}javascript:alert(1)',
  '{# #}java\tscript:alert(1)',
  'https://e.example/"><script>',
  'https://e.example/{{ a ?? "q" }}',
  '{{ a }}{{ b }}',
  '#',
  '',
  'mailto:a@b.c',
  '{% if plan %}javascript:x{% else %}{{ url }}{% endif %}',
  'tel:+49{{ phone }}',
  '{{ url | safe }}',
  'https://e.example/{x}',
];
const badHrefs = [
  'javascript:alert(1)',
  'JaVaScript:alert(1)',
  ' java\tscript:alert(1)',
  'data:text/html,x',
  '/relative',
  'vbscript:x',
];
const htmls = [
  '<b onclick="x">b',
  '</table></td><td>x',
  '<svg><script>x</script></svg>',
  '<a href="{{ url }}">a',
  '<p><table><tr><td>x',
  '{% if plan %}<b>x</b>{% endif %}',
  '<img src=javascript:x>',
  '<style>*{}</style>',
  '<a href=" javascript:x">y</a>',
  '<form action=x><input></form>',
  '{% raw %}{{ "<script>" }}{% endraw %}',
  '<tr><td>x',
  '<!-- {{ x }} --><i>',
  '<a href="java{{ empty }}script:x">z',
  '<div style="position:fixed;color:red;background:url(javascript:x)">',
  '<textarea><b></textarea>',
  '<math><mi//xlink:href="data:x">',
  '<plaintext>x',
];
const names = ['firstName', 'first name', 'item.x', 'order.items.0', 'is active', 'a-b', 'true', 'data.plan', 'é'];
const fallbacks = [null, 'there', "o'clock", 'a"b', 'back\\slash', '<b>', '}} {{', '%}', '{% endif %}', '\n'];
const values = {
  url: 'javascript:alert(1)',
  a: 'java',
  b: 'script:alert(1)',
  plan: 'pro',
  empty: '',
  phone: '1"><script>',
  firstName: '<script>',
  items: [{ x: '</td>' }, { x: 1 }],
  item: 'x',
};

/** Numerical Recipes' generator: the same documents in every run. */
class Dice {
  private state = SEED;

  next(): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.state / 2 ** 32;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }

  some<T>(max: number, make: () => T): T[] {
    return Array.from({ length: 1 + Math.floor(this.next() * max) }, make);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }
}

const dice = new Dice();

const href = () => dice.pick(dice.chance(0.01) ? badHrefs : hrefs);
const variable = () => ({
  type: 'variable',
  attrs: {
    name: dice.pick(names),
    fallback: dice.pick(fallbacks),
    format: dice.pick([null, 'upper', 'number', 'date']),
  },
});
const mark = () =>
  dice.pick([
    { type: 'bold' },
    { type: 'italic' },
    { type: 'color', attrs: { color: '#123456' } },
    { type: 'link', attrs: { href: href() } },
  ]);
const text = (withLinks = true) => ({
  type: 'text',
  text: `${dice.pick(texts)} ${dice.pick(texts)}`,
  marks: withLinks && dice.chance(0.3) ? dice.some(3, mark) : [],
});
const inlines = (withLinks = true) => dice.some(3, () => (dice.chance(0.3) ? variable() : text(withLinks)));
const paragraph = () => ({ type: 'paragraph', attrs: { align: dice.pick(['left', 'center']) }, content: inlines() });
const tests = [
  { field: 'data.plan', operator: 'equals', value: 'pro"\'%}{{' },
  {
    logic: 'OR',
    groups: [
      {
        filters: [
          { field: 'email', operator: 'contains', value: '%}' },
          { field: 'data["a\'b"]', operator: 'in', value: ['<b>', 1e21, -0.5, true] },
        ],
      },
    ],
  },
  { expression: 'plan == "%}" or a' },
];

interface Place {
  depth: number;
  columns?: boolean;
  repeat?: boolean;
}

function block(place: Place): unknown {
  const inside = { ...place, depth: place.depth + 1 };
  const many = (within = inside) => dice.some(2, () => block(within));
  const leaves = ['paragraph', 'heading', 'image', 'button', 'divider', 'html', 'bulletList', 'social'];
  const containers = [
    'section',
    'condition',
    ...(place.columns ? [] : ['columns']),
    ...(place.repeat ? [] : ['repeat']),
  ];
  const type = dice.pick(place.depth > 3 || dice.chance(0.5) ? leaves : containers);
  switch (type) {
    case 'heading':
      return { type, attrs: { level: dice.pick([1, 2, 3]) }, content: inlines() };
    case 'image':
      return {
        type,
        attrs: {
          src: dice.pick(['https://e.example/a.png', '{{ url }}', 'http://x/"{{ a }}']),
          alt: dice.pick(texts),
          href: dice.pick([null, href()]),
        },
      };
    case 'button':
      return { type, attrs: { href: href() }, content: inlines(false).map(({ ...node }) => ({ ...node, marks: [] })) };
    case 'html':
      return { type, attrs: { html: dice.some(2, () => dice.pick(htmls)).join('') } };
    case 'bulletList':
      return { type, content: dice.some(3, () => ({ type: 'listItem', content: dice.some(2, paragraph) })) };
    case 'social':
      return { type, attrs: { links: [{ network: 'github', href: href() }] } };
    case 'section':
      return { type, attrs: { background: dice.pick([null, '#ffeecc']) }, content: many() };
    case 'condition':
      return {
        type,
        attrs: { test: dice.pick(tests) },
        content: [...many(), ...(dice.chance(0.5) ? [{ type: 'otherwise', content: many() }] : [])],
      };
    case 'columns':
      return {
        type,
        attrs: { stack: dice.chance(0.5) },
        content: [1, 2].map(() => ({ type: 'column', content: many({ ...inside, columns: true }) })),
      };
    case 'repeat':
      return { type, content: many({ ...inside, repeat: true }) };
    case 'divider':
      return { type };
    default:
      return paragraph();
  }
}

const VOID = new Set(['br', 'img', 'meta', 'hr', 'wbr', 'col']);

/** Returns what is wrong with HTML that a recipient gets. */
function faultsIn(html: string): string[] {
  const faults: string[] = [];
  const open: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      if (['script', 'svg', 'form', 'iframe', 'style'].includes(name) && !(name === 'style' && open.includes('head')))
        faults.push(`<${name}>`);
      for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith('on')) faults.push(key);
        if (key !== 'alt' && /^(javascript|data|vbscript):/i.test(value.replace(/[\p{Cc} ]/gu, '')))
          faults.push(`${key}=${value}`);
      }
      if (!VOID.has(name)) open.push(name);
    },
    onclosetag(name, implied) {
      if (VOID.has(name)) return;
      if (open.pop() !== name || implied) faults.push(`</${name}>`);
    },
  });
  parser.end(html);
  return open.length > 0 ? [...faults, `still open: ${open}`] : faults;
}

function rendering({ source, write }: Template, data: Record<string, unknown>): string {
  const variables: Record<string, unknown> = Object.assign(Object.create(null), data, { data });
  const budget = new Budget(source.length);
  const run = new RenderRun({ variables, budget, placeholders: new Placeholders(true) });
  write(run);
  return run.out;
}

describe('hostile documents', () => {
  it(`renders ${DOCUMENTS} of them to valid templates with balanced tags, without scripts`, () => {
    let rendered = 0;
    for (let index = 0; index < DOCUMENTS; index++) {
      const value = {
        version: 1,
        preheader: [text(false)].map(({ marks: _, ...node }) => node),
        content: dice.some(6, () => block({ depth: 1 })),
      };
      const { document, errors } = parseDocument(value);
      if (!document) {
        for (const { path } of errors) expect(path, JSON.stringify(errors)).to.match(/(href|html|text)$/);
        continue;
      }
      const body = renderDocument(document);
      const { template, violations } = compileTemplate(body);
      expect(violations, body).to.deep.equal([]);
      // A stored document is read and rendered again after a change of the brand kit.
      if (index % 10 === 0) expect(renderDocument(parseDocument(document).document ?? document)).to.equal(body);
      for (const data of [values, {}]) {
        const html = template ? rendering(template, data) : '';
        expect(faultsIn(html), `${JSON.stringify(value)}\n${html}`).to.deep.equal([]);
      }
      rendered++;
    }
    expect(rendered).to.be.above(DOCUMENTS * 0.6);
  });
});
