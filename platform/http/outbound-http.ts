import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { literalAddress, refusalOf } from './public-address.ts';
import type { DnsAnswer, Resolver } from './resolver.ts';

// HTTP requests to URLs that customers choose. Every hop is checked first and then connects to the checked address, so
// that DNS rebinding cannot redirect it. Customers see the reasons, so these reveal nothing about our network: no
// resolved address, no DNS answer and no socket error message.

export interface OutboundRules {
  resolver: Pick<Resolver, 'lookup' | 'lookupOperatorHost'>;
  /** Private hosts that may be called, as `host:port`. */
  allowedHosts: string[];
  /** Covers name resolution, redirects and the whole response. */
  timeoutMs?: number;
  maxRedirects?: number;
  /** The size of the decompressed body; the rest is not read. */
  maxBytes?: number;
}

export interface OutboundRequest {
  /** Who chose the URL. */
  project: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Headers that another origin may see after a redirect. All others may be secret. */
  publicHeaders?: string[];
}

export type OutboundResponse =
  | { kind: 'answered'; status: number; headers: Record<string, string>; body: string; cut: boolean }
  /** Never allowed: a bad URL, a private address, too many redirects. */
  | { kind: 'refused'; reason: string }
  /** Failed this time; a retry may succeed. */
  | { kind: 'unreachable'; reason: string };

export type OutboundHttp = (request: OutboundRequest, signal?: AbortSignal) => Promise<OutboundResponse>;

class RefusedError extends Error {}
class UnresolvedError extends Error {}

export const OUTBOUND_LIMITS = { timeoutMs: 10_000, maxRedirects: 5, maxBytes: 1_048_576 };
/** Headers about the connection and the framing, which only the HTTP client may set. */
export const TRANSPORT_HEADERS = [
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
const CROSS_ORIGIN_HEADERS = ['accept', 'accept-language', 'content-type', 'user-agent'];
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

export function outboundHttp(options: OutboundRules): OutboundHttp {
  const rules = { ...OUTBOUND_LIMITS, ...options };
  return (request, signal) => withTimeout(rules, signal, (combined) => followRedirects(rules, request, combined));
}

/** Throws only when `signal` is aborted. */
async function withTimeout(
  rules: Rules,
  signal: AbortSignal | undefined,
  work: (combined: AbortSignal) => Promise<OutboundResponse>,
): Promise<OutboundResponse> {
  const timeout = AbortSignal.timeout(rules.timeoutMs);
  try {
    return await work(signal ? AbortSignal.any([timeout, signal]) : timeout);
  } catch (error) {
    if (signal?.aborted) throw error;
    return failureOf(rules, error, timeout.aborted);
  }
}

export function failureOf(
  rules: Rules,
  error: unknown,
  timedOut: boolean,
): Exclude<OutboundResponse, { kind: 'answered' }> {
  if (error instanceof RefusedError) return { kind: 'refused', reason: error.message };
  if (codeOf(error) === 'UND_ERR_INVALID_ARG')
    return { kind: 'refused', reason: 'the URL, method or a header is invalid' };
  if (timedOut) return { kind: 'unreachable', reason: `no response within ${rules.timeoutMs / 1000} s` };
  return { kind: 'unreachable', reason: reasonOf(error) };
}

export type Rules = Required<OutboundRules>;
type Hop = Pick<OutboundRequest, 'method' | 'body' | 'headers'> & { url: URL };

async function followRedirects(rules: Rules, request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
  let hop = firstHop(request);
  for (let redirects = 0; ; redirects++) {
    const answer = await requestHop(rules, request.project, hop, signal);
    const target = REDIRECT_STATUSES.includes(answer.status) ? answer.headers.location : undefined;
    if (target === undefined) return answer;
    if (redirects === rules.maxRedirects) throw new RefusedError(`more than ${rules.maxRedirects} redirects`);
    hop = nextHop(hop, answer.status, target, request.publicHeaders ?? []);
  }
}

/** Parses an http or https URL. Throws a RefusedError for any other. */
export function parseTarget(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
  if (!url?.hostname) throw new RefusedError('the URL is malformed');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new RefusedError('the URL must be http or https');
  return url;
}

export function firstHop({ url: text, method, headers, body }: Omit<OutboundRequest, 'project'>): Hop {
  const url = parseTarget(text);
  const lowerCased = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), toByteString(value)] as const);
  const sent: Record<string, string> = Object.fromEntries(
    lowerCased.filter(([name]) => !TRANSPORT_HEADERS.includes(name)),
  );
  const authorization = basicAuthorization(url);
  if (authorization && sent.authorization === undefined) sent.authorization = authorization;
  return { url, method: method.toUpperCase(), headers: sent, body };
}

