import { Resolver as Channel, lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { KeyedSlots, Slots } from '../slots.ts';

/** `absent`: a server answered that there is no such record. `unknown`: no server answered. */
export type DnsAnswer<T> =
  | { kind: 'found'; values: T[] }
  | { kind: 'absent'; nameExists: boolean }
  | { kind: 'unknown'; reason: string };

export interface MailExchange {
  exchange: string;
  priority: number;
}

/** `project` is whose name it is: a project has a bounded number of lookups at once. */
export interface Resolver {
  /** Returns one text per record, its strings joined. Follows aliases. */
  txt(name: string, project: string): Promise<DnsAnswer<string>>;
  mx(name: string, project: string): Promise<DnsAnswer<MailExchange>>;
  /** Returns IPv4 and IPv6 addresses. */
  addresses(name: string, project: string): Promise<DnsAnswer<string>>;
  /** Returns the addresses to connect to for a name or an address that a customer chose. */
  lookup(host: string, project: string): Promise<DnsAnswer<string>>;
  /** The same for a name that the operator chose. Without DNS_SERVERS the system resolves it, with its hosts file. */
  lookupOperatorHost(host: string): Promise<DnsAnswer<string>>;
  /** Cancels pending queries, which resolve as unknown. */
  close(): void;
}

export interface ResolverOptions {
  /** As `ip:port`; empty for the servers of the system. */
  servers: string[];
  /** The limit for one lookup: waiting for its turn, all tries, all aliases. */
  deadlineMs?: number;
  /** The limit of the first try; c-ares doubles it for each further one. */
  timeoutMs?: number;
  /** How long the answer `unknown` of `lookup` stands for a name, so that it is not asked for again and again. */
  failureMs?: number;
}

const DEADLINE_MS = 8_000;
const TIMEOUT_MS = 1_500;
const FAILURE_MS = 3_000;
const MAX_FAILURES = 10_000;
const TRIES = 3;
/** Real chains have one or two aliases; a longer one is a loop. */
const MAX_ALIASES = 8;
/** A lookup in c-ares is a small object and a shared socket. */
const MAX_LOOKUPS = 1_000;
const MAX_LOOKUPS_PER_PROJECT = 20;
/** The system's servers may change while the process runs; getaddrinfo notices it as well. */
const REREAD_SERVERS_MS = 60_000;
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

/**
 * Resolves customers' names with c-ares. `dns.lookup` would run in libuv's few threads, where names whose servers never
 * answer hold up every other lookup of the process: of the SMTP relay, of Postgres, of Temporal.
 */
export function createResolver({
  servers,
  deadlineMs = DEADLINE_MS,
  timeoutMs = TIMEOUT_MS,
  failureMs = FAILURE_MS,
}: ResolverOptions): Resolver {
  const open = (): Channel => {
    const opened = new Channel({ timeout: timeoutMs, tries: TRIES });
    if (servers.length > 0) opened.setServers(servers);
    return opened;
  };
  let channel = open();
  let openedAt = performance.now();
  const current = (): Channel => {
    if (servers.length > 0 || performance.now() - openedAt < REREAD_SERVERS_MS) return channel;
    openedAt = performance.now();
    channel = open();
    return channel;
  };
  const slots = new KeyedSlots(MAX_LOOKUPS, MAX_LOOKUPS_PER_PROJECT);
  /** Held until getaddrinfo returns: libuv runs two of them at a time, and one is left for other lookups. */
  const systemSlot = new Slots(1);
  const failures = new LRUCache<string, DnsAnswer<never>>({ max: MAX_FAILURES, ttl: failureMs });

  const bounded = async <T>(
    project: string,
    run: (deadline: AbortSignal) => Promise<DnsAnswer<T>>,
  ): Promise<DnsAnswer<T>> => {
    const deadline = AbortSignal.timeout(deadlineMs);
    if (!(await slots.take(project, deadline))) return unknown('too many lookups at once');
    try {
      return await withDeadline(run(deadline), deadline);
    } finally {
      slots.give(project);
    }
  };

  const followingAliases = async <T>(
    name: string,
    deadline: AbortSignal,
    run: (channel: Channel, name: string) => Promise<T[]>,
  ): Promise<DnsAnswer<T>> => {
    // Recursive servers follow aliases; authoritative servers leave it to the client.
    let target = name;
    for (let hops = 0; hops <= MAX_ALIASES; hops++) {
      const answer = await answerOf(() => run(current(), target));
      if (answer.kind !== 'absent' || !answer.nameExists) return answer;
      const alias = await answerOf(() => current().resolveCname(target));
      if (alias.kind === 'unknown') return alias;
      const [next] = alias.kind === 'found' ? alias.values : [];
      if (next === undefined) return answer;
      if (deadline.aborted) return unknown('no response in time');
      target = next;
    }
    return unknown(`${name} has too many aliases`);
  };

  const findAddresses = async (name: string, deadline: AbortSignal): Promise<DnsAnswer<string>> =>
    combine(
      await Promise.all([
        followingAliases(name, deadline, (channel, target) => channel.resolve4(target)),
        followingAliases(name, deadline, (channel, target) => channel.resolve6(target)),
      ]),
    );

  /** Remembers a failure for a moment: many calls of one project may wait to ask for the same name. */
  const rememberingFailure = async (
    key: string,
    project: string,
    run: (deadline: AbortSignal) => Promise<DnsAnswer<string>>,
  ): Promise<DnsAnswer<string>> =>
    failures.get(key) ??
    bounded(project, async (deadline) => {
      const answer = failures.get(key) ?? (await withDeadline(run(deadline), deadline));
      if (answer.kind === 'unknown') failures.set(key, answer);
      return answer;
    });

  const lookup = async (host: string, project: string): Promise<DnsAnswer<string>> => {
    if (isIP(host)) return { kind: 'found', values: [host] };
    if (LOCALHOST.test(host)) return loopback();
    return rememberingFailure(host, project, (deadline) => findAddresses(host, deadline));
  };

  return {
    txt: (name, project) =>
      bounded(project, (deadline) =>
        followingAliases(name, deadline, async (channel, target) =>
          (await channel.resolveTxt(target)).map((strings) => strings.join('')),
        ),
      ),
    mx: (name, project) =>
      bounded(project, (deadline) =>
        followingAliases(name, deadline, async (channel, target) =>
          // Node 26 adds `type` to each record; drops it for equal answers on every version.
          (await channel.resolveMx(target)).map(({ exchange, priority }) => ({ exchange, priority })),
        ),
      ),
    addresses: (name, project) => bounded(project, (deadline) => findAddresses(name, deadline)),
    lookup,
    lookupOperatorHost: async (host) => {
      if (servers.length > 0 || isIP(host) || LOCALHOST.test(host)) return lookup(host, OPERATOR);
      return rememberingFailure(`system ${host}`, OPERATOR, async (deadline) => {
        if (!(await systemSlot.take(0, deadline))) return unknown('no response in time');
        return answerOf(async () => {
          const found = await systemLookup(host, { all: true }).finally(() => systemSlot.give());
          return found.map(({ address }) => address);
        });
      });
    },
    close: () => channel.cancel(),
  };
}

/** Whose names the operator's count as. */
const OPERATOR = '';

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

function withDeadline<T>(answer: Promise<DnsAnswer<T>>, deadline: AbortSignal): Promise<DnsAnswer<T>> {
  return new Promise((resolve, reject) => {
    const late = () => resolve(unknown('no response in time'));
    deadline.addEventListener('abort', late, { once: true });
    answer.then(resolve, reject).finally(() => deadline.removeEventListener('abort', late));
  });
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
