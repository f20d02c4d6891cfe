import { EverpostConnectionError, type EverpostError, errorOf } from './errors.ts';
import { recoveredAnswer } from './recovery.ts';
import type { AnswerOf, Arguments, CallOptions, Method, OperationOf, OptionsOf, PathOf } from './types.ts';

export interface ClientOptions {
  /** The address of the API, such as `https://mail.example.com`. */
  baseUrl: string;
  /** Used for all routes except `/v1/track`. A scoped key suffices. */
  secretKey?: string | undefined;
  /** Used for `/v1/track`. */
  publicKey?: string | undefined;
  /** How often a failed call is repeated; 3 by default. */
  maxRetries?: number | undefined;
  /** The pause before the first repetition, doubled each time; 500 by default. `Retry-After` of an answer takes precedence. */
  retryDelayMs?: number | undefined;
  /** The limit of one attempt; 30,000 by default. */
  timeoutMs?: number | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

type Call<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...options: Arguments<OptionsOf<OperationOf<P, M>>>
) => Promise<AnswerOf<OperationOf<P, M>>>;

/** Calls by method and path, for routes that have no method of a resource. */
export interface RawClient {
  get: Call<'get'>;
  post: Call<'post'>;
  put: Call<'put'>;
  patch: Call<'patch'>;
  delete: Call<'delete'>;
}

/** The options of a call, without the types of its route. */
interface AnyOptions extends CallOptions {
  path?: object;
  query?: object;
  body?: unknown;
}

/** The routes that take an Idempotency-Key. */
const KEYED_PATHS = ['/v1/send', '/v1/track', '/events/track'];
/** Repeating these changes nothing that the first attempt did not change. */
const REPEATABLE: Method[] = ['get', 'put'];
const UNAVAILABLE = [502, 503, 504];
const LONGEST_PAUSE_MS = 60_000;

export function createRawClient(options: ClientOptions): RawClient {
  const call =
    <M extends Method>(method: M) =>
    (path: string, given: AnyOptions = {}) =>
      callWithRetries(options, method, path, given);
  return {
    get: call('get'),
    post: call('post'),
    put: call('put'),
    patch: call('patch'),
    delete: call('delete'),
  } as RawClient;
}

interface Attempt {
  answer?: unknown;
  error?: EverpostError | EverpostConnectionError;
  retryAfterMs?: number;
}

async function callWithRetries(client: ClientOptions, method: Method, path: string, given: AnyOptions) {
  const { maxRetries = 3, retryDelayMs = 500 } = client;
  const key =
    given.idempotencyKey ?? (method === 'post' && KEYED_PATHS.includes(path) ? crypto.randomUUID() : undefined);
  const request = requestOf(client, method, path, given, key);
  for (let number = 0; ; number++) {
    const { answer, error, retryAfterMs } = await attempt(client, request, given.signal);
    if (!error) return answer;
    if (number > 0 && key !== undefined) {
      // An earlier attempt was carried out, and only its answer was lost.
      const recovered = recoveredAnswer(error, path, given.body);
      if (recovered) return recovered;
    }
    if (number >= maxRetries || !isWorthRepeating(error, number > 0, method, key)) throw error;
    const backoff = retryDelayMs * 2 ** number * (0.5 + Math.random() / 2);
    await pause(Math.min(retryAfterMs ?? backoff, LONGEST_PAUSE_MS), given.signal);
  }
}

/** 429 is sent before anything happens. Other failures are repeated only where the call cannot be carried out twice. */
function isWorthRepeating(
  error: EverpostError | EverpostConnectionError,
  repeated: boolean,
  method: Method,
  key: string | undefined,
): boolean {
  const safe = REPEATABLE.includes(method) || key !== undefined;
  if (error instanceof EverpostConnectionError) return safe;
  if (error.status === 429) return true;
  // The earlier attempt is still being worked on.
  if (repeated && error.code === 'IDEMPOTENCY_KEY_REUSED') return error.details.originalRequest === null;
  return safe && UNAVAILABLE.includes(error.status);
}

function requestOf(
  { baseUrl, secretKey, publicKey }: ClientOptions,
  method: Method,
  path: string,
  { path: parameters = {}, query = {}, body }: AnyOptions,
  idempotencyKey: string | undefined,
): { url: string; init: RequestInit } {
  const isTrack = path === '/v1/track';
  const key = isTrack ? publicKey : secretKey;
  if (!key) throw new TypeError(`${path} needs the ${isTrack ? 'publicKey' : 'secretKey'} of createClient.`);
  const values = new Map<string, unknown>(Object.entries(parameters));
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => pathSegment(name, values.get(name)));
  const search = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  const isForm = body instanceof FormData;
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  if (body !== undefined && !isForm) headers['content-type'] = 'application/json';
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  const url = baseUrl.replace(/\/+$/, '') + filled + (search.length > 0 ? `?${search.join('&')}` : '');
  const content = body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) };
  return { url, init: { method: method.toUpperCase(), headers, ...content } };
}

/** Refuses what would call another route: `.` and `..` are resolved before the request is sent. */
export function pathSegment(name: string, value: unknown): string {
  const text = String(value ?? '');
  if (['', '.', '..'].includes(text)) throw new TypeError(`The path parameter "${name}" must not be "${text}".`);
  return encodeURIComponent(text);
}

async function attempt(
  { fetch: send = fetch, timeoutMs = 30_000 }: ClientOptions,
  { url, init }: { url: string; init: RequestInit },
  signal: AbortSignal | undefined,
): Promise<Attempt> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(url, { ...init, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    const body: unknown = isJson && text ? JSON.parse(text) : text || undefined;
    if (response.ok) return { answer: body };
    const seconds = Number(response.headers.get('retry-after'));
    return {
      error: errorOf(response.status, body, response.headers.get('x-request-id')),
      ...(seconds > 0 && { retryAfterMs: seconds * 1000 }),
    };
  } catch (cause) {
    signal?.throwIfAborted();
    const reason = timeout.aborted ? `no answer within ${timeoutMs} ms` : 'no answer';
    return { error: new EverpostConnectionError(`${init.method} ${url}: ${reason}.`, cause) };
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
