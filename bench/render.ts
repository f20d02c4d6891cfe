import { compile } from 'html-to-text';
import nunjucks from 'nunjucks';
import { pino } from 'pino';
import { gallery } from '../platform/mail-document/gallery/index.ts';
import { renderDocument } from '../platform/mail-document/index.ts';
import { createRenderer, type Renderer } from '../platform/templates/index.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';

const MAILS = 500;
const ROUNDS = 7;

const row = (n: number) =>
  `<tr><td style="padding:10px"><a href="https://example.com/item/${n}">Item ${n}</a></td>` +
  `<td>A description of what {{ firstName }} may want to buy &amp; more about it</td></tr>`;

/** About 6 kB, like a newsletter: variables, a condition, a loop, filters. */
const html =
  '<html><body><h1>Hello {{ firstName }}</h1>{% if plan == "pro" %}<p>Thank you for being with us.</p>{% endif %}' +
  `<table>${Array.from({ length: 30 }, (_, n) => row(n)).join('')}</table>` +
  '{% for item in items %}<p>{{ loop.index }}. {{ item.title }} {{ item.price | round(2) }}</p>{% endfor %}' +
  '<p><a href="{{ unsubscribeUrl }}">Unsubscribe</a></p></body></html>';
const subject = 'News for {{ firstName }}';

const variables = (n: number) => ({
  firstName: `Ann${n}`,
  plan: 'pro',
  items: [
    { title: 'One', price: n },
    { title: 'Two', price: 12.345 },
  ],
  unsubscribeUrl: `https://example.com/unsubscribe/${n}`,
});

const numbers = Array.from({ length: MAILS }, (_, n) => n);

/** Milliseconds per mail: elapsed, and of this process's processor time. */
interface Round {
  elapsed: number;
  cpu: number;
}

async function timed(work: () => unknown): Promise<Round> {
  const start = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { elapsed: (performance.now() - start) / MAILS, cpu: (user + system) / 1000 / MAILS };
}

/** One template for all mails, compiled once, in this process, without limits. */
function bareCampaign(): () => void {
  const environment = new nunjucks.Environment([]);
  const compiled = [subject, html].map((source) => new nunjucks.Template(source, environment, 'mail', true));
  return () => {
    for (const n of numbers) for (const template of compiled) template.render(variables(n));
  };
}

/** A different body for each mail, and its text part. */
function bareUnique(unique: () => string): () => void {
  const text = compile({ wordwrap: false });
  const environment = new nunjucks.Environment([]);
  return () => {
    for (const n of numbers) text(environment.renderString(unique(), variables(n)));
  };
}

const ourCampaign = (renderer: Renderer) => () =>
  renderer.render({ subject, html, items: numbers.map((n) => ({ data: variables(n), builtIn: {} })) });

const ourUnique = (renderer: Renderer, unique: () => string) => () =>
  Promise.all(
    numbers.map((n) => renderer.render({ subject, html: unique(), items: [{ data: variables(n), builtIn: {} }] })),
  );

export const renderBench: Bench = {
  name: 'render',
  about: 'a mail with its text part from separate processes, compared with bare nunjucks in this process',
  async run(progress) {
    let uniqueCount = 0;
    const unique = () => html.replace('</body>', `<p>${uniqueCount++}</p></body>`);
    const renderer = createRenderer({ log: pino({ level: 'warn' }) });
    try {
      return [
        ...(await compare('of one template', ourCampaign(renderer), bareCampaign(), progress)),
        ...(await compare('of its own template', ourUnique(renderer, unique), bareUnique(unique), progress)),
        await measureDocument(),
      ];
    } finally {
      await renderer.close();
    }
  },
};

/** The longest document of the gallery, compared with one millisecond. */
async function measureDocument(): Promise<Measure> {
  const documents = gallery.flatMap((entry) => Object.values(entry.documents));
  const [longest] = documents.sort((a, b) => JSON.stringify(b).length - JSON.stringify(a).length);
  if (!longest) throw new Error('The gallery is empty.');
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const { elapsed } = await timed(() => {
      for (let n = 0; n < MAILS; n++) renderDocument(longest);
    });
    if (round > 0) rounds.push(elapsed);
  }
  return measure("the gallery's longest document as HTML", 'ms', median(rounds), 1, '<= 1');
}

async function compare(
  what: string,
  ours: () => unknown,
  bare: () => unknown,
  progress: (line: string) => void,
): Promise<Measure[]> {
  const rounds: { ours: Round[]; bare: Round[] } = { ours: [], bare: [] };
  for (const work of [ours, bare]) await work();
  // Alternating, so that a machine that slows down slows both.
  for (let round = 1; round <= ROUNDS; round++) {
    rounds.bare.push(await timed(bare));
    rounds.ours.push(await timed(ours));
    progress(`a mail ${what}, round ${round} of ${ROUNDS}`);
  }
  const of = (side: 'ours' | 'bare', key: keyof Round) => median(rounds[side].map((round) => round[key]));
  return [
    measure(`a mail ${what}`, 'ms', of('ours', 'elapsed'), of('bare', 'elapsed')),
    measure(`a mail ${what}, time of the caller`, 'ms', of('ours', 'cpu'), of('bare', 'cpu'), '<= 2'),
  ];
}
