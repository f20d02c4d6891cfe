import { once as event } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { atEnd } from './cleanup.ts';
import { eventually, type WaitOptions } from './waiting.ts';

export interface ReceivedMail {
  from: string;
  to: string[];
  raw: Buffer;
  messageId: string | undefined;
  receivedAt: Date;
  parsed(): Promise<Email>;
}

/**
 * The stage of the SMTP session at which the server fails. `connect`: before the greeting. `sender`: at MAIL FROM.
 * `recipient`: at RCPT TO.
 * `text`: the text of the mail arrives and is not read. `message`: after the final dot, the mail is NOT accepted.
 * `accepted`: the mail IS accepted, and the failure keeps the client from learning it.
 */
export type SmtpStage = 'connect' | 'sender' | 'recipient' | 'text' | 'message' | 'accepted';

export interface SmtpFailure {
  at: SmtpStage;
  /** Stop answering, drop the connection, answer later, or answer with an error. */
  do: 'hang' | 'drop' | { delayMs: number } | { code: number; text?: string };
  /** Only when this address is among the recipients. */
  to?: string;
  /** How often; unset: until `behave()`. */
  times?: number;
}

export interface SmtpStandIn {
  url: string;
  port: number;
  mails: ReceivedMail[];
  mailsTo(address: string): ReceivedMail[];
  /** Waits for the number of mails (to that address) and returns them. */
  received(count: number, waitOptions?: WaitOptions & { to?: string }): Promise<ReceivedMail[]>;
  misbehave(failure: SmtpFailure): void;
  /** Accepts this many mails more and holds all others, so that sending cannot end before `behave()`. */
  holdAfter(count: number): void;
  /** Ends all failures, or those for one address; hanging sessions continue. */
  behave(to?: string): void;
  /** Returns how many sessions hang. */
  held(): number;
  /** Returns how many connections are open, and how many there have been. */
  connections(): { open: number; total: number };
  close(): Promise<void>;
  reopen(): Promise<void>;
}

type Done = (error?: Error | null, message?: string) => void;

export async function startSmtp(): Promise<SmtpStandIn> {
  const mails: ReceivedMail[] = [];
  const failures = new SmtpFailures();
  const sockets = new Set<Socket>();
  let server = undefined as SMTPServer | undefined;
  let total = 0;

  const open = async (port: number): Promise<number> => {
    const created = new SMTPServer(serverOptions(mails, failures, (session) => socketOf(session, sockets)));
    created.server.on('connection', (socket: Socket) => {
      total++;
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    });
    // Some tests disconnect a client in mid-session.
    created.on('error', () => {});
    created.listen(port, '127.0.0.1');
    await event(created.server, 'listening');
    server = created;
    return (created.server.address() as AddressInfo).port;
  };
  const close = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    const closed = new Promise<void>((resolve) => (closing ? closing.close(resolve) : resolve()));
    for (const socket of sockets) socket.destroy();
    // Afterwards, so that a client that waits for an answer gets none.
    failures.clear();
    await closed;
  };

  const port = await open(0);
  atEnd(close);
  const mailsTo = (address: string) => mails.filter(({ to }) => to.includes(address.toLowerCase()));
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails,
    mailsTo,
    received: (count, { to, ...waitOptions } = {}) => {
      const found = () => (to === undefined ? mails : mailsTo(to));
      const what = `${count} mails${to ? ` to ${to}` : ''}`;
      return eventually(() => found().length >= count && found(), { what, ...waitOptions });
    },
    misbehave: (failure) => failures.add(failure),
    holdAfter: (count) => {
      if (count > 0) failures.add({ at: 'message', do: { delayMs: 0 }, times: count });
      failures.add({ at: 'message', do: 'hang' });
    },
    behave: (to) => failures.clear(to),
    held: () => failures.held,
    connections: () => ({ open: sockets.size, total }),
    close,
    // Another connection may have the port as its source port for a while.
    reopen: async () =>
      void (server ?? (await eventually(() => open(port).catch(onlyIfInUse), { what: `the port ${port}` }))),
  };
}

