import type { SmtpFailure } from './conversation.ts';

/** A part of sending a mail; `text` is the mail itself, after DATA. */
export type SmtpStep = 'MAIL' | 'RCPT' | 'DATA' | 'text';

export type SendOutcome =
  | { kind: 'sent'; providerMessageId: string | undefined; answer?: string }
  /**
   * Refused for now (4xx), or the connection broke before the mail was handed over. `domain`: the servers of the
   * recipient's domain want less mail for now; `recipient`: says nothing about other mail.
   */
  | { kind: 'deferred'; reason: string; concerns: 'recipient' | 'domain' }
  /** Refused for good. `isBounce`: because the recipient does not exist, and not because of the mail or its sender. */
  | { kind: 'refused'; reason: string; isBounce?: true }
  /** Handed over without a reply: the server may have accepted it. */
  | { kind: 'unknown'; reason: string }
  /** Not offered, because the relay takes no mail now: no connection, greeting or login, or 421. */
  | { kind: 'unreachable'; reason: string };

export type Unreachable = Extract<SendOutcome, { kind: 'unreachable' }>;

const REASON_LENGTH = 500;
const ID_LENGTH = 200;
/** RFC 4954: authentication errors, which concern the login and not the mail. */
const AUTH_CODES = [530, 534, 535, 538];
/** What relays and the servers of recipients answer, with 451, 452 or 454, to a client that sends too much. */
const TOO_MUCH_MAIL = /too (?:many|much|fast)|\brate|throttl/i;

/** RFC 3463, RFC 7505: no such mailbox, system or address; moved without a new address; mailbox disabled; no route. */
const NO_RECIPIENT_CODES = ['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1', '5.4.4'];
const ENHANCED_CODE = /^5\d\d[ -](5\.\d{1,3}\.\d{1,3})\b/;
/** Replies without an enhanced code that may concern the recipient, and the texts that say so. */
const BARE_CODES = [550, 553];
const RECIPIENT = '(?:user|mailbox|recipient|address|account|domain|host)';
const NO_RECIPIENT = new RegExp(
  [
    `\\b(?:no such|unknown|invalid|non-?existent) (?:local )?${RECIPIENT}\\b`,
    `\\b${RECIPIENT}(?: name)?\\b[^,;.]{0,100}?\\b(?:unknown|not found|not known|invalid|does(?: not|n't) exist)`,
    `\\bno (?:mailbox|user|account)\\b`,
  ].join('|'),
  'i',
);
/** The sender's domain may be unknown too. */
const ABOUT_SENDER = /\bsender\b|\bmail from\b|\brelay/i;

export interface FailedStep {
  step: SmtpStep;
  /** The whole message was written to the connection. */
  handedOver: boolean;
}

/** Maps a failed exchange to the outcome of the mail. */
export function outcomeOfFailure(
  error: Pick<SmtpFailure, 'kind' | 'responseCode'>,
  { step, handedOver }: FailedStep,
): Exclude<SendOutcome, { kind: 'sent' }> {
  const { kind, responseCode: code = 0 } = error;
  const reason = answerText(error);
  if (AUTH_CODES.includes(code) || (code === 421 && step === 'MAIL')) return { kind: 'unreachable', reason };
  // 503, "bad sequence of commands", concerns the conversation and not the mail.
  if (code >= 500 && code < 600 && code !== 503)
    return isBounce(code, step, reason) ? { kind: 'refused', reason, isBounce: true } : { kind: 'refused', reason };
  if (code >= 400) return { kind: 'deferred', reason, concerns: concernOf(code, step, reason) };
  if (handedOver) return { kind: 'unknown', reason };
  return kind === 'permanent' ? { kind: 'refused', reason } : { kind: 'deferred', reason, concerns: 'recipient' };
}

/** A server may refuse the recipient at once or after the mail. Replies to MAIL concern the sender. */
function isBounce(code: number, step: SmtpStep, reason: string): boolean {
  if (step === 'MAIL') return false;
  const enhanced = ENHANCED_CODE.exec(reason)?.[1];
  if (enhanced) return NO_RECIPIENT_CODES.includes(enhanced);
  return BARE_CODES.includes(code) && NO_RECIPIENT.test(reason) && !ABOUT_SENDER.test(reason);
}

/** A refused MAIL concerns the sender's address, or the size of the mail. */
function concernOf(code: number, step: SmtpStep, reason: string): 'recipient' | 'domain' {
  if (step === 'MAIL') return 'recipient';
  if (code === 421 || code === 450) return 'domain';
  return code < 500 && TOO_MUCH_MAIL.test(reason) ? 'domain' : 'recipient';
}

/** Returns the server's reply, or the error message when there is none. */
export function answerText(error: unknown): string {
  const { response, message } = error as Partial<SmtpFailure>;
  return storable((response || message || String(error)).trim(), REASON_LENGTH);
}

/** Cuts the text of a server. Postgres cannot store NUL, nor half a surrogate pair, which the cut may leave. */
const storable = (text: string, length: number): string =>
  text
    .replaceAll('\0', '')
    .slice(0, length)
    .replace(/\p{Surrogate}/gu, '');

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
    if (id) return storable(id, ID_LENGTH);
  }
  return undefined;
}
