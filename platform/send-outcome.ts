import type { SmtpFailure } from './smtp-conversation.ts';

export type SendOutcome =
  | { kind: 'sent'; providerMessageId: string | undefined; answer?: string }
  /** Not now: the server says so, or the connection broke before the mail was handed over. */
  | { kind: 'deferred'; reason: string }
  /** Never. */
  | { kind: 'refused'; reason: string }
  /** Handed over, and then no answer: it may have been taken. */
  | { kind: 'unknown'; reason: string }
  /** The mail was not even offered: no connection, no greeting, no login. No fault of the mail. */
  | { kind: 'unreachable'; reason: string };

const REASON_LENGTH = 500;
/** RFC 4954: these speak of us and not of the mail. */
const AUTH_CODES = [530, 534, 535, 538];

/** What a failed exchange means for the mail. */
export function outcomeOf(error: Pick<SmtpFailure, 'kind' | 'responseCode'>, handedOver: boolean): SendOutcome {
  const { kind, responseCode = 0 } = error;
  const reason = answerText(error);
  if (AUTH_CODES.includes(responseCode)) return { kind: 'unreachable', reason };
  // 503, "bad sequence of commands", speaks of the conversation and not of the mail.
  if (responseCode >= 500 && responseCode < 600 && responseCode !== 503) return { kind: 'refused', reason };
  if (responseCode >= 400) return { kind: 'deferred', reason };
  if (handedOver) return { kind: 'unknown', reason };
  return { kind: kind === 'permanent' ? 'refused' : 'deferred', reason };
}

/** The server's own words where there are any. */
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

/** The id that the provider gave the mail, for finding it again in its logs and notices. */
export function providerIdOf(response: string): string | undefined {
  const text = response.trim();
  for (const pattern of idPatterns) {
    const id = pattern.exec(text)?.[1];
    if (id) return id.slice(0, 200);
  }
  return undefined;
}
