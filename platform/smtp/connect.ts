import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import { failureFromReply, SmtpConversation, SmtpFailure, type SmtpReply } from './conversation.ts';

export interface SmtpTimeouts {
  connectMs: number;
  greetingMs: number;
  /** The longest silence of the server between two replies. */
  silenceMs: number;
}

export const DEFAULT_TIMEOUTS: SmtpTimeouts = { connectMs: 10_000, greetingMs: 10_000, silenceMs: 60_000 };

export interface SmtpTarget {
  host: string;
  port: number;
  /** TLS from the first byte. */
  secure: boolean;
  requireTls: boolean;
  ignoreTls: boolean;
  tls: ConnectionOptions;
  /** The client name in EHLO. */
  name: string;
  auth: { user: string; pass: string } | undefined;
  /** Whether credentials may be sent without TLS to any host. */
  allowPlainAuth: boolean;
  timeouts: SmtpTimeouts;
}

/** The service extensions that the server offers in its EHLO reply. */
export interface SmtpExtensions {
  pipelining: boolean;
  utf8: boolean;
  eightBit: boolean;
  /** SIZE (RFC 1870) and the largest message the server takes; 0 when it names no limit. */
  size: { supported: boolean; max: number };
}

/** Parses `smtp(s)://user:pass@host:port` with nodemailer's options as query (`requireTLS=true`, `tls.rejectUnauthorized=false`). */
export function smtpTarget(url: string, timeouts: SmtpTimeouts, allowPlainAuth = false): SmtpTarget {
  const { auth, host = 'localhost', port, secure, ...rest } = parseConnectionUrl(url);
  const options = rest as { requireTLS?: boolean; ignoreTLS?: boolean; tls?: ConnectionOptions; name?: string };
  return {
    host,
    port: Number(port) || (secure ? 465 : 587),
    secure: secure === true,
    requireTls: options.requireTLS === true,
    ignoreTls: options.ignoreTLS === true,
    tls: { ...(isIP(host) === 0 && { servername: host }), ...options.tls },
    name: options.name ?? clientName(),
    auth: auth?.user ? { user: auth.user, pass: auth.pass ?? '' } : undefined,
    allowPlainAuth,
    timeouts,
  };
}

/** RFC 5321, 4.1.3: a host without a domain name introduces itself with an address literal. */
function clientName(): string {
  const name = hostname();
  if (isIP(name)) return `[${name}]`;
  return name.includes('.') ? name : '[127.0.0.1]';
}

export interface OpenSmtp {
  conversation: SmtpConversation;
  extensions: SmtpExtensions;
}

/** Connects, sends EHLO, upgrades to TLS when the server offers it, and logs in. */
export async function openSmtp(target: SmtpTarget, signal?: AbortSignal): Promise<OpenSmtp> {
  signal?.throwIfAborted();
  const { timeouts } = target;
  let conversation: SmtpConversation | undefined;
  const socket = target.secure ? connectTls({ ...target.tls, ...endpoint(target) }) : connectPlain(endpoint(target));
  // Errors reach the caller through `once` and `close`; an `error` event without a listener would end the process.
  socket.on('error', () => {});
  const abort = () => socket.destroy(new Error('stopped while connecting'));
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await withTimeout(
      timeouts.connectMs,
      socket,
      'connecting',
      once(socket, target.secure ? 'secureConnect' : 'connect'),
    );
    conversation = new SmtpConversation(socket, timeouts.silenceMs);
    const greeting = await withTimeout(timeouts.greetingMs, socket, 'waiting for a greeting', conversation.reply());
    if (greeting.code !== 220) throw failureFromReply(greeting);
    return { conversation, extensions: await handshake(conversation, target) };
  } catch (error) {
    conversation?.cut('could not be opened');
    socket.destroy();
    throw firstError(error);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

const endpoint = ({ host, port }: SmtpTarget) => ({ host, port });

/** When all addresses of a host refuse, Node throws an AggregateError without a message. */
function firstError(error: unknown): unknown {
  if (error instanceof AggregateError) return error.errors[0] ?? error;
  return error;
}

async function withTimeout<T>(ms: number, socket: Socket, activity: string, work: Promise<T>): Promise<T> {
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    socket.destroy();
  }, ms);
  // A socket that is destroyed before it is connected emits only `close`.
  let onClose: (() => void) | undefined;
  const closed = new Promise<never>((_, reject) => {
    onClose = () => reject(new SmtpFailure('lost', 'the connection was closed'));
    socket.once('close', onClose);
  });
  try {
    return await Promise.race([work, closed]);
  } catch (error) {
    if (timedOut) throw new SmtpFailure('lost', `timed out after ${ms / 1000} s while ${activity}`);
    throw error;
  } finally {
    clearTimeout(timer);
    if (onClose) socket.off('close', onClose);
    closed.catch(() => {});
    work.catch(() => {});
  }
}