/** Header values are written as bytes; non-ASCII text is sent as UTF-8, which most receivers expect. */
const toByteString = (value: string): string => Buffer.from(value, 'utf8').toString('latin1');

/** Returns the Authorization header for credentials in the URL. */
export function basicAuthorization({ username, password }: URL): string | undefined {
  if (!username && !password) return undefined;
  const pair = [username, password].map(decodeIfPossible).join(':');
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function decodeIfPossible(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Follows the Fetch standard: a POST becomes a GET unless the status (307, 308) demands a repetition. */
function nextHop(hop: Hop, status: number, location: string, publicHeaders: string[]): Hop {
  const url = parseTarget(location, hop.url);
  const becomesGet =
    (status === 303 && !['GET', 'HEAD'].includes(hop.method)) || (status <= 302 && hop.method === 'POST');
  const sameOrigin = url.origin === hop.url.origin;
  const kept = Object.entries(hop.headers).filter(([name]) => {
    if (becomesGet && (name.startsWith('content-') || publicHeaders.includes(name))) return false;
    return sameOrigin || CROSS_ORIGIN_HEADERS.includes(name) || publicHeaders.includes(name);
  });
  const headers = Object.fromEntries(kept);
  return becomesGet ? { url, method: 'GET', body: undefined, headers } : { ...hop, url, headers };
}

export type Answered = Extract<OutboundResponse, { kind: 'answered' }>;

async function requestHop(rules: Rules, project: string, hop: Hop, signal: AbortSignal): Promise<Answered> {
  const { url, method, headers, body } = hop;
  // Loaded with the first call: few processes make one.
  const { Agent, request: dispatch } = await import('undici');
  const addresses = await checkedAddresses(rules, project, url, signal);
  const dispatcher = new Agent({ connect: { lookup: pinnedTo(addresses) }, pipelining: 0 });
  try {
    const sentBody = method === 'GET' || method === 'HEAD' ? null : (body ?? '');
    const options = { dispatcher, method, headers, body: sentBody, signal };
    const answer = await dispatch(withoutCredentials(url), options);
    const received = headerValues(answer.headers);
    const read = await readBody(answer.body, received, rules.maxBytes);
    return { kind: 'answered', status: answer.statusCode, headers: received, ...read };
  } finally {
    // Also stops a body that exceeds the limit.
    dispatcher.destroy().catch(() => {});
  }
}

/** A header that was sent several times is joined with commas. */
export function headerValues(headers: IncomingHttpHeaders): Record<string, string> {
  const received: Record<string, string> = {};
  for (const name in headers) received[name] = String(headers[name] ?? '');
  return received;
}

function withoutCredentials(url: URL): URL {
  const copy = new URL(url);
  copy.username = '';
  copy.password = '';
  copy.hash = '';
  return copy;
}

export async function checkedAddresses(
  { resolver, allowedHosts }: Rules,
  project: string,
  url: URL,
  signal: AbortSignal,
): Promise<string[]> {
  const literal = literalAddress(url);
  const allowed = isAllowed(url, allowedHosts);
  const lookup = (host: string) => (allowed ? resolver.lookupOperatorHost(host) : resolver.lookup(host, project));
  const addresses = literal ? [literal] : await resolve(lookup, url.hostname, signal);
  if (!allowed) requirePublic(url, addresses);
  return addresses;
}

/** Refuses a name when any of its addresses is private, because a connection may use any of them. */
function requirePublic(url: URL, addresses: string[]): void {
  for (const address of addresses) {
    const refusal = refusalOf(address);
    if (!refusal) continue;
    throw new RefusedError(
      literalAddress(url) ? `${address} ${refusal}` : `${url.hostname} resolves to an address that is not public`,
    );
  }
}

export function isAllowed(url: URL, allowedHosts: string[]): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return allowedHosts.some((host) => host.toLowerCase() === `${url.hostname}:${port}`);
}

export const isWebUrl = (text: string): boolean =>
  URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol) && new URL(text).hostname !== '';

