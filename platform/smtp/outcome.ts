import type { SmtpFailure } from './conversation.ts';

export type SendOutcome =
  | { kind: 'sent'; providerMessageId: string | undefined; answer?: string }
  /** Refused for now (4xx), or the connection broke before the mail was handed over. */
  | { kind: 'deferred'; reason: string }
  /** Refused for good. */
  | { kind: 'refused'; reason: string }
  /** Handed over without a reply: the server may have accepted it. */
  | { kind: 'unknown'; reason: string }
  /** Not offered: no connection, no greeting or no login. Says nothing about the mail. */
  | { kind: 'unreachable'; reason: string };

const REASON_LENGTH = 500;
/** RFC 4954: authentication errors, which concern the login and not the mail. */
const AUTH_CODES = [530, 534, 535, 538];

/** Maps a failed exchange to the outcome of the mail. */
export function outcomeOfFailure(error: Pick<SmtpFailure, 'kind' | 'responseCode'>, handedOver: boolean): SendOutcome {
  const { kind, responseCode = 0 } = error;
  const reason = answerText(error);
  if (AUTH_CODES.includes(responseCode)) return { kind: 'unreachable', reason };
  // 503, "bad sequence of commands", concerns the conversation and not the mail.
  if (responseCode >= 500 && responseCode < 600 && responseCode !== 503) return { kind: 'refused', reason };
  if (responseCode >= 400) return { kind: 'deferred', reason };
  if (handedOver) return { kind: 'unknown', reason };
  return { kind: kind === 'permanent' ? 'refused' : 'deferred', reason };
}

/** Returns the server's reply, or the error message when there is none. */
export function answerText(error: unknown): string {
  const { response, message } = error as Partial<SmtpFailure>;
  return (response || message || String(error)).replaceAll('\0', '').trim().slice(0, REASON_LENGTH);
}

// Postfix, Mailpit and many others; Exim; Amazon SES; Google; Microsoft 365.
const idPatterns = [
  /\bqueued as\s+([^\s;,]+)/i,
  /\bid=([^\s;,]+)/i,
  /^250 (?:\d\.\d\.\d )?Ok ([0-9a-f]+(?:-[0-9a-f]+)+)$/i,
  /^250 2\.0\.0 OK\s+(\S+ \S+) - gsmtp/i,
  /^250 2\.0\.0 OK (<[^<>\s]+\.prod\.outlook\.com>)/i,
];

/** Returns the id that the provider assigned to the mail, which its logs and notices use. */
export function providerIdOf(response: string): string | undefined {
  const text = response.trim();
  for (const pattern of idPatterns) {
    const id = pattern.exec(text)?.[1];
    if (id) return id.slice(0, 200);
  }
  return undefined;
}
