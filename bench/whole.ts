import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { root } from '../dev/root.ts';
import { gallery } from '../platform/mail-document/gallery/index.ts';
import { renderDocument } from '../platform/mail-document/index.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';
import { checkOut } from './checkout.ts';
import { newsletterTemplate } from './newsletter.ts';
import { runPool } from './pool.ts';
import { processorTimes, untilIdle } from './processor-time.ts';
import type { Sink } from './sink.ts';
import { createBenchWorkflow, type ExecutionsRound, runExecutions } from './whole-executions.ts';
import { call, type Stack, startBareMailer, startWhole, trackedEvent, type WholeTarget } from './whole-stack.ts';

const SCALE = Number(process.env.EVERPOST_BENCH_SCALE ?? 1);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/** An earlier commit to measure in the same run. */
const BEFORE = process.env.BENCH_BEFORE;
/** The parts that are measured; all unless `BENCH_PARTS` names some of them. */
const PARTS = (process.env.BENCH_PARTS ?? 'send,track,executions,campaign,document,idle').split(',');
const CLIENTS = 20;
const SECONDS = Math.max(2, Math.round(15 * SCALE));
const WARM_UP_SECONDS = Math.max(2, Math.round(5 * SCALE));
const RECIPIENTS = Math.max(200, Math.round(20_000 * SCALE));
const EXECUTIONS = Math.max(20, Math.round(1_000 * SCALE));
const IDLE_MAILS = Math.max(5, Math.round(30 * SCALE));
/** The default of SMTP_MAX_CONNECTIONS. */
const CONNECTIONS = 10;

type Progress = (line: string) => void;

interface Load {
  requests: number;
  deliveries: number;
  p50: number;
  p99: number;
  /** Milliseconds of processor time a mail, by process. */
  cpu: Record<string, number>;
}

interface CampaignRound {
  rate: number;
  cpu: Record<string, number>;
}

export const wholeBench: Bench = {
  name: 'whole',
  about: `${CLIENTS} clients of /v1/send, a campaign and single mails on the whole stack, as production runs it`,
  async run(progress) {
    const now = await startWhole('now', root, RECIPIENTS);
    const before = BEFORE ? await startWhole('before', checkOut(BEFORE), RECIPIENTS) : undefined;
    const bare = await startBareMailer(privateKey());
    progress('everything is running');
    const sides = { now, bare, ...(before && { before }) };
    const measures: Measure[] = [];
    if (PARTS.includes('send')) measures.push(...(await loads(sides, progress)));
    if (PARTS.includes('track') && before) measures.push(...(await tracks({ now, before }, progress)));
    if (PARTS.includes('executions') && before) measures.push(...(await executions({ now, before }, progress)));
    if (PARTS.includes('campaign')) measures.push(...(await campaigns(now, before, progress)));
    if (PARTS.includes('document')) measures.push(...(await documentCampaigns(now, progress)));
    if (PARTS.includes('idle')) measures.push(...(await idle(sides, progress)));
    return measures;
  },
};

type Side = 'now' | 'before' | 'bare';
type Sides<T> = { now: T; bare: T; before?: T };

/** Runs the rounds of all sides in turns, so that a machine that slows down slows all. */
async function inTurns<T, R>(
  sides: Partial<Record<Side, T>>,
  what: string,
  progress: Progress,
  round: (side: T) => Promise<R>,
) {
  const results: Partial<Record<Side, R[]>> = {};
  const names = Object.keys(sides) as Side[];
  for (let n = 1; n <= ROUNDS; n++)
    for (const name of n % 2 ? names : [...names].reverse()) {
      const side = sides[name];
      if (side === undefined) continue;
      const result = await round(side);
      results[name] = [...(results[name] ?? []), result];
      progress(`${what}, round ${n} of ${ROUNDS}, ${name}: ${JSON.stringify(result, shortened)}`);
    }
  return results;
}