/** Returns why a URL may not be called, as far as the URL itself shows it. Every call checks it again. */
export function targetRefusal(text: string, allowedHosts: string[]): string | undefined {
  if (!isWebUrl(text)) return 'the URL is malformed';
  const target = new URL(text);
  const literal = literalAddress(target);
  if (!literal || isAllowed(target, allowedHosts)) return undefined;
  const refusal = refusalOf(literal);
  return refusal && `${literal} ${refusal}`;
}

/** What developers do about a refused address of their own machine or network. */
export const LOCAL_TARGET_HINT =
  'To call a local address, add its host and port to WEBHOOK_ALLOWED_HOSTS; to receive webhooks on your own machine, run `npx everpost webhooks listen`.';

async function resolve(
  lookup: (host: string) => Promise<DnsAnswer<string>>,
  host: string,
  signal: AbortSignal,
): Promise<string[]> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  const answer = await Promise.race([lookup(host.replace(/\.$/, '')), aborted]);
  if (answer.kind === 'found') return answer.values;
  throw new UnresolvedError(answer.kind === 'absent' ? `${host} has no address` : `${host} could not be resolved`);
}

type PinnedLookup = NonNullable<import('node:net').TcpSocketConnectOpts['lookup']>;

export const pinnedTo =
  (addresses: string[]): PinnedLookup =>
  (_host, options, done) => {
    const pinned = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    const [first] = pinned;
    if (options.all) done(null, pinned);
    else if (first) done(null, first.address, first.family);
  };

const decompressors: Record<string, () => NodeJS.ReadWriteStream> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Reads and decompresses an answer. Stops after `maxBytes`. */
export async function readBody(
  compressed: Readable,
  headers: Record<string, string>,
  maxBytes: number,
): Promise<{ body: string; cut: boolean }> {
  const createDecompressor = decompressorOf(headers);
  const stream = createDecompressor ? decompress(compressed, createDecompressor()) : compressed;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, maxBytes - size));
    size += chunk.length;
    if (size > maxBytes) break;
  }
  compressed.destroy();
  return { body: Buffer.concat(chunks).toString('utf8'), cut: size > maxBytes };
}

export const decompressorOf = (headers: Record<string, string>): (() => NodeJS.ReadWriteStream) | undefined =>
  decompressors[headers['content-encoding']?.trim().toLowerCase() ?? ''];

function decompress(compressed: Readable, decompressor: NodeJS.ReadWriteStream): NodeJS.ReadWriteStream {
  compressed.on('error', (error) => decompressor.emit('error', error));
  return compressed.pipe(decompressor);
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was reset',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the host is unreachable',
};

/** Uses the error code only: socket messages contain addresses, and certificate messages contain names. */
function reasonOf(error: unknown): string {
  if (error instanceof UnresolvedError) return error.message;
  const code = codeOf(error);
  if (code === undefined) return 'the connection failed';
  return reasons[code] ?? `the connection failed (${code})`;
}

/** Node wraps several connection attempts in one AggregateError, which may have no code itself. */
function codeOf(error: unknown): string | undefined {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] === undefined ? undefined : codeOf(errors[0]);
}
