import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import { answered, SmtpConversation, SmtpFailure, type SmtpReply } from './smtp-conversation.ts';

export interface SmtpTimeouts {
  connectMs: number;
  greetingMs: number;
  /** Silence of the server in the middle of a conversation. */
  silenceMs: number;
}

export interface SmtpTarget {
  host: string;
  port: number;
  /** TLS from the first byte. */
  secure: boolean;
  requireTls: boolean;
  ignoreTls: boolean;
  tls: ConnectionOptions;
  /** How we call ourselves. */
  name: string;
  auth: { user: string; pass: string } | undefined;
  /** Credentials may be sent without TLS, to any host. */
  allowPlainAuth: boolean;
  timeouts: SmtpTimeouts;
}

/** What the server said it can do. */
export interface SmtpAbilities {
  pipelining: boolean;
  utf8: boolean;
  eightBit: boolean;
  /** Whether it wants to be told, and the most it takes; 0: it does not say. */
  size: { told: boolean; max: number };
}

/** `smtp(s)://user:pass@host:port`, with nodemailer's options behind a `?` (`requireTLS=true`, `tls.rejectUnauthorized=false`). */
export function smtpTarget(url: string, timeouts: SmtpTimeouts, allowPlainAuth = false): SmtpTarget {
  const { auth, host = 'localhost', port, secure, ...more } = parseConnectionUrl(url);
  const options = more as { requireTLS?: boolean; ignoreTLS?: boolean; tls?: ConnectionOptions; name?: string };
  return {
    host,
    port: Number(port) || (secure ? 465 : 587),
    secure: secure === true,
    requireTls: options.requireTLS === true,
    ignoreTls: options.ignoreTLS === true,
    tls: { ...(isIP(host) === 0 && { servername: host }), ...options.tls },
    name: options.name ?? ownName(),
    auth: auth?.user ? { user: auth.user, pass: auth.pass ?? '' } : undefined,
    allowPlainAuth,
    timeouts,
  };
}

function ownName(): string {
  const name = hostname();
  if (isIP(name)) return `[${name}]`;
  return name.includes('.') ? name : '[127.0.0.1]';
}

export interface OpenSmtp {
  conversation: SmtpConversation;
  abilities: SmtpAbilities;
}

/** Connects, greets, turns to TLS where the server can, and logs in. */
export async function openSmtp(target: SmtpTarget, signal?: AbortSignal): Promise<OpenSmtp> {
  signal?.throwIfAborted();
  const { timeouts } = target;
  let conversation: SmtpConversation | undefined;
  const socket = target.secure ? connectTls({ ...target.tls, ...where(target) }) : connectPlain(where(target));
  // Whoever waits hears of it by other ways; without a listener it would end the process.
  socket.on('error', () => {});
  const hangUp = () => socket.destroy(new Error('stopped while connecting'));
  signal?.addEventListener('abort', hangUp, { once: true });
  try {
    await within(timeouts.connectMs, socket, 'connecting', once(socket, target.secure ? 'secureConnect' : 'connect'));
    conversation = new SmtpConversation(socket, timeouts.silenceMs);
    const greeting = await within(timeouts.greetingMs, socket, 'waiting for a greeting', conversation.reply());
    if (greeting.code !== 220) throw answered(greeting);
    return { conversation, abilities: await introduce(conversation, target) };
  } catch (error) {
    conversation?.cut('could not be opened');
    socket.destroy();
    throw plainer(error);
  } finally {
    signal?.removeEventListener('abort', hangUp);
  }
}

const where = ({ host, port }: SmtpTarget) => ({ host, port });

/** Of several addresses that all refuse, Node gives an error without words. */
function plainer(error: unknown): unknown {
  if (error instanceof AggregateError) return error.errors[0] ?? error;
  return error;
}

async function within<T>(ms: number, socket: Socket, what: string, work: Promise<T>): Promise<T> {
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    socket.destroy();
  }, ms);
  // A socket that was destroyed before it was connected tells nobody but its `close`.
  let closed: (() => void) | undefined;
  const close = new Promise<never>((_, reject) => {
    closed = () => reject(new SmtpFailure('lost', 'the connection was closed'));
    socket.once('close', closed);
  });
  try {
    return await Promise.race([work, close]);
  } catch (error) {
    if (timedOut) throw new SmtpFailure('lost', `timed out after ${ms / 1000} s while ${what}`);
    throw error;
  } finally {
    clearTimeout(timer);
    if (closed) socket.off('close', closed);
    close.catch(() => {});
    work.catch(() => {});
  }
}