const shortened = (_key: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(3)) : value);

async function loads(sides: Sides<WholeTarget>, progress: Progress): Promise<Measure[]> {
  for (const target of Object.values(sides)) await load(target, WARM_UP_SECONDS);
  const results = await inTurns<WholeTarget, Load>(sides, '/v1/send', progress, (target) => load(target, SECONDS));
  const rows = (against: Side, label: string): Measure[] => {
    const of = (side: Side, value: (round: Load) => number) => median((results[side] ?? []).map(value));
    const row = (what: string, unit: string, value: (round: Load) => number, aim?: string) =>
      measure(`${what}${label}`, unit, of('now', value), of(against, value), against === 'bare' ? aim : undefined);
    return [
      row('/v1/send accepted', 'requests/s', ({ requests }) => requests, '>= 0.7'),
      row('mails delivered meanwhile', 'mails/s', ({ deliveries }) => deliveries, '>= 0.7'),
      row('/v1/send p50', 'ms', ({ p50 }) => p50),
      row('/v1/send p99', 'ms', ({ p99 }) => p99),
      row('processor time in all', 'ms per mail', ({ cpu }) => sum(cpu), 'ours <= 2.5'),
      row('processor time of node', 'ms per mail', ({ cpu }) => node(cpu)),
      row('processor time of Postgres', 'ms per mail', ({ cpu }) => cpu.postgres ?? 0),
    ];
  };
  return [...rows('bare', ''), ...(results.before ? rows('before', `, against ${BEFORE}`) : [])];
}

/** Posts mails for some seconds, and waits until all of them are delivered and their results stored. */
async function load(target: WholeTarget, seconds: number): Promise<Load> {
  const { sink, pids } = target;
  await untilIdle(pids);
  const cpu = processorTimes(pids);
  const delivered = await sink.count();
  const started = wallClock();
  const result = await post(target, '/v1/send', target.body, seconds);
  const accepted = result['2xx'];
  const lastAt = await sink.reached(delivered + accepted);
  await untilIdle(pids);
  // Requests that were open at the end may be accepted without being counted.
  const mails = (await sink.count()) - delivered;
  return {
    requests: result.requests.average,
    deliveries: accepted / ((lastAt - started) / 1_000),
    p50: result.latency.p50,
    p99: result.latency.p99,
    cpu: perUnit(cpu, processorTimes(pids), mails),
  };
}