async function handshake(conversation: SmtpConversation, target: SmtpTarget): Promise<SmtpExtensions> {
  let hello = await sendHello(conversation, target);
  const wantsTls = !target.secure && (target.requireTls || (!target.ignoreTls && offers(hello, 'STARTTLS')));
  if (wantsTls) {
    const ready = await conversation.command('STARTTLS');
    if (ready.code !== 220) throw failureFromReply(ready);
    await conversation.moveTo(async (plain) => {
      const secure = connectTls({ ...target.tls, socket: plain });
      await withTimeout(target.timeouts.greetingMs, secure, 'agreeing on TLS', once(secure, 'secureConnect'));
      return secure;
    });
    // RFC 3207, 4.2: extensions announced before TLS may have been tampered with.
    hello = await sendHello(conversation, target);
  }
  requireTlsForLogin(target, wantsTls);
  if (target.auth && offers(hello, 'AUTH')) await logIn(conversation, hello, target.auth);
  return extensionsOf(hello);
}

/**
 * Refuses to send credentials without TLS: an attacker on the path can strip STARTTLS from the reply and read the
 * password. Loopback hosts are exempt. `lost` counts as an unreachable server: mail waits and no attempt is counted.
 */
function requireTlsForLogin({ auth, secure, allowPlainAuth, host, ignoreTls }: SmtpTarget, hasTls: boolean): void {
  if (!auth || secure || hasTls || allowPlainAuth || isLoopback(host)) return;
  const cause = ignoreTls ? 'SMTP_URL has ignoreTLS=true' : `${host} offers no STARTTLS`;
  throw new SmtpFailure(
    'lost',
    `SMTP_URL has a password and ${cause}: it is not sent over a connection without TLS. Use smtps:// or a port with ` +
      'STARTTLS, or set SMTP_ALLOW_PLAIN_AUTH=true if you trust the network up to the server',
  );
}

/** Judged by the host in SMTP_URL, not by the addresses that a name resolves to. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));

async function sendHello(conversation: SmtpConversation, { name, requireTls }: SmtpTarget): Promise<SmtpReply> {
  const hello = await conversation.command(`EHLO ${name}`);
  if (hello.code === 250) return hello;
  if (hello.code === 421 || requireTls) throw failureFromReply(hello);
  const basic = await conversation.command(`HELO ${name}`);
  if (basic.code !== 250) throw failureFromReply(basic);
  return { ...basic, text: '' };
}

/** Returns the parameters of an extension, such as "PLAIN LOGIN" of AUTH, or undefined when it is not offered. */
function parametersOf({ text }: SmtpReply, name: string): string | undefined {
  const line = text.split('\n').find((candidate) => candidate.slice(4).toUpperCase().split(/[ =]/, 1)[0] === name);
  return line?.slice(4 + name.length).trim();
}

const offers = (hello: SmtpReply, name: string): boolean => parametersOf(hello, name) !== undefined;

function extensionsOf(hello: SmtpReply): SmtpExtensions {
  return {
    pipelining: offers(hello, 'PIPELINING'),
    utf8: offers(hello, 'SMTPUTF8'),
    eightBit: offers(hello, '8BITMIME'),
    size: { supported: offers(hello, 'SIZE'), max: Number(parametersOf(hello, 'SIZE')) || 0 },
  };
}

async function logIn(
  conversation: SmtpConversation,
  hello: SmtpReply,
  { user, pass }: { user: string; pass: string },
): Promise<void> {
  const methods = parametersOf(hello, 'AUTH')?.toUpperCase().split(/[ =]+/) ?? [];
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const command = async (line: string, expected: number): Promise<SmtpReply> => {
    const reply = await conversation.command(line);
    if (reply.code !== expected) throw failureFromReply(reply);
    return reply;
  };
  if (methods.includes('PLAIN') || !methods.some((method) => method === 'LOGIN' || method === 'CRAM-MD5')) {
    await command(`AUTH PLAIN ${base64(`\0${user}\0${pass}`)}`, 235);
  } else if (methods.includes('LOGIN')) {
    await command('AUTH LOGIN', 334);
    await command(base64(user), 334);
    await command(base64(pass), 235);
  } else {
    const { text } = await command('AUTH CRAM-MD5', 334);
    const challenge = Buffer.from(text.slice(4), 'base64');
    await command(base64(`${user} ${createHmac('md5', pass).update(challenge).digest('hex')}`), 235);
  }
}