function onlyIfInUse(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EADDRINUSE') throw error;
}

function serverOptions(
  mails: ReceivedMail[],
  failures: SmtpFailures,
  socketFor: (session: SMTPServerSession) => Socket | undefined,
): SMTPServerOptions {
  const addressesIn = ({ envelope }: SMTPServerSession) => envelope.rcptTo.map(({ address }) => address.toLowerCase());
  return {
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    size: 100 * 1024 * 1024,
    onAuth: (auth, _session, done) => done(null, { user: auth.username ?? 'anybody' }),
    onConnect: (session, done: Done) => failures.apply('connect', [], socketFor(session), done),
    onMailFrom: (_address, session, done: Done) => failures.apply('sender', [], socketFor(session), done),
    onRcptTo: ({ address }, session, done: Done) =>
      failures.apply('recipient', [address.toLowerCase()], socketFor(session), done),
    onData: async (stream, session, done: Done) => {
      const to = addressesIn(session);
      const socket = socketFor(session);
      await new Promise<void>((resolve) => failures.apply('text', to, socket, () => resolve()));
      const raw = await buffer(stream).catch(() => undefined);
      if (!raw) return;
      failures.apply('message', to, socket, (rejection) => {
        if (rejection) return done(rejection);
        const { mailFrom } = session.envelope;
        mails.push(receivedMail(mailFrom ? mailFrom.address : '', to, raw));
        failures.apply('accepted', to, socket, (error) => done(error, `queued as stand-in-${mails.length}`));
      });
    },
  };
}

function receivedMail(from: string, to: string[], raw: Buffer): ReceivedMail {
  let parsed: Promise<Email> | undefined;
  const [head = ''] = raw.toString('latin1').split('\r\n\r\n', 1);
  return {
    from,
    to,
    raw,
    messageId: /^message-id:\s*(<[^>]*>)/im.exec(head)?.[1],
    receivedAt: new Date(),
    parsed: () => {
      parsed ??= PostalMime.parse(raw);
      return parsed;
    },
  };
}

const socketOf = ({ remotePort }: SMTPServerSession, sockets: Set<Socket>): Socket | undefined =>
  [...sockets].find((socket) => socket.remotePort === remotePort);

class SmtpFailures {
  #active: SmtpFailure[] = [];
  #hanging: { failure: SmtpFailure; resume: () => void }[] = [];

  get held(): number {
    return this.#hanging.length;
  }

  add(failure: SmtpFailure): void {
    this.#active.push({ ...failure, to: failure.to?.toLowerCase() });
  }

  clear(to?: string): void {
    const isKept = (failure: SmtpFailure) => to !== undefined && failure.to !== to;
    const hanging = this.#hanging;
    this.#active = this.#active.filter(isKept);
    this.#hanging = hanging.filter(({ failure }) => isKept(failure));
    for (const { failure, resume } of hanging) if (!isKept(failure)) resume();
  }

  apply(at: SmtpStage, to: string[], socket: Socket | undefined, resume: (error?: Error) => void): void {
    const failure = this.#take(at, to);
    if (!failure) resume();
    else if (failure.do === 'hang') this.#hanging.push({ failure, resume: () => resume() });
    else if (failure.do === 'drop') socket?.destroy();
    else if ('delayMs' in failure.do) setTimeout(resume, failure.do.delayMs);
    else resume(Object.assign(new Error(failure.do.text ?? 'configured failure'), { responseCode: failure.do.code }));
  }

  #take(at: SmtpStage, to: string[]): SmtpFailure | undefined {
    const failure = this.#active.find((one) => one.at === at && (one.to === undefined || to.includes(one.to)));
    if (failure?.times !== undefined && --failure.times <= 0) this.#active.splice(this.#active.indexOf(failure), 1);
    return failure;
  }
}