async function post(
  { url, key }: { url: string; key: string },
  path: string,
  body: (n: number) => unknown,
  seconds: number,
) {
  let next = 0;
  const result = await autocannon({
    url: url + path,
    connections: CLIENTS,
    duration: seconds,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    requests: [{ setupRequest: (request) => ({ ...request, body: JSON.stringify(body(next++)) }) }],
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} answers were not 2xx, ${result.errors} failed`);
  return result;
}

interface TrackRound {
  rate: number;
  /** Milliseconds of processor time a request, by process. */
  cpu: Record<string, number>;
}

/** Posts events on which no workflow, segment or webhook depends. */
async function tracks(sides: Record<'now' | 'before', Stack>, progress: Progress): Promise<Measure[]> {
  const track = async ({ url, publicKey, pids }: Stack, seconds: number): Promise<TrackRound> => {
    await untilIdle(pids);
    const cpu = processorTimes(pids);
    const { requests } = await post({ url, key: publicKey }, '/v1/track', trackedEvent, seconds);
    await untilIdle(pids);
    return { rate: requests.average, cpu: perUnit(cpu, processorTimes(pids), requests.total) };
  };
  for (const target of Object.values(sides)) await track(target, WARM_UP_SECONDS);
  const results = await inTurns<Stack, TrackRound>(sides, '/v1/track', progress, (target) => track(target, SECONDS));
  const row = (what: string, unit: string, value: (round: TrackRound) => number, aim?: string) => {
    const of = (side: 'now' | 'before') => median((results[side] ?? []).map(value));
    return measure(`${what}, against ${BEFORE}`, unit, of('now'), of('before'), aim);
  };
  return [
    row('/v1/track', 'requests/s', ({ rate }) => rate, '>= 0.97'),
    row('processor time in all, /v1/track', 'ms per request', ({ cpu }) => sum(cpu)),
    row('processor time of node, /v1/track', 'ms per request', ({ cpu }) => node(cpu)),
    row('processor time of Postgres, /v1/track', 'ms per request', ({ cpu }) => cpu.postgres ?? 0),
  ];
}

async function executions(sides: Record<'now' | 'before', Stack>, progress: Progress): Promise<Measure[]> {
  const ids = { now: await createBenchWorkflow(sides.now), before: await createBenchWorkflow(sides.before) };
  const rounds = {
    now: () => runExecutions(sides.now, ids.now, EXECUTIONS),
    before: () => runExecutions(sides.before, ids.before, EXECUTIONS),
  };
  for (const warmUp of Object.values(rounds)) await warmUp();
  const what = `${EXECUTIONS} executions of four steps`;
  const results = await inTurns<() => Promise<ExecutionsRound>, ExecutionsRound>(rounds, what, progress, (run) =>
    run(),
  );
  const row = (name: string, unit: string, value: (round: ExecutionsRound) => number, aim?: string) => {
    const of = (side: 'now' | 'before') => median((results[side] ?? []).map(value));
    return measure(`${name}, against ${BEFORE}`, unit, of('now'), of('before'), aim);
  };
  return [
    row(what, 'executions/s', ({ rate }) => rate, '>= 0.95'),
    row('processor time in all, executions', 'ms per execution', ({ cpu }) => sum(cpu)),
  ];
}

async function campaigns(now: Stack, before: Stack | undefined, progress: Progress): Promise<Measure[]> {
  const send = (stack: Stack) => () => campaign(stack);
  const sides = { bare: () => prebuilt(now.sink), now: send(now), ...(before && { before: send(before) }) };
  for (const warmUp of [sides.now, sides.before]) await warmUp?.();
  const results = await inTurns<() => Promise<CampaignRound>, CampaignRound>(
    sides,
    `campaign to ${RECIPIENTS}`,
    progress,
    (round) => round(),
  );
  const of = (side: Side, value: (round: CampaignRound) => number) => median((results[side] ?? []).map(value));
  const rate = ({ rate: mails }: CampaignRound) => mails;
  const ours = ({ cpu }: CampaignRound) => node(cpu) + (cpu.postgres ?? 0);
  const what = `campaign to ${RECIPIENTS} through the API`;
  const measures = [
    measure(what, 'mails/s', of('now', rate), of('bare', rate), '>= 1.2'),
    measure('processor time of node and Postgres, campaign', 'ms per mail', of('now', ours), of('bare', ours)),
  ];
  if (!results.before) return measures;
  return [
    ...measures,
    measure(`${what}, against ${BEFORE}`, 'mails/s', of('now', rate), of('before', rate)),
    measure(
      `processor time of node and Postgres, campaign, against ${BEFORE}`,
      'ms per mail',
      of('now', ours),
      of('before', ours),
      '<= 0.6',
    ),
  ];
}

/** A campaign made in the editor, and a hand-written one with the same HTML: they take the same path while sending. */
async function documentCampaigns(now: Stack, progress: Progress): Promise<Measure[]> {
  const [document] = gallery
    .map((entry) => entry.documents.en)
    .sort((a, b) => JSON.stringify(b).length - JSON.stringify(a).length);
  if (!document) throw new Error('The gallery is empty.');
  const body = renderDocument(document);
  const sides = { now: () => campaign(now, { document }), bare: () => campaign(now, { body }) };
  for (const warmUp of Object.values(sides)) await warmUp();
  const what = `campaign of the editor to ${RECIPIENTS}`;
  const results = await inTurns<() => Promise<CampaignRound>, CampaignRound>(sides, what, progress, (round) => round());
  const row = (name: string, unit: string, value: (round: CampaignRound) => number, aim: string) => {
    const of = (side: 'now' | 'bare') => median((results[side] ?? []).map(value));
    return measure(`${name}, against the same HTML by hand`, unit, of('now'), of('bare'), aim);
  };
  return [
    row(what, 'mails/s', ({ rate }) => rate, '>= 0.9'),
    row('processor time of node and Postgres', 'ms per mail', ({ cpu }) => node(cpu) + (cpu.postgres ?? 0), '<= 1.1'),
  ];
}

async function campaign(
  { url, sink, pids, campaigns: { secretKey, senderDomain } }: Stack,
  content: object = { body: newsletterTemplate },
): Promise<CampaignRound> {
  const request = <T>(method: string, path: string, body?: unknown) => call<T>(url, secretKey, method, path, body);
  const { id } = await request<{ id: string }>('POST', '/campaigns', {
    name: 'Spring',
    subject: 'News',
    ...content,
    audienceType: 'ALL',
    type: 'HEADLESS',
    from: `news@${senderDomain}`,
  });
  await untilIdle(pids);
  const cpu = processorTimes(pids);
  const delivered = await sink.count();
  const started = wallClock();
  await request('POST', `/campaigns/${id}/send`, {});
  const lastAt = await sink.reached(delivered + RECIPIENTS);
  while ((await request<{ status: string }>('GET', `/campaigns/${id}`)).status !== 'SENT') await sleep(200);
  await untilIdle(pids);
  return {
    rate: RECIPIENTS / ((lastAt - started) / 1_000),
    cpu: perUnit(cpu, processorTimes(pids), RECIPIENTS),
  };
}

async function prebuilt(sink: Sink): Promise<CampaignRound> {
  const order = { isPrebuilt: true, connections: CONNECTIONS, mails: RECIPIENTS, content: 'newsletter' } as const;
  const { rate, cpu } = await runPool(sink, order);
  return { rate, cpu: { server: cpu } };
}

/** Sends mails one by one, and measures each from its answer to its arrival at the SMTP server. */
async function idle(sides: Sides<WholeTarget>, progress: Progress): Promise<Measure[]> {
  const times: Record<string, number[]> = { now: [], bare: [], before: [] };
  for (const { pids } of Object.values(sides)) await untilIdle(pids);
  for (let n = -2; n < IDLE_MAILS; n++)
    for (const [name, { url, key, sink, body }] of Object.entries(sides)) {
      const delivered = await sink.count();
      await call(url, key, 'POST', '/v1/send', body(n + 2));
      const answered = wallClock();
      const ms = Math.max(0, (await sink.reached(delivered + 1)) - answered);
      // The first ones are a warm-up.
      if (n >= 0) times[name]?.push(ms);
      await sleep(100 + (n % 5) * 40);
    }
  progress(`${IDLE_MAILS} mails one by one`);
  const of = (side: Side) => median(times[side] ?? []);
  const what = 'from the answer to the SMTP server, idle';
  return [
    measure(what, 'ms', of('now'), of('bare')),
    ...(sides.before ? [measure(`${what}, against ${BEFORE}`, 'ms', of('now'), of('before'), '<= 1.0')] : []),
  ];
}

function perUnit(before: Record<string, number>, after: Record<string, number>, units: number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([name, seconds]) => [name, ((seconds - (before[name] ?? 0)) / units) * 1_000]),
  );
}

const sum = (cpu: Record<string, number>): number => Object.values(cpu).reduce((total, ms) => total + ms, 0);
const node = ({ api = 0, worker = 0, server = 0 }: Record<string, number>): number => api + worker + server;
const wallClock = (): number => performance.timeOrigin + performance.now();

function privateKey(): string {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;
}
