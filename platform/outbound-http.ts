import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Agent, request as dispatch } from 'undici';
import { literalOf, refusalOf } from './public-address.ts';
import type { Resolver } from './resolver.ts';

// HTTP to wherever a customer says. Every hop is checked before it is made, and made to the very address that was
// checked, so that a name cannot lead elsewhere a moment later. Customers read the reasons, so these contain nothing that
// our network knows and they do not: no resolved address, no answer of a name server, no text of a socket error.

export interface OutboundRules {
  resolver: Pick<Resolver, 'lookup'>;
  /** `host:port` each, which may be called although they are private. */
  allowedHosts: string[];
  /** For everything together: names, redirects and the answer's last byte. */
  timeoutMs?: number;
  maxRedirects?: number;
  /** Of an answer, unpacked; what is beyond is not read. */
  maxBytes?: number;
}

export interface OutboundRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Of these, what another origin may see after a redirect; the others may be secret. */
  publicHeaders?: string[];
}

export type OutboundAnswer =
  | { kind: 'answered'; status: number; headers: Record<string, string>; body: string; cut: boolean }
  /** It may never be called: a bad URL, a private address, too many redirects. */
  | { kind: 'refused'; reason: string }
  /** This time it did not work. */
  | { kind: 'unreachable'; reason: string };

export type OutboundHttp = (request: OutboundRequest, signal?: AbortSignal) => Promise<OutboundAnswer>;

class Refused extends Error {}
class Unresolved extends Error {}

const LIMITS = { timeoutMs: 10_000, maxRedirects: 5, maxBytes: 1_048_576 };
/** These say how the message is carried, which is for the client alone. */
export const CARRIER_HEADERS = [
  'host',
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-length',
];
const HARMLESS_HEADERS = ['accept', 'accept-language', 'content-type', 'user-agent'];
const REDIRECTS = [301, 302, 303, 307, 308];

export function outboundHttp(given: OutboundRules): OutboundHttp {
  const rules = { ...LIMITS, ...given };
  return async (request, signal) => {
    const late = AbortSignal.timeout(rules.timeoutMs);
    const until = signal ? AbortSignal.any([late, signal]) : late;
    try {
      return await follow(rules, request, until);
    } catch (error) {
      if (signal?.aborted) throw error;
      if (error instanceof Refused) return { kind: 'refused', reason: error.message };
      if (late.aborted) return { kind: 'unreachable', reason: `no answer within ${rules.timeoutMs / 1000} s` };
      return { kind: 'unreachable', reason: reasonOf(error) };
    }
  };
}

type Rules = Required<OutboundRules>;
type Hop = Pick<OutboundRequest, 'method' | 'body' | 'headers'> & { url: URL };

async function follow(rules: Rules, request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
  let hop = firstHop(request);
  for (let redirects = 0; ; redirects++) {
    const answer = await call(rules, hop, signal);
    const target = REDIRECTS.includes(answer.status) ? answer.headers.location : undefined;
    if (target === undefined) return answer;
    if (redirects === rules.maxRedirects) throw new Refused(`more than ${rules.maxRedirects} redirects`);
    hop = nextHop(hop, answer.status, target, request.publicHeaders ?? []);
  }
}

/** The URL as it will be called. Throws where it can never be. */
export function readTarget(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
  if (!url?.hostname) throw new Refused('the URL cannot be read');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Refused('the URL is neither http nor https');
  return url;
}

function firstHop({ url: text, method, headers, body }: OutboundRequest): Hop {
  const url = readTarget(text);
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), wireText(value)] as const);
  const sent: Record<string, string> = Object.fromEntries(lower.filter(([name]) => !CARRIER_HEADERS.includes(name)));
  const login = loginOf(url);
  if (login && sent.authorization === undefined) sent.authorization = login;
  return { url, method: method.toUpperCase(), headers: sent, body };
}

/** Headers go out byte by byte; what is not ASCII goes as UTF-8, which is what receivers read most. */
const wireText = (value: string): string => Buffer.from(value, 'utf8').toString('latin1');

