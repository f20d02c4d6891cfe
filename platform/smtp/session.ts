import { type SmtpMessage, toSmtpData } from '../mime/smtp-message.ts';
import { openSmtp, type SmtpExtensions, type SmtpTarget } from './connect.ts';
import {
  failureFromReply,
  repliesOrThrow,
  type SmtpConversation,
  SmtpFailure,
  type SmtpReply,
} from './conversation.ts';
import type { SmtpStep } from './outcome.ts';

export { DEFAULT_TIMEOUTS, type SmtpTarget, type SmtpTimeouts, smtpTarget } from './connect.ts';

export type Exchange = { accepted: true; response: string } | FailedExchange;

export interface FailedExchange {
  accepted: false;
  error: SmtpFailure;
  /** The command that was refused or not answered; `text`: the mail itself, after DATA. */
  step: SmtpStep;
  /** The whole message was written to the connection, so the server may have accepted it. */
  handedOver: boolean;
}

interface Progress {
  step: SmtpStep;
  handedOver: boolean;
}

const CHUNK = 64 * 1024;
const END_OF_DATA = Buffer.from('.\r\n');
/** Control characters would end the command that carries the address. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const ENVELOPE_BREAK = /[\x00-\x1f]/;
const NO_REPLY: SmtpReply = { code: 0, text: '' };

/** A mail whose envelope was written and not yet answered. */
interface Announced {
  mail: SmtpMessage;
  raw: Buffer;
  replies: Promise<SmtpReply[] | SmtpFailure>;
}

/**
 * One session with the SMTP server, which sends mails one after the other. A mail takes four round trips, two with
 * PIPELINING (RFC 2920), and one when the caller names the next mail: its envelope is written behind the current body.
 * Reports for every failed mail whether the server may have accepted it.
 */
export class SmtpSession {
  private readonly conversation: SmtpConversation;
  private readonly extensions: SmtpExtensions;
  private announced: Announced | undefined;

  private constructor(conversation: SmtpConversation, extensions: SmtpExtensions) {
    this.conversation = conversation;
    this.extensions = extensions;
  }

  static async open(target: SmtpTarget, signal?: AbortSignal): Promise<SmtpSession> {
    const { conversation, extensions } = await openSmtp(target, signal);
    return new SmtpSession(conversation, extensions);
  }

  get usable(): boolean {
    return !this.conversation.ended;
  }

  onEnd(listener: () => void): void {
    this.conversation.onEnd(listener);
  }

  /** Whether the server awaits the body of an announced mail. Without that mail the session can only be closed. */
  get hasAnnouncedMail(): boolean {
    return this.announced !== undefined;
  }

  /** Never throws. `next` is the mail that the caller sends after this one. */
  async send(mail: SmtpMessage, next?: SmtpMessage): Promise<Exchange> {
    const progress: Progress = { step: 'MAIL', handedOver: false };
    try {
      const announced = this.takeAnnounced(mail) ?? this.announce(mail);
      const replies = repliesOrThrow(await announced.replies);
      const failed = replies.findIndex((reply, index) => !isPositive(STEPS[index], reply));
      progress.step = STEPS[failed < 0 ? replies.length : failed] ?? 'text';
      const refusal = replies[failed];
      if (refusal) await this.abandon(refusal, replies);
      if (progress.step !== 'text') throw this.conversation.cause ?? new SmtpFailure('lost', 'the connection ended');
      const [reply = NO_REPLY] = repliesOrThrow(await this.writeBody(announced.raw, progress, next));
      if (reply.code < 200 || reply.code > 299) throw failureFromReply(reply);
      return { accepted: true, response: reply.text };
    } catch (error) {
      const failure = error instanceof SmtpFailure ? error : new SmtpFailure('lost', String(error));
      return { accepted: false, error: failure, ...progress };
    }
  }

  /** Prepares the session for the next mail after a refusal. Returns whether the server agreed. */
  async reset(): Promise<boolean> {
    return this.conversation.command('RSET').then(
      ({ code }) => code === 250,
      () => false,
    );
  }

  /** Sends QUIT first, unless `hard`: then closes the connection at once. */
  close(hard = false): void {
    const { conversation } = this;
    if (hard) conversation.cut('the connection was cut by us');
    if (!this.usable) return;
    const cut = () => conversation.cut('the connection was closed by us');
    conversation.command('QUIT').then(cut, cut);
  }

  /** Returns the bytes to write. Throws `permanent` for a mail that this server can never accept. */
  private toData({ from, to, utf8, isSmtpData, raw: message }: SmtpMessage): Buffer {
    if (ENVELOPE_BREAK.test(from) || ENVELOPE_BREAK.test(to))
      throw new SmtpFailure('permanent', 'an envelope address contains a control character');
    let raw: Buffer;
    try {
      raw = isSmtpData ? message : toSmtpData(message);
    } catch (error) {
      throw new SmtpFailure('permanent', `cannot be sent: ${error instanceof Error ? error.message : error}`);
    }
    const { max } = this.extensions.size;
    if (max > 0 && raw.length > max)
      throw new SmtpFailure('permanent', `the email has ${raw.length} bytes; the SMTP server accepts at most ${max}`);
    if (utf8 && !this.extensions.utf8)
      throw new SmtpFailure('permanent', 'the SMTP server accepts only ASCII addresses (no SMTPUTF8)');
    return raw;
  }

