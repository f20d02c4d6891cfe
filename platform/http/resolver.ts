import { Resolver as Channel, lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Slots } from '../slots.ts';

/** `absent`: a server answered that there is no such record. `unknown`: no server answered. */
export type DnsAnswer<T> =
  | { kind: 'found'; values: T[] }
  | { kind: 'absent'; nameExists: boolean }
  | { kind: 'unknown'; reason: string };

export interface MailExchange {
  exchange: string;
  priority: number;
}

export interface Resolver {
  /** Returns one text per record, its strings joined. Follows aliases. */
  txt(name: string): Promise<DnsAnswer<string>>;
  mx(name: string): Promise<DnsAnswer<MailExchange>>;
  /** Returns IPv4 and IPv6 addresses. */
  addresses(name: string): Promise<DnsAnswer<string>>;
  /** Returns the addresses to connect to for a name or an address. Uses the system resolver without DNS_SERVERS. */
  lookup(host: string): Promise<DnsAnswer<string>>;
  /** Cancels pending queries, which resolve as unknown. */
  close(): void;
}

export interface ResolverOptions {
  /** As `ip:port`; empty for the servers of the system. */
  servers: string[];
  /** The limit for one query with all its tries; no further alias is followed after it. */
  deadlineMs?: number;
  /** The limit of the first try; c-ares doubles it for each further one. */
  timeoutMs?: number;
}

const DEADLINE_MS = 8_000;
const TIMEOUT_MS = 1_500;
const TRIES = 3;
/** Real chains have one or two aliases; a longer one is a loop. */
const MAX_ALIASES = 8;
const MAX_QUERIES = 100;
/** An answer over TCP can have thousands of records; mail needs far fewer. */
const MAX_RECORDS = 200;
/** Resolved to the loopback addresses without a query (RFC 6761, 6.3). */
const LOCALHOST = /(?:^|\.)localhost$/i;

const absentCodes = new Map([
  // NXDOMAIN, an invalid name, and a name without records of this type.
  ['ENOTFOUND', false],
  ['EBADNAME', false],
  ['ENODATA', true],
]);

export function createResolver({
  servers,
  deadlineMs = DEADLINE_MS,
  timeoutMs = TIMEOUT_MS,
}: ResolverOptions): Resolver {
  const channel = new Channel({ timeout: timeoutMs, tries: TRIES });
  if (servers.length > 0) channel.setServers(servers);
  const slots = new Slots(MAX_QUERIES);

  const query = async <T>(run: () => Promise<T[]>): Promise<DnsAnswer<T>> => {
    const deadline = AbortSignal.timeout(deadlineMs);
    if (!(await slots.take(0, deadline))) return unknown('too many queries are in flight');
    try {
      return await withDeadline(answerOf(run), deadlineMs);
    } finally {
      slots.give();
    }
  };

  const followingAliases = async <T>(name: string, run: (name: string) => Promise<T[]>): Promise<DnsAnswer<T>> => {
    // Recursive servers follow aliases; authoritative servers leave it to the client.
    let current = name;
    const deadline = performance.now() + deadlineMs;
    for (let hops = 0; hops <= MAX_ALIASES; hops++) {
      const answer = await query(() => run(current));
      if (answer.kind !== 'absent' || !answer.nameExists) return answer;
      const alias = await query(() => channel.resolveCname(current));
      if (alias.kind === 'unknown') return alias;
      const [target] = alias.kind === 'found' ? alias.values : [];
      if (target === undefined) return answer;
      if (performance.now() > deadline) return unknown('no answer in time');
      current = target;
    }
    return unknown(`${name} has too many aliases`);
  };

  const addresses = async (name: string): Promise<DnsAnswer<string>> =>
    combine(
      await Promise.all([
        followingAliases(name, (current) => channel.resolve4(current)),
        followingAliases(name, (current) => channel.resolve6(current)),
      ]),
    );

  return {
    txt: (name) =>
      followingAliases(name, async (current) => (await channel.resolveTxt(current)).map((strings) => strings.join(''))),
    // Node 26 adds `type` to each record; drops it for equal answers on every version.
    mx: (name) =>
      followingAliases(name, async (current) =>
        (await channel.resolveMx(current)).map(({ exchange, priority }) => ({ exchange, priority })),
      ),
    addresses,
    lookup: async (host) => {
      if (isIP(host)) return { kind: 'found', values: [host] };
      if (servers.length > 0) return LOCALHOST.test(host) ? loopback() : addresses(host);
      return query(async () => (await systemLookup(host, { all: true })).map(({ address }) => address));
    },
    close: () => channel.cancel(),
  };
}

const loopback = (): DnsAnswer<string> => ({ kind: 'found', values: ['127.0.0.1', '::1'] });

const unknown = (reason: string): DnsAnswer<never> => ({ kind: 'unknown', reason });

async function answerOf<T>(run: () => Promise<T[]>): Promise<DnsAnswer<T>> {
  try {
    const values = await run();
    return values.length > 0
      ? { kind: 'found', values: values.slice(0, MAX_RECORDS) }
      : { kind: 'absent', nameExists: true };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const nameExists = absentCodes.get(code);
    return nameExists === undefined ? unknown(code || 'the query failed') : { kind: 'absent', nameExists };
  }
}

async function withDeadline<T>(answer: Promise<DnsAnswer<T>>, ms: number): Promise<DnsAnswer<T>> {
  const timer = new AbortController();
  try {
    return await Promise.race([answer, timedOut(ms, timer.signal)]);
  } finally {
    timer.abort();
  }
}

async function timedOut(ms: number, signal: AbortSignal): Promise<DnsAnswer<never>> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  return unknown('no answer in time');
}

/** Combines the answers for both address families: one found answer is enough. */
function combine<T>(answers: DnsAnswer<T>[]): DnsAnswer<T> {
  const values = answers.flatMap((answer) => (answer.kind === 'found' ? answer.values : []));
  if (values.length > 0) return { kind: 'found', values };
  return (
    answers.find(({ kind }) => kind === 'unknown') ?? {
      kind: 'absent',
      nameExists: answers.some((answer) => answer.kind === 'absent' && answer.nameExists),
    }
  );
}
