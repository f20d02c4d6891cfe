import { SIGNATURE_HEADERS, signatureHeaders } from '../../platform/crypto/standard-webhooks.ts';
import { LOCAL_TARGET_HINT, type OutboundHttp, type OutboundResponse } from '../../platform/http/outbound-http.ts';
import { retryAfterMs } from '../../platform/http/retry-after.ts';

/** A request with all variables filled in. */
export interface WebhookRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The stored part of a response. */
export interface WebhookOutput {
  status: number;
  body: string;
  /** Whether the response was longer than what is stored. */
  truncated: boolean;
}

export type WebhookOutcome =
  | { kind: 'completed'; output: WebhookOutput }
  /** Retried, no sooner than the receiver asks for. */
  | { kind: 'retry'; reason: string; output?: WebhookOutput; retryAfterMs?: number }
  | { kind: 'failed'; reason: string; output?: WebhookOutput };

export interface WebhookCall {
  /** The same for every attempt. */
  id: string;
  projectId: string;
  secret: string;
  now: Date;
  request: WebhookRequest;
}

const MAX_OUTPUT = 16_384;
const RETRIED = new Set([408, 429]);
const USER_AGENT = 'Everpost-Webhooks/1';

/** Makes one attempt. Throws only when it is aborted. */
export async function callWebhook(
  http: OutboundHttp,
  { id, projectId: project, secret, now, request }: WebhookCall,
  signal?: AbortSignal,
): Promise<WebhookOutcome> {
  const { method, url, body } = request;
  const signature = signatureHeaders(secret, { id, sentAt: now, body: hasBody(method) ? body : '' });
  const headers = { 'user-agent': USER_AGENT, ...lowerCased(request.headers), ...signature };
  const answer = await http({ project, method, url, headers, body, publicHeaders: [...SIGNATURE_HEADERS] }, signal);
  return outcomeOf(answer, now);
}

const hasBody = (method: string): boolean => !['GET', 'HEAD'].includes(method.toUpperCase());

const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

export function outcomeOf(answer: OutboundResponse, now: Date): WebhookOutcome {
  if (answer.kind === 'refused')
    return { kind: 'failed', reason: `The request was not sent: ${answer.reason}. ${LOCAL_TARGET_HINT}` };
  if (answer.kind === 'unreachable') return { kind: 'retry', reason: `No response: ${answer.reason}.` };
  const { status } = answer;
  const output = outputOf(answer);
  if (status >= 200 && status < 300) return { kind: 'completed', output };
  const reason = `The endpoint responded with ${status}.`;
  if (status < 500 && !RETRIED.has(status)) return { kind: 'failed', reason, output };
  return { kind: 'retry', reason, output, ...retryAfter(answer.headers['retry-after'], now) };
}

function outputOf({ status, body, cut }: Extract<OutboundResponse, { kind: 'answered' }>): WebhookOutput {
  // Postgres stores neither NUL nor half of a surrogate pair.
  const text = body.replaceAll('\0', '');
  const kept = text.slice(0, MAX_OUTPUT).replace(/\p{Surrogate}/gu, '');
  return { status, body: kept, truncated: cut || text.length > MAX_OUTPUT };
}

function retryAfter(header: string | undefined, now: Date): { retryAfterMs?: number } {
  const ms = retryAfterMs(header, now);
  return ms === undefined ? {} : { retryAfterMs: ms };
}
