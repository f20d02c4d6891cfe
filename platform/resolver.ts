import { Resolver as Channel, lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Slots } from './slots.ts';

/** `absent` is an answer, too: nothing is there. `unknown` is none: nobody could be asked. */
export type DnsAnswer<T> =
  | { kind: 'found'; values: T[] }
  | { kind: 'absent'; nameExists: boolean }
  | { kind: 'unknown'; reason: string };

export interface MailExchange {
  exchange: string;
  priority: number;
}

export interface Resolver {
  /** One text per record, its strings joined. An alias is followed to where it leads. */
  txt(name: string): Promise<DnsAnswer<string>>;
  mx(name: string): Promise<DnsAnswer<MailExchange>>;
  /** Of both families. */
  addresses(name: string): Promise<DnsAnswer<string>>;
  /** Where to connect to for this host: a name or an address; without DNS_SERVERS as the system has it. */
  lookup(host: string): Promise<DnsAnswer<string>>;
  /** Nothing is asked any more; what is under way is answered as unknown. */
  close(): void;
}

export interface ResolverOptions {
  /** `ip:port` each; none: the system's. */
  servers: string[];
  /** For one question, with all its tries; and for the aliases that it leads through, after which no more is asked. */
  deadlineMs?: number;
  /** For the first try; c-ares doubles it for each further one. */
  timeoutMs?: number;
}

const DEADLINE_MS = 8_000;
const TIMEOUT_MS = 1_500;
const TRIES = 3;
/** Real ones have one or two; more than this is a circle. */
const MAX_ALIASES = 8;
const MAX_QUESTIONS = 100;
/** An answer over TCP can have thousands of records; nobody's mail needs more than this. */
const MAX_RECORDS = 200;
/** These are this machine, and no server's to know (RFC 6761, 6.3). */
const LOCALHOST = /(?:^|\.)localhost$/i;

const absentCodes = new Map([
  // NXDOMAIN, a name that cannot be, and a name without records of this type.
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
  const slots = new Slots(MAX_QUESTIONS);

  const ask = async <T>(question: () => Promise<T[]>): Promise<DnsAnswer<T>> => {
    const deadline = AbortSignal.timeout(deadlineMs);
    if (!(await slots.take(0, deadline))) return unknown('too many questions are under way');
    try {
      return await withDeadline(answered(question), deadlineMs);
    } finally {
      slots.give();
    }
  };

  const aliased = async <T>(name: string, question: (name: string) => Promise<T[]>): Promise<DnsAnswer<T>> => {
    // A server that resolves follows aliases itself; one that only knows its own zone leaves it to us.
    let at = name;
    const until = performance.now() + deadlineMs;
    for (let hops = 0; hops <= MAX_ALIASES; hops++) {
      const answer = await ask(() => question(at));
      if (answer.kind !== 'absent' || !answer.nameExists) return answer;
      const alias = await ask(() => channel.resolveCname(at));
      if (alias.kind === 'unknown') return alias;
      const [target] = alias.kind === 'found' ? alias.values : [];
      if (target === undefined) return answer;
      if (performance.now() > until) return unknown('no answer in time');
      at = target;
    }
    return unknown(`the aliases of ${name} go on without end`);
  };

  const addresses = async (name: string): Promise<DnsAnswer<string>> =>
    both(await Promise.all([aliased(name, (at) => channel.resolve4(at)), aliased(name, (at) => channel.resolve6(at))]));

  return {
    txt: (name) => aliased(name, async (at) => (await channel.resolveTxt(at)).map((strings) => strings.join(''))),
    // Node 26 adds `type` to each record; the answer is the same on every version.
    mx: (name) =>
      aliased(name, async (at) =>
        (await channel.resolveMx(at)).map(({ exchange, priority }) => ({ exchange, priority })),
      ),
    addresses,
    lookup: async (host) => {
      if (isIP(host)) return { kind: 'found', values: [host] };
      if (servers.length > 0) return LOCALHOST.test(host) ? thisMachine() : addresses(host);
      return ask(async () => (await systemLookup(host, { all: true })).map(({ address }) => address));
    },
    close: () => channel.cancel(),
  };
}

const thisMachine = (): DnsAnswer<string> => ({ kind: 'found', values: ['127.0.0.1', '::1'] });

const unknown = (reason: string): DnsAnswer<never> => ({ kind: 'unknown', reason });

async function answered<T>(question: () => Promise<T[]>): Promise<DnsAnswer<T>> {
  try {
    const values = await question();
    return values.length > 0
      ? { kind: 'found', values: values.slice(0, MAX_RECORDS) }
      : { kind: 'absent', nameExists: true };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const nameExists = absentCodes.get(code);
    return nameExists === undefined ? unknown(code || 'the question failed') : { kind: 'absent', nameExists };
  }
}

async function withDeadline<T>(answer: Promise<DnsAnswer<T>>, ms: number): Promise<DnsAnswer<T>> {
  const over = new AbortController();
  try {
    return await Promise.race([answer, late(ms, over.signal)]);
  } finally {
    over.abort();
  }
}

async function late(ms: number, signal: AbortSignal): Promise<DnsAnswer<never>> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  return unknown('no answer in time');
}

function both<T>(answers: DnsAnswer<T>[]): DnsAnswer<T> {
  const values = answers.flatMap((answer) => (answer.kind === 'found' ? answer.values : []));
  if (values.length > 0) return { kind: 'found', values };
  return (
    answers.find(({ kind }) => kind === 'unknown') ?? {
      kind: 'absent',
      nameExists: answers.some((answer) => answer.kind === 'absent' && answer.nameExists),
    }
  );
}