/** `https://user:password@host` is a way to give them; they are no part of where the request goes. */
function loginOf({ username, password }: URL): string | undefined {
  if (!username && !password) return undefined;
  const pair = [username, password].map(unescaped).join(':');
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** As browsers do it (the Fetch standard): what was posted is asked for with GET, unless the status says to repeat it. */
function nextHop(hop: Hop, status: number, location: string, publicHeaders: string[]): Hop {
  const url = readTarget(location, hop.url);
  const becomesGet =
    (status === 303 && !['GET', 'HEAD'].includes(hop.method)) || (status <= 302 && hop.method === 'POST');
  const sameOrigin = url.origin === hop.url.origin;
  const kept = Object.entries(hop.headers).filter(([name]) => {
    if (becomesGet && (name.startsWith('content-') || publicHeaders.includes(name))) return false;
    return sameOrigin || HARMLESS_HEADERS.includes(name) || publicHeaders.includes(name);
  });
  const headers = Object.fromEntries(kept);
  return becomesGet ? { url, method: 'GET', body: undefined, headers } : { ...hop, url, headers };
}

type Answered = Extract<OutboundAnswer, { kind: 'answered' }>;

async function call(rules: Rules, { url, method, headers, body }: Hop, signal: AbortSignal): Promise<Answered> {
  const addresses = await checkedAddresses(rules, url, signal);
  const agent = new Agent({ connect: { lookup: pinnedTo(addresses) }, pipelining: 0 });
  try {
    const bodyOf = method === 'GET' || method === 'HEAD' ? null : (body ?? '');
    const answer = await dispatch(plain(url), { dispatcher: agent, method, headers, body: bodyOf, signal });
    const flat = Object.entries(answer.headers).map(([name, value]) => [name, String(value ?? '')] as const);
    const received = Object.fromEntries(flat);
    const read = await readBody(answer.body, received['content-encoding'], rules.maxBytes);
    return { kind: 'answered', status: answer.statusCode, headers: received, ...read };
  } catch (error) {
    if (codeOf(error) === 'UND_ERR_INVALID_ARG') throw new Refused('the URL, the method or a header is not valid');
    throw error;
  } finally {
    // Also closes what is still coming in beyond the limit.
    agent.destroy().catch(() => {});
  }
}

function plain(url: URL): URL {
  const without = new URL(url);
  without.username = '';
  without.password = '';
  without.hash = '';
  return without;
}

async function checkedAddresses(rules: Rules, url: URL, signal: AbortSignal): Promise<string[]> {
  const literal = literalOf(url);
  const addresses = literal ? [literal] : await resolve(rules.resolver, url.hostname, signal);
  if (!isAllowed(url, rules.allowedHosts)) requirePublic(url, addresses);
  return addresses;
}

/** One private address among several is enough: which of them would be taken is up to chance. */
function requirePublic(url: URL, addresses: string[]): void {
  for (const address of addresses) {
    const refusal = refusalOf(address);
    if (!refusal) continue;
    throw new Refused(
      literalOf(url) ? `${address} ${refusal}` : `${url.hostname} leads to an address that is not public`,
    );
  }
}

export function isAllowed(url: URL, allowedHosts: string[]): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return allowedHosts.some((host) => host.toLowerCase() === `${url.hostname}:${port}`);
}

async function resolve(resolver: Rules['resolver'], host: string, signal: AbortSignal): Promise<string[]> {
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  const answer = await Promise.race([resolver.lookup(host.replace(/\.$/, '')), stopped]);
  if (answer.kind === 'found') return answer.values;
  throw new Unresolved(answer.kind === 'absent' ? `${host} has no address` : `${host} could not be resolved`);
}

type PinnedLookup = NonNullable<import('node:net').TcpSocketConnectOpts['lookup']>;

const pinnedTo =
  (addresses: string[]): PinnedLookup =>
  (_host, options, done) => {
    const pinned = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    const [first] = pinned;
    if (options.all) done(null, pinned);
    else if (first) done(null, first.address, first.family);
  };

const unpacking: Record<string, () => NodeJS.ReadWriteStream> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

async function readBody(
  packed: Readable,
  encoding: string | undefined,
  maxBytes: number,
): Promise<{ body: string; cut: boolean }> {
  const unpack = unpacking[encoding?.trim().toLowerCase() ?? ''];
  const stream = unpack ? unpacked(packed, unpack()) : packed;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, maxBytes - size));
    size += chunk.length;
    if (size > maxBytes) break;
  }
  packed.destroy();
  return { body: Buffer.concat(chunks).toString('utf8'), cut: size > maxBytes };
}

function unpacked(packed: Readable, unpack: NodeJS.ReadWriteStream): NodeJS.ReadWriteStream {
  packed.on('error', (error) => unpack.emit('error', error));
  return packed.pipe(unpack);
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
};

/** By its code: messages of sockets contain addresses, those of certificates the names inside. */
function reasonOf(error: unknown): string {
  if (error instanceof Unresolved) return error.message;
  const code = codeOf(error);
  if (code === undefined) return 'the connection failed';
  return reasons[code] ?? `the connection failed (${code})`;
}

/** Node puts several attempts at connecting into one error, which may have no code of its own. */
function codeOf(error: unknown): string | undefined {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] === undefined ? undefined : codeOf(errors[0]);
}