  private takeAnnounced(mail: SmtpMessage): Announced | undefined {
    const { announced } = this;
    if (!announced) return undefined;
    this.announced = undefined;
    if (announced.mail === mail) return announced;
    this.close(true);
    throw new SmtpFailure('lost', 'another mail was announced');
  }

  private announce(mail: SmtpMessage): Announced {
    const raw = this.toData(mail);
    const lines = this.envelopeOf(mail, raw.length);
    if (!this.extensions.pipelining) return { mail, raw, replies: this.oneByOne(lines) };
    const replies = this.conversation.replies(lines.length);
    this.conversation.write(`${lines.join('\r\n')}\r\n`);
    return { mail, raw, replies };
  }

  /** Returns the envelope to write behind a body; empty for a mail that cannot be sent, whose own `send` reports it. */
  private announceNext(mail: SmtpMessage): string {
    let raw: Buffer;
    try {
      raw = this.toData(mail);
    } catch {
      return '';
    }
    const lines = this.envelopeOf(mail, raw.length);
    this.announced = { mail, raw, replies: this.conversation.replies(lines.length) };
    return `${lines.join('\r\n')}\r\n`;
  }

  private envelopeOf({ from, to, utf8 }: SmtpMessage, size: number): string[] {
    const sizeParameter = this.extensions.size.supported ? ` SIZE=${size}` : '';
    const utf8Parameters = utf8 ? ` SMTPUTF8${this.extensions.eightBit ? ' BODY=8BITMIME' : ''}` : '';
    return [`MAIL FROM:<${from}>${sizeParameter}${utf8Parameters}`, `RCPT TO:<${to}>`, 'DATA'];
  }

  /** Like `replies` of the conversation: ends early with the first refusal or with the connection. */
  private async oneByOne(lines: string[]): Promise<SmtpReply[] | SmtpFailure> {
    const replies: SmtpReply[] = [];
    for (const [index, line] of lines.entries()) {
      const answer = this.conversation.replies(1);
      this.conversation.write(`${line}\r\n`);
      const received = await answer;
      if (received instanceof SmtpFailure) return replies.length > 0 ? replies : received;
      const [reply = NO_REPLY] = received;
      replies.push(reply);
      if (!isPositive(STEPS[index], reply)) break;
    }
    return replies;
  }

  /** Always throws the refusal. */
  private async abandon(refusal: SmtpReply, [, , data]: SmtpReply[]): Promise<void> {
    // The server accepted DATA of a mail that it refused: ends it with an empty body (RFC 2920, 3.1).
    if (refusal !== data && data?.code === 354) await this.conversation.command('.').catch(() => {});
    throw failureFromReply(refusal);
  }

  /** Returns the reply to the body. */
  private writeBody(raw: Buffer, progress: Progress, next?: SmtpMessage): Promise<SmtpReply[] | SmtpFailure> {
    const reply = this.conversation.replies(1);
    if (raw.length > CHUNK) return this.writeChunks(raw, reply, progress, next);
    this.writeEnd(raw, progress, next);
    return reply;
  }

  private async writeChunks(
    raw: Buffer,
    reply: Promise<SmtpReply[] | SmtpFailure>,
    progress: Progress,
    next?: SmtpMessage,
  ): Promise<SmtpReply[] | SmtpFailure> {
    const { conversation } = this;
    let repliedEarly = false;
    reply.then(() => (repliedEarly = true));
    let offset = 0;
    for (; raw.length - offset > CHUNK; offset += CHUNK) {
      if (!conversation.write(raw.subarray(offset, offset + CHUNK))) await conversation.drained();
      if (repliedEarly || conversation.ended) return this.interrupted(repliesOrThrow(await reply));
    }
    this.writeEnd(raw.subarray(offset), progress, next);
    return reply;
  }

  /** Writes the rest of a body and the final dot. From here on the outcome is unknown until the server replies. */
  private writeEnd(rest: Buffer, progress: Progress, next?: SmtpMessage): void {
    if (this.conversation.ended) return;
    progress.handedOver = true;
    const envelope = next && this.extensions.pipelining ? this.announceNext(next) : '';
    // One buffer costs less than a vectored write.
    this.conversation.write(Buffer.concat([rest, END_OF_DATA, Buffer.from(envelope)]));
  }

  /** Closes the session after a reply in the middle of a body: the server would read the rest as commands. */
  private interrupted(replies: SmtpReply[]): SmtpReply[] {
    const [{ code, text } = NO_REPLY] = replies;
    this.close(true);
    if (code >= 400) return replies;
    throw new SmtpFailure('lost', `answered too early: ${text}`);
  }
}

/** The commands of an envelope, in the order of their replies. */
const STEPS: readonly SmtpStep[] = ['MAIL', 'RCPT', 'DATA'];

const isPositive = (step: SmtpStep | undefined, { code }: SmtpReply): boolean =>
  step === 'DATA' ? code === 354 : code >= 200 && code <= 299;
