import { domainToASCII } from 'node:url';
import MailComposer from 'nodemailer/lib/mail-composer';
import { answerText, outcomeOf, providerIdOf, type SendOutcome } from './send-outcome.ts';
import { Slots } from './slots.ts';
import { SmtpSession, type SmtpTarget, type SmtpTimeouts, smtpTarget } from './smtp-session.ts';

export type { SendOutcome } from './send-outcome.ts';

export interface MailAddress {
  email: string;
  name?: string | null;
}

export interface OutgoingMail {
  /** Makes the Message-ID, together with the sender's domain: the same mail always has the same one. */
  id: string;
  from: MailAddress;
  to: MailAddress;
  replyTo?: string | null;
  subject: string;
  html: string;
}

export interface Mailer {
  /** As many as there may be connections. Take one before sending, give it back after. */
  slots: Slots;
  /** Never throws. An aborted signal cuts the connection at once. */
  send(mail: OutgoingMail, signal?: AbortSignal): Promise<SendOutcome>;
  /** Hard cuts what is on the wire; otherwise only idle connections end, and busy ones after their mail. */
  close(hard?: boolean): void;
}

export interface MailerOptions {
  url: string;
  maxConnections: number;
  timeouts?: Partial<SmtpTimeouts>;
}

const TIMEOUTS: SmtpTimeouts = { connectMs: 10_000, greetingMs: 10_000, silenceMs: 60_000 };
/** Most servers hang up on a silent client after a minute or more. */
const IDLE_MS = 20_000;

export function messageId({ id, from }: Pick<OutgoingMail, 'id' | 'from'>): string {
  const domain = from.email.slice(from.email.lastIndexOf('@') + 1);
  return `<${id}@${domainToASCII(domain) || domain}>`;
}

export function createMailer({ url, maxConnections, timeouts }: MailerOptions): Mailer {
  const pool = new Pool(smtpTarget(url, { ...TIMEOUTS, ...timeouts }));
  return {
    slots: new Slots(maxConnections),
    send: (mail, signal) => send(pool, mail, signal),
    close: (hard) => pool.close(hard),
  };
}

async function send(pool: Pool, mail: OutgoingMail, signal?: AbortSignal): Promise<SendOutcome> {
  let envelope: { from: string | false; to: string[] };
  let raw: Buffer;
  try {
    ({ envelope, raw } = await compose(mail));
  } catch (error) {
    return { kind: 'refused', reason: `cannot be written as a mail: ${answerText(error)}` };
  }
  for (;;) {
    const idle = pool.takeIdle();
    let session: SmtpSession;
    try {
      session = idle ?? (await pool.open(signal));
    } catch (error) {
      return { kind: 'unreachable', reason: answerText(error) };
    }
    const hangUp = () => session.close(true);
    signal?.addEventListener('abort', hangUp, { once: true });
    if (signal?.aborted) hangUp();
    const exchange = await session.send(envelope, raw);
    await pool.giveBack(session, exchange.accepted);
    signal?.removeEventListener('abort', hangUp);
    if (exchange.accepted) return { kind: 'sent', providerMessageId: providerIdOf(exchange.info) };
    if (signal?.aborted && !exchange.handedOver) return { kind: 'unreachable', reason: 'stopped before it was sent' };
    // A connection that died while it was idle says nothing about the mail: the next one is a new one in the end.
    if (idle && !exchange.handedOver && isLost(exchange.error)) continue;
    return outcomeOf(exchange.error, exchange.handedOver);
  }
}

const isLost = ({ responseCode }: { responseCode?: number | undefined }) => !responseCode || responseCode === 421;

/** Nothing in a mail may read files or fetch addresses, whatever its text says. */
async function compose(mail: OutgoingMail) {
  const composed = new MailComposer({
    messageId: messageId(mail),
    from: { name: mail.from.name ?? '', address: mail.from.email },
    to: { name: mail.to.name ?? '', address: mail.to.email },
    ...(mail.replyTo ? { replyTo: mail.replyTo } : {}),
    subject: mail.subject,
    html: mail.html,
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  return { envelope: composed.getEnvelope(), raw: await composed.build() };
}

/** Sessions that wait for the next mail. How many there can be is decided by the slots. */
class Pool {
  private readonly idle: { session: SmtpSession; timer: NodeJS.Timeout }[] = [];
  private readonly all = new Set<SmtpSession>();
  private readonly target: SmtpTarget;
  private closed = false;

  constructor(target: SmtpTarget) {
    this.target = target;
  }

  takeIdle(): SmtpSession | undefined {
    const entry = this.idle.pop();
    clearTimeout(entry?.timer);
    return entry?.session;
  }

  async open(signal?: AbortSignal): Promise<SmtpSession> {
    const session = await SmtpSession.open(this.target, signal);
    this.all.add(session);
    session.onEnd(() => this.forget(session));
    return session;
  }

  async giveBack(session: SmtpSession, clean: boolean): Promise<void> {
    if (!session.usable) return;
    if (!this.closed && (clean || (await session.reset()))) {
      const timer = setTimeout(() => session.close(), IDLE_MS);
      this.idle.push({ session, timer: timer.unref() });
    } else session.close();
  }

  close(hard = false): void {
    this.closed = true;
    const ending = hard ? [...this.all] : this.idle.map(({ session }) => session);
    for (const session of ending) session.close(hard);
  }

  private forget(session: SmtpSession): void {
    this.all.delete(session);
    const at = this.idle.findIndex((entry) => entry.session === session);
    if (at < 0) return;
    clearTimeout(this.idle[at]?.timer);
    this.idle.splice(at, 1);
  }
}
