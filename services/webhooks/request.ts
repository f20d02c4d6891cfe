import { LOCAL_TARGET_HINT, type OutboundResponse } from '../../platform/http/outbound-http.ts';
import { retryAfterMs } from '../../platform/http/retry-after.ts';
import { productVersion } from '../../platform/version.ts';

/** What a request is made of. */
export interface WebhookMessage {
  eventId: string;
  type: string;
  /** ISO 8601. */
  timestamp: string;
  /** JSON text, sent as it is stored. */
  data: string;
  truncated: boolean;
}

export const bodyOf = ({ type, timestamp, data, truncated }: WebhookMessage): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${timestamp}","data":${data}${truncated ? ',"truncated":true' : ''}}`;

/** The headers that every request has, besides those of the endpoint and the signature. */
export const COMMON_HEADERS = { 'content-type': 'application/json', 'user-agent': `Everpost/${productVersion}` };

export interface WebhookCallResult {
  delivered: boolean;
  /** The receiver asks never to be called again (410). */
  gone: boolean;
  statusCode: number | null;
  error: string | null;
  answer: string | null;
  retryAfterMs: number | undefined;
}

const MAX_ANSWER = 1_000;

/** Only a 2xx counts. A redirect is a failure: it could lead anywhere. */
export function callResultOf(response: OutboundResponse, now: Date): WebhookCallResult {
  const failed = { delivered: false, gone: false, statusCode: null, answer: null, retryAfterMs: undefined };
  if (response.kind === 'refused')
    return { ...failed, error: `The request was not sent: ${response.reason}. ${LOCAL_TARGET_HINT}` };
  if (response.kind === 'unreachable') return { ...failed, error: `No response: ${response.reason}.` };
  const { status, headers, body } = response;
  // Postgres stores neither NUL nor half of a surrogate pair.
  const answer =
    body
      .replaceAll('\0', '')
      .slice(0, MAX_ANSWER)
      .replace(/\p{Surrogate}/gu, '') || null;
  const delivered = status >= 200 && status < 300;
  const redirectNote = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  return {
    delivered,
    gone: status === 410,
    statusCode: status,
    error: delivered ? null : `The endpoint responded with ${status}${redirectNote}.`,
    answer,
    retryAfterMs: retryAfterMs(headers['retry-after'], now),
  };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DELAYS = [
  5 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
  24 * HOUR,
];
/** Keeps deliveries that failed together from being retried together. */
const SPREAD = 0.2;

/** Returns how long to wait after the failed attempt with this number, or undefined after the last one. */
export function retryDelayMs(failedAttempts: number, retryAfter: number | undefined): number | undefined {
  const delay = DELAYS[failedAttempts - 1];
  if (delay === undefined) return undefined;
  return Math.max(delay * (1 - SPREAD + 2 * SPREAD * Math.random()), retryAfter ?? 0);
}
