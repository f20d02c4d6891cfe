// An SMTP server that accepts, defers, refuses, hangs, and drops connections before and after it has taken a mail. Which
// of these happens depends on the recipient and the seed. It remembers what it took.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { atEnd } from '../test/support/cleanup.ts';
import { percentOf } from './random.ts';

export type SinkBehaviour = 'accept' | 'defer' | 'refuse' | 'hang' | 'drop-before' | 'drop-after';

export interface TakenMail {
  messageId: string;
  to: string;
  at: number;
}

export interface TakenConfirmation {
  to: string;
  token: string;
}

export interface SmtpSink {
  port: number;
  /** Every copy that the server took, acknowledged or not. */
  taken: TakenMail[];
  /** Links of confirmation emails that it took, for whoever presses them. */
  confirmations: TakenConfirmation[];
  /** How often each behaviour was shown. */
  shown: Record<SinkBehaviour, number>;
  /** From now on every mail is accepted. */
  behave(): void;
}

/** In percent of recipients; the others are accepted at once. */
export type SinkShares = Partial<Record<Exclude<SinkBehaviour, 'accept'>, number>>;

export const USUAL_SHARES: SinkShares = { defer: 3, refuse: 3, hang: 1, 'drop-before': 2, 'drop-after': 2 };

const END = Buffer.from('\r\n.\r\n');
const HANG_MS = 6_000;

/** The token of the first link to `/confirm`, across the soft line breaks of quoted-printable. */
function confirmationToken(text: Buffer): string | undefined {
  const unfolded = text.toString('latin1').replaceAll('=\r\n', '');
  return /\/confirm\/([\w.-]+)/.exec(unfolded)?.[1];
}

export async function startSmtpSink(seed: number, shares: SinkShares = USUAL_SHARES): Promise<SmtpSink> {
  const taken: TakenMail[] = [];
  const confirmations: TakenConfirmation[] = [];
  const shown: SmtpSink['shown'] = { accept: 0, defer: 0, refuse: 0, hang: 0, 'drop-before': 0, 'drop-after': 0 };
  const offered = new Set<string>();
  let behaves = false;

  /** Only the first attempt at a recipient fails, except that a refusal is final. */
  const behaviourFor = (to: string): SinkBehaviour => {
    let percent = percentOf(seed, to);
    const [wanted = 'accept'] = (Object.entries(shares) as [SinkBehaviour, number][]).find(([, share]) => {
      percent -= share;
      return percent < 0;
    }) ?? ['accept' as const];
    const isFirst = !offered.has(to);
    offered.add(to);
    return behaves || (!isFirst && wanted !== 'refuse') ? 'accept' : wanted;
  };

  const serve = (socket: Socket): void => {
    let pending = Buffer.alloc(0) as Buffer;
    let inText = false;
    let to = '';
    let isSilent = false;
    socket.setNoDelay(true);
    socket.on('error', () => {});
    const say = (line: string) => socket.writable && socket.write(`${line}\r\n`);
    const endOfText = (text: Buffer) => {
      const behaviour = behaviourFor(to);
      shown[behaviour]++;
      if (behaviour === 'defer') return say('451 4.3.0 try again later');
      if (behaviour === 'refuse') return say('550 5.1.1 no such user');
      if (behaviour === 'drop-before') return socket.destroy();
      if (behaviour === 'hang') {
        // Commands that were pipelined behind the mail get no reply either: a client would take it for that to the mail.
        isSilent = true;
        return void setTimeout(() => socket.destroy(), HANG_MS).unref();
      }
      const messageId = /^message-id:\s*<([^>]*)>/im.exec(text.toString('latin1', 0, 16_384))?.[1] ?? '';
      taken.push({ messageId, to, at: Date.now() });
      const token = confirmationToken(text);
      if (token) confirmations.push({ to, token });
      if (behaviour === 'drop-after') return socket.destroy();
      return say(`250 2.0.0 Ok: queued as ${taken.length}`);
    };
    const command = (line: string) => {
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'EHLO') return say('250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 50000000');
      if (verb === 'DATA') {
        inText = true;
        return say('354 go on');
      }
      if (verb === 'QUIT') return say('221 bye');
      if (verb === 'RCPT') to = (/<([^>]*)>/.exec(line)?.[1] ?? '').toLowerCase();
      return say('250 2.1.0 Ok');
    };
    say('220 sink ESMTP');
    socket.on('data', (chunk: Buffer) => {
      pending = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
      while (!isSilent && !socket.destroyed) {
        const end = inText ? pending.indexOf(END) : pending.indexOf('\r\n');
        if (end < 0) return;
        const part = pending.subarray(0, end);
        pending = pending.subarray(end + (inText ? END.length : 2));
        if (inText) {
          inText = false;
          endOfText(part);
        } else command(part.toString('latin1'));
      }
    });
  };

  const server = createServer(serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => void server.close());
  return {
    port: (server.address() as AddressInfo).port,
    taken,
    confirmations,
    shown,
    behave: () => {
      behaves = true;
    },
  };
}
