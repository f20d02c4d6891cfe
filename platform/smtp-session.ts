import { openSmtp, type SmtpAbilities, type SmtpTarget } from './smtp-connect.ts';
import { answered, type SmtpConversation, SmtpFailure, type SmtpReply, theReplies } from './smtp-conversation.ts';
import { readyForWire } from './wire-lines.ts';

export { type SmtpTarget, type SmtpTimeouts, smtpTarget } from './smtp-connect.ts';

/** A mail as it goes over the wire. */
export interface WireMail {
  from: string;
  to: string;
  /** Addresses that only SMTPUTF8 can carry (RFC 6531). */
  utf8: boolean;
  /** Head and body, lines ending in CRLF. */
  raw: Buffer;
}

export type Exchange =
  | { accepted: true; response: string }
  /** `handedOver`: all of the message was given to the connection, so the server may have taken it. */
  | { accepted: false; error: SmtpFailure; handedOver: boolean };

const CHUNK = 64 * 1024;
const END = Buffer.from('.\r\n');
/** Would end the command that the address is part of. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
const ENVELOPE_BREAK = /[\x00-\x1f]/;
const NOTHING: SmtpReply = { code: 0, text: '' };

/** A mail whose envelope is on its way. */
interface Announced {
  mail: WireMail;
  raw: Buffer;
  answers: Promise<SmtpReply[] | SmtpFailure>;
}

/**
 * One session with the SMTP server: mails one after the other, two round trips each where the server takes commands in
 * one go (RFC 2920), four otherwise. Who knows the next mail already has one each: its envelope goes along with the end
 * of this one's text. It always knows whether a mail that failed may have been taken.
 */
export class SmtpSession {
  private readonly conversation: SmtpConversation;
  private readonly abilities: SmtpAbilities;
  private announced: Announced | undefined;

  private constructor(conversation: SmtpConversation, abilities: SmtpAbilities) {
    this.conversation = conversation;
    this.abilities = abilities;
  }

  static async open(target: SmtpTarget, signal?: AbortSignal): Promise<SmtpSession> {
    const { conversation, abilities } = await openSmtp(target, signal);
    return new SmtpSession(conversation, abilities);
  }

  get usable(): boolean {
    return !this.conversation.ended;
  }

  onEnd(listener: () => void): void {
    this.conversation.onEnd(listener);
  }

  /** The server waits for the text of a mail: a session that is not to send it can only be closed. */
  get isPromised(): boolean {
    return this.announced !== undefined;
  }

  /** Never throws. `next` is the mail that is sent after this one, if at all. */
  async send(mail: WireMail, next?: WireMail): Promise<Exchange> {
    const progress = { handedOver: false };
    try {
      const announced = this.takeAnnounced(mail) ?? this.announce(mail);
      const answers = theReplies(await announced.answers);
      const refused = firstRefusal(answers);
      if (refused) await this.leave(refused, answers);
      const [answer = NOTHING] = theReplies(await this.body(announced.raw, progress, next));
      if (answer.code < 200 || answer.code > 299) throw answered(answer);
      return { accepted: true, response: answer.text };
    } catch (error) {
      const failure = error instanceof SmtpFailure ? error : new SmtpFailure('lost', String(error));
      return { accepted: false, error: failure, ...progress };
    }
  }

  /** Makes a session fit for the next mail after the server has refused one. */
  async reset(): Promise<boolean> {
    return this.conversation.command('RSET').then(
      ({ code }) => code === 250,
      () => false,
    );
  }

  /** Hard: nothing more leaves. Otherwise it takes its leave first. */
  close(hard = false): void {
    const { conversation } = this;
    if (hard) conversation.cut('the connection was cut by us');
    if (!this.usable) return;
    const gone = () => conversation.cut('the connection was closed by us');
    conversation.command('QUIT').then(gone, gone);
  }

  /** The bytes to write. Throws for a mail that this server will never take, or that no server should be given. */
  private checked({ from, to, utf8, raw: message }: WireMail): Buffer {
    if (ENVELOPE_BREAK.test(from) || ENVELOPE_BREAK.test(to))
      throw new SmtpFailure('permanent', 'an address of its envelope contains a control character');
    let raw: Buffer;
    try {
      raw = readyForWire(message);
    } catch (error) {
      throw new SmtpFailure('permanent', `cannot be sent: ${error instanceof Error ? error.message : error}`);
    }
    const { max } = this.abilities.size;
    if (max > 0 && raw.length > max)
      throw new SmtpFailure('permanent', `the mail has ${raw.length} bytes, and the SMTP server takes ${max} at most`);
    if (utf8 && !this.abilities.utf8)
      throw new SmtpFailure('permanent', 'the SMTP server takes ASCII addresses only (it has no SMTPUTF8)');
    return raw;
  }

