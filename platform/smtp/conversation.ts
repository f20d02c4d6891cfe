import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';

/** A reply of the server: its code, and all its lines with the code in front. */
export interface SmtpReply {
  code: number;
  text: string;
}

/** A failed SMTP command: refused by the server (`answer`), or cut off with its connection (`lost`). */
export class SmtpFailure extends Error {
  /** Undefined when the server sent no reply. */
  readonly response: string | undefined;
  readonly responseCode: number | undefined;
  /** `permanent`: the mail is not offered to the server at all, now or later. */
  readonly kind: 'answer' | 'lost' | 'permanent';

  constructor(kind: SmtpFailure['kind'], message: string, reply?: SmtpReply) {
    super(message);
    this.name = 'SmtpFailure';
    this.kind = kind;
    this.response = reply?.text;
    this.responseCode = reply?.code;
  }
}

export const failureFromReply = (reply: SmtpReply): SmtpFailure => new SmtpFailure('answer', reply.text, reply);

/** A caller that waits for `count` replies. */
interface Waiter {
  count: number;
  received: SmtpReply[];
  resolve: (replies: SmtpReply[] | SmtpFailure) => void;
}

/** Throws the failure that ended the conversation, if it has one. */
export function repliesOrThrow(replies: SmtpReply[] | SmtpFailure): SmtpReply[] {
  if (replies instanceof SmtpFailure) throw replies;
  return replies;
}

const NO_REPLY: SmtpReply = { code: 0, text: '' };
/** Bounds memory against a server that never ends its line; real replies are far shorter. */
const MAX_REPLY_LENGTH = 64 * 1024;

/**
 * Writes commands and reads replies. Replies are assigned to waiters in the order of the requests, so several commands
 * may be in flight at once (RFC 2920). The first error ends the conversation for all waiters.
 */
export class SmtpConversation {
  private socket: Socket;
  private readonly silenceMs: number;
  private readonly waiters: Waiter[] = [];
  private readonly endListeners: (() => void)[] = [];
  private line = '';
  private lines: string[] = [];
  private size = 0;
  private failure: SmtpFailure | undefined;

  constructor(socket: Socket, silenceMs: number) {
    this.socket = socket;
    this.silenceMs = silenceMs;
    this.listen();
  }

  get ended(): boolean {
    return this.failure !== undefined;
  }

  /** What ended the conversation. */
  get cause(): SmtpFailure | undefined {
    return this.failure;
  }

  onEnd(listener: () => void): void {
    if (this.failure) listener();
    else this.endListeners.push(listener);
  }

  /** Waits for the next reply that has no waiter yet. Must be called before the command is written. */
  reply(): Promise<SmtpReply> {
    return this.replies(1).then((replies) => repliesOrThrow(replies)[0] ?? NO_REPLY);
  }

  /**
   * Waits for the next `count` replies. When the connection ends early, resolves with the replies received so far, or with
   * the failure if there are none. Never rejects, so that a pipelined caller may await it later.
   */
  replies(count: number): Promise<SmtpReply[] | SmtpFailure> {
    if (this.failure) return Promise.resolve(this.failure);
    return new Promise((resolve) => this.waiters.push({ count, received: [], resolve }));
  }

  command(line: string): Promise<SmtpReply> {
    const reply = this.reply();
    this.write(`${line}\r\n`);
    return reply;
  }

  /** Returns false when the socket's buffer is full and the caller should await `drained`. */
  write(data: string | Buffer): boolean {
    return this.failure !== undefined || this.socket.write(data);
  }

  drained(): Promise<void> {
    const { socket } = this;
    if (this.failure || !socket.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        socket.off('drain', done).off('close', done);
        resolve();
      };
      socket.on('drain', done).on('close', done);
    });
  }

  /** Continues over another socket (TLS). Discards unread bytes of the old one (RFC 3207, 6). */
  async moveTo(wrap: (socket: Socket) => Promise<Socket>): Promise<void> {
    const plain = this.socket;
    plain.removeAllListeners('data').removeAllListeners('timeout').setTimeout(0);
    this.line = '';
    this.lines = [];
    this.size = 0;
    this.socket = await wrap(plain);
    if (this.failure) this.socket.destroy();
    else this.listen();
  }

  /** Closes the connection at once and discards the socket's write buffer. */
  cut(reason: string): void {
    this.end(new SmtpFailure('lost', reason));
  }

  private listen(): void {
    const { socket } = this;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 30_000);
    const decoder = new StringDecoder('utf8');
    socket.on('data', (bytes: Buffer) => this.read(decoder.write(bytes)));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      this.end(new SmtpFailure('lost', error.message || error.code || 'the connection broke')),
    );
    socket.on('close', () => this.end(new SmtpFailure('lost', 'the connection was closed')));
    socket.on('end', () => this.end(new SmtpFailure('lost', 'the server closed the connection')));
    socket.setTimeout(this.silenceMs, () =>
      this.end(new SmtpFailure('lost', `the server was silent for ${this.silenceMs / 1000} s`)),
    );
  }

  private read(text: string): void {
    let rest = this.line + text;
    for (let end = rest.indexOf('\n'); end >= 0 && !this.failure; end = rest.indexOf('\n')) {
      const line = rest.charCodeAt(end - 1) === 13 ? rest.slice(0, end - 1) : rest.slice(0, end);
      rest = rest.slice(end + 1);
      this.readLine(line);
    }
    this.line = rest;
    if (rest.length + this.size > MAX_REPLY_LENGTH) this.end(new SmtpFailure('lost', 'the server reply is too long'));
  }

  private readLine(line: string): void {
    if (line === '' && this.lines.length === 0) return;
    this.lines.push(line);
    this.size += line.length;
    // "250-" continues a reply, "250 " ends it (RFC 5321, 4.2.1).
    if (line.charCodeAt(3) === 45) return;
    const text = this.lines.length === 1 ? line : this.lines.join('\n');
    this.lines = [];
    this.size = 0;
    this.dispatch({ code: Number.parseInt(line, 10) || 0, text });
  }

  private dispatch(reply: SmtpReply): void {
    const [waiter] = this.waiters;
    waiter?.received.push(reply);
    if (waiter && waiter.received.length === waiter.count) {
      this.waiters.shift();
      waiter.resolve(waiter.received);
    }
    // 421 announces that the server closes the connection (RFC 5321, 3.8). A reply without a waiter means that replies
    // can no longer be matched to commands.
    if (reply.code === 421 || !waiter) this.end(failureFromReply(reply));
  }

  private end(failure: SmtpFailure): void {
    if (this.failure) return;
    this.failure = failure;
    this.socket.destroy();
    for (const { received, resolve } of this.waiters.splice(0)) resolve(received.length > 0 ? received : failure);
    for (const listener of this.endListeners.splice(0)) listener();
  }
}
