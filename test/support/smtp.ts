import { once as event } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { atEnd } from './cleanup.ts';
import { eventually, type Patience } from './waiting.ts';

export interface ReceivedMail {
  from: string;
  to: string[];
  raw: Buffer;
  messageId: string | undefined;
  receivedAt: Date;
  parsed(): Promise<Email>;
}

/**
 * Where in the conversation the server misbehaves. `connect`: before the greeting. `recipient`: at RCPT TO. `text`: the
 * text of the mail comes, and is not read. `message`: the final dot has come, and the mail is NOT taken. `accepted`: the mail IS taken, and only then it happens,
 * so that the client never learns of it.
 */
export type FaultPoint = 'connect' | 'recipient' | 'text' | 'message' | 'accepted';

export interface Fault {
  at: FaultPoint;
  /** Say nothing more, cut the connection, answer later, or answer with an error. */
  do: 'hang' | 'drop' | { delayMs: number } | { code: number; text?: string };
  /** Only where this address is among the recipients. */
  to?: string;
  /** How often; without it until `behave()`. */
  times?: number;
}

export interface SmtpStandIn {
  url: string;
  port: number;
  mails: ReceivedMail[];
  mailsTo(address: string): ReceivedMail[];
  /** Waits for so many mails (to that address) and gives them back. */
  received(count: number, patience?: Patience & { to?: string }): Promise<ReceivedMail[]>;
  misbehave(fault: Fault): void;
  /** Ends every fault, or those for one address; whatever hangs goes on. */
  behave(to?: string): void;
  /** How many connections are open just now, and how many there have been. */
  connections(): { open: number; total: number };
  close(): Promise<void>;
  reopen(): Promise<void>;
}

type Done = (error?: Error | null, message?: string) => void;

export async function startSmtp(): Promise<SmtpStandIn> {
  const mails: ReceivedMail[] = [];
  const faults = new Faults();
  const sockets = new Set<Socket>();
  let [server, total] = [undefined as SMTPServer | undefined, 0];

  const open = async (port: number): Promise<number> => {
    const made = new SMTPServer(conversation(mails, faults, (session) => socketOf(session, sockets)));
    made.server.on('connection', (socket: Socket) => {
      total++;
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    });
    // A client that goes away in mid-sentence is what some tests are about.
    made.on('error', () => {});
    made.listen(port, '127.0.0.1');
    await event(made.server, 'listening');
    server = made;
    return (made.server.address() as AddressInfo).port;
  };
  const close = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    faults.clear();
    if (!closing) return;
    const closed = new Promise<void>((resolve) => closing.close(resolve));
    for (const socket of sockets) socket.destroy();
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
    received: (count, { to, ...patience } = {}) => {
      const found = () => (to === undefined ? mails : mailsTo(to));
      const what = `${count} mails${to ? ` to ${to}` : ''}`;
      return eventually(() => found().length >= count && found(), { what, ...patience });
    },
    misbehave: (fault) => faults.add(fault),
    behave: (to) => faults.clear(to),
    connections: () => ({ open: sockets.size, total }),
    close,
    reopen: async () => void (server ?? (await open(port))),
  };
}

function conversation(
  mails: ReceivedMail[],
  faults: Faults,
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
    onConnect: (session, done: Done) => faults.meet('connect', [], socketFor(session), done),
    onRcptTo: ({ address }, session, done: Done) =>
      faults.meet('recipient', [address.toLowerCase()], socketFor(session), done),
    onData: async (stream, session, done: Done) => {
      const [to, socket] = [addressesIn(session), socketFor(session)];
      await new Promise<void>((resolve) => faults.meet('text', to, socket, () => resolve()));
      const raw = await buffer(stream).catch(() => undefined);
      if (!raw) return;
      faults.meet('message', to, socket, (refused) => {
        if (refused) return done(refused);
        const { mailFrom } = session.envelope;
        mails.push(received(mailFrom ? mailFrom.address : '', to, raw));
        faults.meet('accepted', to, socket, (error) => done(error, `queued as stand-in-${mails.length}`));
      });
    },
  };
}

function received(from: string, to: string[], raw: Buffer): ReceivedMail {
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

class Faults {
  #active: Fault[] = [];
  #hanging: { fault: Fault; goOn: () => void }[] = [];

  add(fault: Fault): void {
    this.#active.push({ ...fault, to: fault.to?.toLowerCase() });
  }

  clear(to?: string): void {
    const stays = (fault: Fault) => to !== undefined && fault.to !== to;
    const hanging = this.#hanging;
    this.#active = this.#active.filter(stays);
    this.#hanging = hanging.filter(({ fault }) => stays(fault));
    for (const { fault, goOn } of hanging) if (!stays(fault)) goOn();
  }

  meet(at: FaultPoint, to: string[], socket: Socket | undefined, goOn: (error?: Error) => void): void {
    const fault = this.#take(at, to);
    if (!fault) goOn();
    else if (fault.do === 'hang') this.#hanging.push({ fault, goOn: () => goOn() });
    else if (fault.do === 'drop') socket?.destroy();
    else if ('delayMs' in fault.do) setTimeout(goOn, fault.do.delayMs);
    else goOn(Object.assign(new Error(fault.do.text ?? 'as told'), { responseCode: fault.do.code }));
  }

  #take(at: FaultPoint, to: string[]): Fault | undefined {
    const fault = this.#active.find((one) => one.at === at && (one.to === undefined || to.includes(one.to)));
    if (fault?.times !== undefined && --fault.times <= 0) this.#active.splice(this.#active.indexOf(fault), 1);
    return fault;
  }
}