  private takeAnnounced(mail: WireMail): Announced | undefined {
    const { announced } = this;
    if (!announced) return undefined;
    this.announced = undefined;
    if (announced.mail === mail) return announced;
    this.close(true);
    throw new SmtpFailure('lost', 'another mail was announced');
  }

  private announce(mail: WireMail): Announced {
    const raw = this.checked(mail);
    const lines = this.envelopeOf(mail, raw.length);
    if (!this.abilities.pipelining) return { mail, raw, answers: this.oneByOne(lines) };
    const answers = this.conversation.replies(lines.length);
    this.conversation.write(`${lines.join('\r\n')}\r\n`);
    return { mail, raw, answers };
  }

  /** Its envelope, to be written behind a text; none where it had to be refused, which is told when its turn comes. */
  private announceNext(mail: WireMail): string {
    let raw: Buffer;
    try {
      raw = this.checked(mail);
    } catch {
      return '';
    }
    const lines = this.envelopeOf(mail, raw.length);
    this.announced = { mail, raw, answers: this.conversation.replies(lines.length) };
    return `${lines.join('\r\n')}\r\n`;
  }

  private envelopeOf({ from, to, utf8 }: WireMail, size: number): string[] {
    const told = this.abilities.size.told ? ` SIZE=${size}` : '';
    const wide = utf8 ? ` SMTPUTF8${this.abilities.eightBit ? ' BODY=8BITMIME' : ''}` : '';
    return [`MAIL FROM:<${from}>${told}${wide}`, `RCPT TO:<${to}>`, 'DATA'];
  }

  private async oneByOne(lines: string[]): Promise<SmtpReply[]> {
    const answers: SmtpReply[] = [];
    for (const line of lines) {
      const answer = await this.conversation.command(line);
      answers.push(answer);
      if (!isYes(line, answer)) break;
    }
    return answers;
  }

  /** Always throws. */
  private async leave(refused: SmtpReply, [, , data]: SmtpReply[]): Promise<void> {
    // The server waits for the text of a mail that it has refused: it gets none (RFC 2920, 3.1).
    if (refused !== data && data?.code === 354) await this.conversation.command('.').catch(() => {});
    throw answered(refused);
  }

  /** Gives the answer to the text. */
  private body(raw: Buffer, progress: { handedOver: boolean }, next?: WireMail): Promise<SmtpReply[] | SmtpFailure> {
    const answer = this.conversation.replies(1);
    if (raw.length > CHUNK) return this.inChunks(raw, answer, progress, next);
    this.finish(raw, progress, next);
    return answer;
  }

  private async inChunks(
    raw: Buffer,
    answer: Promise<SmtpReply[] | SmtpFailure>,
    progress: { handedOver: boolean },
    next?: WireMail,
  ): Promise<SmtpReply[] | SmtpFailure> {
    const { conversation } = this;
    let early = false;
    answer.then(() => (early = true));
    let at = 0;
    for (; raw.length - at > CHUNK; at += CHUNK) {
      if (!conversation.write(raw.subarray(at, at + CHUNK))) await conversation.drained();
      if (early || conversation.ended) return this.interrupted(theReplies(await answer));
    }
    this.finish(raw.subarray(at), progress, next);
    return answer;
  }

  /** The last of a text. Without the dot no server takes a mail; from here on nobody knows until it answers. */
  private finish(rest: Buffer, progress: { handedOver: boolean }, next?: WireMail): void {
    if (this.conversation.ended) return;
    progress.handedOver = true;
    const envelope = next && this.abilities.pipelining ? this.announceNext(next) : '';
    // One piece costs less than the two would as a vector.
    this.conversation.write(Buffer.concat([rest, END, Buffer.from(envelope)]));
  }

  /** The server has answered in the middle of the text: whatever comes next would be read as commands. */
  private interrupted(replies: SmtpReply[]): SmtpReply[] {
    const [{ code, text } = NOTHING] = replies;
    this.close(true);
    if (code >= 400) return replies;
    throw new SmtpFailure('lost', `answered too early: ${text}`);
  }
}

const STEPS = ['MAIL', 'RCPT', 'DATA'];

const firstRefusal = (answers: SmtpReply[]): SmtpReply | undefined =>
  answers.find((answer, step) => !isYes(STEPS[step], answer));

const isYes = (step: string | undefined, answer: SmtpReply): boolean =>
  step === 'DATA' ? answer.code === 354 : answer.code >= 200 && answer.code <= 299;
