// Requests at a fixed rate, whether or not earlier ones have been answered: how customers overload a service.
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProofProject } from '../chaos/stack.ts';
import { mailTo } from './measure.ts';

export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  key: string;
  body?: object;
  /** The recipient, where the request sends a mail. */
  to?: string;
}

export interface OpenLoad {
  /** Requests that were made. */
  requests: number;
  /** Requests that were due while too many were unanswered. */
  skipped: number;
  /** Recipients of the mails that were accepted. */
  accepted: string[];
  /** Refusals without a Retry-After, other errors, and requests without an answer. */
  violations: string[];
  /** How often each status was answered. */
  statuses: Map<string, number>;
  /** Milliseconds until the answer. */
  times: number[];
}

const TICK_MS = 20;
const MAX_UNANSWERED = 8_000;
/** Longer than the API waits for anything. */
const TIMEOUT_MS = 40_000;
/**
 * To each API, more than it works on at once. Kept, as by a reverse proxy: Node takes one new connection in each turn of its
 * event loop, so a busy process takes few. All are used in turn, so that none is idle for long.
 */
const CONNECTIONS = 1_500;
const agent = new Agent({
  keepAlive: true,
  maxSockets: CONNECTIONS,
  maxFreeSockets: CONNECTIONS,
  scheduling: 'fifo',
});

/** Opens the connections while there is no load. */
export async function openConnections(urls: readonly string[]): Promise<void> {
  const ask = (url: string) => send(`${url}/health`, 'GET', '', undefined);
  for (const url of urls) await Promise.all(Array.from({ length: CONNECTIONS }, () => ask(url)));
}

/** Closes them after the load: the API closes a connection that is idle for a minute, perhaps while it is used again. */
export const closeConnections = (): void => agent.destroy();

/** Makes `perSecond` requests a second for `lengthMs`, then waits for the last answers. */
export async function offer(
  urls: readonly string[],
  { perSecond, lengthMs, next }: { perSecond: number; lengthMs: number; next: (n: number) => LoadRequest },
): Promise<OpenLoad> {
  const load = emptyLoad();
  const start = performance.now();
  const unanswered = new Set<Promise<void>>();
  let due = 0;
  for (;;) {
    const elapsed = performance.now() - start;
    if (elapsed >= lengthMs) break;
    for (const target = (elapsed / 1000) * perSecond; due < target; due++) {
      if (unanswered.size >= MAX_UNANSWERED) {
        load.skipped++;
        continue;
      }
      const asked: Promise<void> = ask(urls[due % urls.length] ?? '', next(due), load).finally(() =>
        unanswered.delete(asked),
      );
      unanswered.add(asked);
    }
    await sleep(TICK_MS);
  }
  await Promise.all(unanswered);
  return load;
}

/** Customers that ask again as soon as they are answered. Returns how many requests a second succeeded. */
export async function measureCapacity(
  urls: readonly string[],
  { customers, lengthMs, next }: { customers: number; lengthMs: number; next: (n: number) => LoadRequest },
): Promise<{ perSecond: number; load: OpenLoad }> {
  const load = emptyLoad();
  const end = performance.now() + lengthMs;
  let n = 0;
  const work = async (): Promise<void> => {
    while (performance.now() < end) await ask(urls[n % urls.length] ?? '', next(n++), load);
  };
  await Promise.all(Array.from({ length: customers }, work));
  const succeeded = [...load.statuses].reduce((sum, [status, count]) => sum + (status.startsWith('2') ? count : 0), 0);
  return { perSecond: succeeded / (lengthMs / 1000), load };
}

const emptyLoad = (): OpenLoad => ({
  requests: 0,
  skipped: 0,
  accepted: [],
  violations: [],
  statuses: new Map(),
  times: [],
});

async function ask(url: string, { method, path, key, body, to }: LoadRequest, load: OpenLoad): Promise<void> {
  load.requests++;
  const began = performance.now();
  const answer = await send(url + path, method, key, body).catch((error: Error) => error);
  load.times.push(Math.round(performance.now() - began));
  const status = answer instanceof Error ? 'no answer' : String(answer.status);
  load.statuses.set(status, (load.statuses.get(status) ?? 0) + 1);
  if (answer instanceof Error) load.violations.push(`${method} ${path}: ${answer.message}`);
  else if (answer.status < 300) {
    if (to) load.accepted.push(to);
  } else if (!isRefusal(answer)) load.violations.push(`${status} without Retry-After: ${method} ${path}`);
}

interface Answered {
  status: number;
  retryAfter: string | undefined;
}

const isRefusal = ({ status, retryAfter }: Answered): boolean =>
  (status === 429 || status === 503) && Number(retryAfter) > 0;

const send = (url: string, method: string, key: string, body: object | undefined): Promise<Answered> =>
  new Promise((done, failed) => {
    const text = body && JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${key}`,
      ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    // Includes the time until a connection is free.
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const request = httpRequest(url, { method, headers, agent, signal }, (answer) => {
      const { statusCode: status = 0, headers: answered } = answer;
      answer.resume().on('end', () => done({ status, retryAfter: answered['retry-after'] }));
      answer.on('error', failed);
    });
    request.on('error', (error) => failed(signal.aborted ? new Error(`no answer in ${TIMEOUT_MS} ms`) : error));
    request.end(text);
  });

/** Each request sends a mail. */
export const mailsOf =
  (project: ProofProject, name: string) =>
  (n: number): LoadRequest => {
    const to = `${name}${n}@d${n % 20}.flood.example`;
    return { method: 'POST', path: '/v1/send', key: project.secretKey, body: mailTo(to, project), to };
  };

/** What a service is asked on a usual day: mostly reading, some events, some mail. */
export const mixOf =
  (projects: readonly ProofProject[], name: string) =>
  (n: number): LoadRequest => {
    const project = projects[Math.floor(n / 10) % projects.length];
    if (!project) throw new Error('There is no project.');
    const kind = n % 10;
    if (kind === 0) return mailsOf(project, name)(n);
    const email = `${name}${n % 5_000}@example.com`;
    if (kind <= 3)
      return { method: 'POST', path: '/v1/track', key: project.publicKey, body: { email, event: 'looked' } };
    const path = kind <= 6 ? '/contacts?limit=20' : '/emails?limit=20';
    return { method: 'GET', path, key: project.secretKey };
  };

export const statusesOf = ({ statuses }: OpenLoad): string =>
  [...statuses]
    .sort()
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ');
