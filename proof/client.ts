// Calls the API as a customer does, and returns the answer that the customer got.
import { setTimeout as sleep } from 'node:timers/promises';

/** `unknown`: no answer, or one that leaves open whether the request was carried out. */
export type RequestOutcome = 'accepted' | 'rejected' | 'unknown';

export interface AnswerData {
  id?: string;
  event?: string;
  emails?: { email: string }[];
}

/** The fields of answers that the proof reads; which of them exist depends on the route. */
export interface AnswerBody {
  id?: string;
  jobId?: string;
  status?: string;
  paused?: boolean;
  version?: number;
  revision?: number;
  graph?: { steps: { type: string; config: Record<string, unknown> }[] };
  data?: AnswerData;
  error?: { code?: string; details?: { originalResponse?: AnswerData | null } };
  /** Such as the sums of a campaign. */
  [field: string]: unknown;
}

export interface RecordedAnswer {
  outcome: RequestOutcome;
  status: number | undefined;
  /** Undefined where the answer is not a JSON object. */
  body: AnswerBody | undefined;
  retryAfter: string | null;
  sentAt: number;
  answeredAt: number;
}

export interface CallOptions {
  headers?: Record<string, string>;
  timeoutMs?: number;
}

export interface ProofClient {
  /** One request. */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<RecordedAnswer>;
  /** Repeats a request that may be repeated, such as one with an Idempotency-Key, until its outcome is known. */
  insist(method: string, path: string, body?: unknown, options?: CallOptions): Promise<RecordedAnswer>;
}

const TIMEOUT_MS = 20_000;
const outcomeOf = (status: number): RequestOutcome =>
  status < 300 ? 'accepted' : status >= 500 || status === 429 ? 'unknown' : 'rejected';

/** Takes one address after the other. `isOver` ends repetitions. */
export function proofClient(
  urls: readonly string[],
  key: string,
  {
    isOver = () => false,
    onAnswer = () => {},
  }: { isOver?: () => boolean; onAnswer?: (reply: RecordedAnswer, path: string) => void } = {},
): ProofClient {
  let calls = 0;
  const call: ProofClient['call'] = async (method, path, body, { headers = {}, timeoutMs = TIMEOUT_MS } = {}) => {
    const sentAt = Date.now();
    const reply = await request(urls[calls++ % urls.length] + path, method, body, {
      headers: { authorization: `Bearer ${key}`, ...headers },
      timeoutMs,
    }).catch(() => ({ outcome: 'unknown' as const, status: undefined, body: undefined, retryAfter: null }));
    const result = { ...reply, sentAt, answeredAt: Date.now() };
    onAnswer(result, path);
    return result;
  };
  return {
    call,
    insist: async (method, path, body, options) => {
      for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 2_000)) {
        const reply = outcomeWithKey(await call(method, path, body, options));
        if (reply.outcome !== 'unknown' || isOver()) return reply;
        await sleep(waitMs);
      }
    },
  };
}

/**
 * A repeated request is answered with 409 and the ids of the first one, whose answer was lost: it was accepted. Without ids
 * the first one is still being worked on.
 */
function outcomeWithKey(reply: RecordedAnswer): RecordedAnswer {
  const { code, details } = reply.body?.error ?? {};
  if (reply.status !== 409 || code !== 'IDEMPOTENCY_KEY_REUSED') return reply;
  const data = details?.originalResponse;
  return data ? { ...reply, outcome: 'accepted', body: { data } } : { ...reply, outcome: 'unknown' };
}

async function request(
  url: string,
  method: string,
  body: unknown,
  { headers, timeoutMs }: Required<CallOptions>,
): Promise<Pick<RecordedAnswer, 'outcome' | 'status' | 'body' | 'retryAfter'>> {
  const isForm = body instanceof FormData;
  const answer = await fetch(url, {
    method,
    headers: { ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }), ...headers },
    signal: AbortSignal.timeout(timeoutMs),
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json') && text.startsWith('{');
  const { status, headers: answered } = answer;
  const retryAfter = answered.get('retry-after');
  return {
    outcome: outcomeOf(status),
    status,
    retryAfter,
    body: isJson ? (JSON.parse(text) as AnswerBody) : undefined,
  };
}
