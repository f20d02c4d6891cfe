import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';

/** What the server said, all lines of it, with its code at the front. */
export interface SmtpReply {
  code: number;
  text: string;
}

/** What ended a step of a conversation: the server's own words, or what happened to the connection. */
export class SmtpFailure extends Error {
  /** Where the server has said something. */
  readonly response: string | undefined;
  readonly responseCode: number | undefined;
  /** `permanent`: we will not offer this mail, now or later. */
  readonly kind: 'answer' | 'lost' | 'permanent';

  constructor(kind: SmtpFailure['kind'], message: string, reply?: SmtpReply) {
    super(message);
    this.name = 'SmtpFailure';
    this.kind = kind;
    this.response = reply?.text;
    this.responseCode = reply?.code;
  }
}

export const answered = (reply: SmtpReply): SmtpFailure => new SmtpFailure('answer', reply.text, reply);

/** Somebody who waits for so many replies. */
interface Waiter {
  count: number;
  came: SmtpReply[];
  resolve: (replies: SmtpReply[] | SmtpFailure) => void;
}

/** Throws what ended the conversation. */
export function theReplies(replies: SmtpReply[] | SmtpFailure): SmtpReply[] {
  if (replies instanceof SmtpFailure) throw replies;
  return replies;
}

const NOTHING: SmtpReply = { code: 0, text: '' };
/** No server has more to say, and one that never ends its line must not fill our memory. */
const MAX_REPLY = 64 * 1024;

/**
 * Lines out, replies in. Replies are waited for in the order in which they were asked for, so several commands may be
 * on their way at once (RFC 2920). It ends with the first thing that goes wrong, and then for everybody who waits.
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

  onEnd(listener: () => void): void {
    if (this.failure) listener();
    else this.endListeners.push(listener);
  }

  /** The next reply that nobody waits for yet. Ask before writing what it answers. */
  reply(): Promise<SmtpReply> {
    return this.replies(1).then((replies) => theReplies(replies)[0] ?? NOTHING);
  }

  /**
   * The next replies, together. Where the connection ends before the last of them, those that came; a failure where not
   * even a refusal has come. It is given and not thrown: whoever asks ahead need not listen yet.
   */
  replies(count: number): Promise<SmtpReply[] | SmtpFailure> {
    if (this.failure) return Promise.resolve(this.failure);
    return new Promise((resolve) => this.waiters.push({ count, came: [], resolve }));
  }

  command(line: string): Promise<SmtpReply> {
    const reply = this.reply();
    this.write(`${line}\r\n`);
    return reply;
  }

  /** False: there is so much to be written already that one should wait for `drained`. */
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

  /** Goes on over another socket (TLS). What came over the old one and was not asked for is forgotten (RFC 3207, 6). */
  async moveTo(wrap: (socket: Socket) => Promise<Socket>): Promise<void> {
    const plain = this.socket;
    plain.removeAllListeners('data').removeAllListeners('timeout').setTimeout(0);
    [this.line, this.lines, this.size] = ['', [], 0];
    this.socket = await wrap(plain);
    if (this.failure) this.socket.destroy();
    else this.listen();
  }

  /** Nothing more leaves, not even what is in the socket's buffer. */
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
    if (rest.length + this.size > MAX_REPLY) this.end(new SmtpFailure('lost', 'the server talks without end'));
  }

  private readLine(line: string): void {
    if (line === '' && this.lines.length === 0) return;
    this.lines.push(line);
    this.size += line.length;
    // "250-more to come", "250 the last line"
    if (line.charCodeAt(3) === 45) return;
    const text = this.lines.length === 1 ? line : this.lines.join('\n');
    [this.lines, this.size] = [[], 0];
    this.hear({ code: Number.parseInt(line, 10) || 0, text });
  }

  private hear(reply: SmtpReply): void {
    const [waiter] = this.waiters;
    waiter?.came.push(reply);
    if (waiter && waiter.came.length === waiter.count) {
      this.waiters.shift();
      waiter.resolve(waiter.came);
    }
    // RFC 5321, 4.2: the server is about to go, whatever it was asked. Any other word that nobody asked for means that
    // we no longer know which answer belongs to which question.
    if (reply.code === 421 || !waiter) this.end(answered(reply));
  }

  private end(failure: SmtpFailure): void {
    if (this.failure) return;
    this.failure = failure;
    this.socket.destroy();
    for (const { came, resolve } of this.waiters.splice(0))
      resolve(came.some(({ code }) => code >= 400) ? came : failure);
    for (const listener of this.endListeners.splice(0)) listener();
  }
}