async function introduce(conversation: SmtpConversation, target: SmtpTarget): Promise<SmtpAbilities> {
  let hello = await greet(conversation, target);
  const wantsTls = !target.secure && (target.requireTls || (!target.ignoreTls && offers(hello, 'STARTTLS')));
  if (wantsTls) {
    const go = await conversation.command('STARTTLS');
    if (go.code !== 220) throw answered(go);
    await conversation.moveTo(async (plain) => {
      const secure = connectTls({ ...target.tls, socket: plain });
      await within(target.timeouts.greetingMs, secure, 'agreeing on TLS', once(secure, 'secureConnect'));
      return secure;
    });
    // What it said before, it may have been made to say.
    hello = await greet(conversation, target);
  }
  requireTlsForLogin(target, wantsTls);
  if (target.auth && offers(hello, 'AUTH')) await logIn(conversation, hello, target.auth);
  return abilitiesOf(hello);
}

/**
 * Whoever is on the way to the server can take STARTTLS out of its answer, and would then be given the password. What
 * never leaves this machine is spared. `lost` counts as an unreachable server: mail waits, and no attempt is used up.
 */
function requireTlsForLogin({ auth, secure, allowPlainAuth, host, ignoreTls }: SmtpTarget, hasTls: boolean): void {
  if (!auth || secure || hasTls || allowPlainAuth || isLoopback(host)) return;
  const why = ignoreTls ? 'SMTP_URL has ignoreTLS=true' : `${host} offers no STARTTLS`;
  throw new SmtpFailure(
    'lost',
    `SMTP_URL has a password and ${why}: it is not sent over a connection without TLS. Use smtps:// or a port with ` +
      'STARTTLS, or set SMTP_ALLOW_PLAIN_AUTH=true if you trust the network up to the server',
  );
}

/** By what SMTP_URL says, and not by what a name resolves to. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));

async function greet(conversation: SmtpConversation, { name, requireTls }: SmtpTarget): Promise<SmtpReply> {
  const hello = await conversation.command(`EHLO ${name}`);
  if (hello.code === 250) return hello;
  if (hello.code === 421 || requireTls) throw answered(hello);
  const plain = await conversation.command(`HELO ${name}`);
  if (plain.code !== 250) throw answered(plain);
  return { ...plain, text: '' };
}

/** The words behind an ability, e.g. "PLAIN LOGIN" behind AUTH; undefined: it is not offered. */
function ability({ text }: SmtpReply, name: string): string | undefined {
  const line = text.split('\n').find((one) => one.slice(4).toUpperCase().split(/[ =]/, 1)[0] === name);
  return line?.slice(4 + name.length).trim();
}

const offers = (hello: SmtpReply, name: string): boolean => ability(hello, name) !== undefined;

function abilitiesOf(hello: SmtpReply): SmtpAbilities {
  return {
    pipelining: offers(hello, 'PIPELINING'),
    utf8: offers(hello, 'SMTPUTF8'),
    eightBit: offers(hello, '8BITMIME'),
    size: { told: offers(hello, 'SIZE'), max: Number(ability(hello, 'SIZE')) || 0 },
  };
}

async function logIn(
  conversation: SmtpConversation,
  hello: SmtpReply,
  { user, pass }: { user: string; pass: string },
): Promise<void> {
  const methods = ability(hello, 'AUTH')?.toUpperCase().split(/[ =]+/) ?? [];
  const coded = (text: string) => Buffer.from(text).toString('base64');
  const ask = async (line: string, expected: number): Promise<SmtpReply> => {
    const reply = await conversation.command(line);
    if (reply.code !== expected) throw answered(reply);
    return reply;
  };
  if (methods.includes('PLAIN') || !methods.some((method) => method === 'LOGIN' || method === 'CRAM-MD5')) {
    await ask(`AUTH PLAIN ${coded(`\0${user}\0${pass}`)}`, 235);
  } else if (methods.includes('LOGIN')) {
    await ask('AUTH LOGIN', 334);
    await ask(coded(user), 334);
    await ask(coded(pass), 235);
  } else {
    const { text } = await ask('AUTH CRAM-MD5', 334);
    const challenge = Buffer.from(text.slice(4), 'base64');
    await ask(coded(`${user} ${createHmac('md5', pass).update(challenge).digest('hex')}`), 235);
  }
}
