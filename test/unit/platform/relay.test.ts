import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import type { SmtpMessage } from '../../../platform/mime/smtp-message.ts';
import type { SendOutcome } from '../../../platform/smtp/outcome.ts';
import { Relay, type RelayOptions } from '../../../platform/smtp/relay.ts';
import { parseRelays } from '../../../platform/smtp/relay-settings.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

const mail = (to = 'ann@example.com'): SmtpMessage => ({
  from: 'shop@demo.localhost',
  to,
  utf8: false,
  raw: Buffer.from('Subject: x\r\n\r\nHello\r\n'),
});

const LONG_PAUSE_MS = 3_000_000;

function relayTo(url: string, more: Partial<RelayOptions> = {}): Relay {
  const [settings] = parseRelays(url);
  if (!settings) throw new Error('no relay');
  return new Relay({ ...settings, maxConnections: 2, pauseMs: 300, ...more });
}

async function send(relay: Relay, message = mail(), signal?: AbortSignal): Promise<SendOutcome> {
  const connection = await relay.connect(signal);
  if ('kind' in connection) return connection;
  const outcome = await connection.send(message);
  await connection.release();
  return outcome;
}

const usable = (relay: Relay) => eventually(() => relay.leftOut === undefined, { what: 'the end of the pause' });

describe('relay', () => {
  let smtp: SmtpStandIn;
  let relay: Relay;

  before(async () => {
    smtp = await startSmtp();
  });
  after(() => smtp.close());
  beforeEach(async () => {
    await smtp.reopen();
    smtp.behave();
    smtp.mails.length = 0;
    relay = relayTo(smtp.url);
  });
  afterEach(() => relay.close(true));

  it('sends mail over pooled connections and counts the outcomes', async () => {
    const before = smtp.connections().total;
    expect((await send(relay)).kind).to.equal('sent');
    smtp.misbehave({ at: 'recipient', do: { code: 550 }, times: 1 });
    expect((await send(relay)).kind).to.equal('refused');
    expect((await send(relay)).kind).to.equal('sent');
    expect(smtp.connections().total - before).to.equal(1);
    expect(relay.connections).to.deep.equal({ busy: 0, idle: 1 });
    expect(relay.outcomes).to.include({ sent: 2, refused: 1, unknown: 0 });
  });

  it('has a name without credentials', () => {
    const named = relayTo('smtp://me:secret@Mail.Example.com?weight=3&maxConnections=7&ratePerSecond=5', {
      maxConnections: 7,
    });
    expect(named).to.include({ name: 'mail.example.com:587', weight: 3, maxConnections: 7, ratePerSecond: 5 });
  });

  it('is left out while the connection is refused, and returns by itself', async () => {
    await smtp.close();
    const outcome = await send(relay);
    expect(outcome).to.have.property('reason').that.includes('ECONNREFUSED');
    expect(relay.leftOut?.reason).to.include('ECONNREFUSED');
    expect(relay.delay()).to.be.above(0);
    await smtp.reopen();
    await usable(relay);
    expect(relay.delay()).to.equal(0);
    expect((await send(relay)).kind).to.equal('sent');
  });

  it('opens no connection while it is left out', async () => {
    relay = relayTo(smtp.url, { pauseMs: LONG_PAUSE_MS });
    smtp.misbehave({ at: 'connect', do: { code: 421, text: 'too many connections' }, times: 1 });
    expect(await send(relay)).to.deep.equal({ kind: 'unreachable', reason: '421 too many connections' });
    const before = smtp.connections().total;
    expect(await send(relay)).to.deep.equal({ kind: 'unreachable', reason: '421 too many connections' });
    expect(smtp.connections().total).to.equal(before);
    expect(smtp.mails).to.deep.equal([]);
  });

  it('is left out after a 421 at MAIL, until a mail is accepted again', async () => {
    smtp.misbehave({ at: 'sender', do: { code: 421, text: 'later' } });
    const patient = relayTo(smtp.url, { pauseMs: LONG_PAUSE_MS });
    for (const each of [patient, relay])
      expect(await send(each)).to.deep.equal({ kind: 'unreachable', reason: '421 later' });
    expect(patient.leftOut?.reason).to.equal('421 later');
    patient.close(true);
    smtp.behave();
    await usable(relay);
    expect((await send(relay)).kind).to.equal('sent');
  });

  it('doubles the pause with every failure, up to the longest', async () => {
    relay = relayTo(smtp.url, { pauseMs: 120 });
    await smtp.close();
    await send(relay);
    const ends = new Set<number>();
    await eventually(() => ends.add(relay.leftOut?.until ?? 0).size > 8, { what: 'nine pauses' });
    // Two ends are a pause apart, less what a timer of a busy process comes too early: 8 ms at first, then 120, not 64.
    const distances = [...ends].map((end, index) => end - ([...ends][index - 1] ?? end));
    expect(distances[1]).to.be.at.least(5);
    expect(distances.at(-1)).to.be.at.least(90);
  });

  for (const [what, misbehave] of [
    ['421 at RCPT', { at: 'recipient', do: { code: 421, text: 'later' } }],
    ['421 after DATA', { at: 'message', do: { code: 421, text: 'later' } }],
  ] as const)
    it(`defers the mail for its domain after a ${what}, and stays usable`, async () => {
      smtp.misbehave(misbehave);
      expect(await send(relay)).to.deep.equal({ kind: 'deferred', reason: '421 later', concerns: 'domain' });
      expect(relay.leftOut).to.equal(undefined);
    });

  it('stays usable when a 4xx at MAIL refuses one sender', async () => {
    smtp.misbehave({ at: 'sender', do: { code: 451, text: 'sender domain not found' }, times: 1 });
    expect(await send(relay)).to.include({ kind: 'deferred', concerns: 'recipient' });
    expect(relay.leftOut).to.equal(undefined);
  });

  it('is left out when it is silent after MAIL or after the text', async () => {
    for (const [at, kind] of [
      ['sender', 'deferred'],
      ['accepted', 'unknown'],
    ] as const) {
      const silent = relayTo(smtp.url, { pauseMs: LONG_PAUSE_MS, timeouts: { silenceMs: 3_000 } });
      smtp.misbehave({ at, do: 'hang', times: 1 });
      expect((await send(silent)).kind).to.equal(kind);
      expect(silent.leftOut).to.not.equal(undefined);
      silent.close(true);
    }
  });

  it('only opens no further connections while others work', async () => {
    relay = relayTo(smtp.url, { pauseMs: LONG_PAUSE_MS });
    const first = await relay.connect();
    if ('kind' in first) throw new Error(first.reason);
    expect((await first.send(mail())).kind).to.equal('sent');
    smtp.misbehave({ at: 'connect', do: { code: 421, text: 'one connection only' } });
    expect(await relay.connect()).to.deep.equal({ kind: 'unreachable', reason: '421 one connection only' });
    expect(relay.leftOut).to.equal(undefined);
    expect(relay.delay()).to.be.above(0);
    expect(relay.delay(true)).to.equal(0);
    expect((await first.send(mail())).kind).to.equal('sent');
    await first.release();
    expect(relay.delay()).to.equal(0);
    expect((await send(relay)).kind).to.equal('sent');
  });

  it('stays usable when a caller stops', async () => {
    smtp.misbehave({ at: 'connect', do: 'hang' });
    const stop = new AbortController();
    const before = smtp.connections().total;
    const stopped = send(relay, mail(), stop.signal);
    await eventually(() => smtp.connections().total > before, { what: 'the connection' });
    stop.abort();
    expect((await stopped).kind).to.equal('unreachable');
    smtp.behave();
    smtp.misbehave({ at: 'accepted', do: 'hang', times: 1 });
    const cut = new AbortController();
    const sending = send(relay, mail(), cut.signal);
    await smtp.received(1);
    cut.abort();
    expect((await sending).kind).to.equal('unknown');
    expect(relay.leftOut).to.equal(undefined);
    expect((await send(relay)).kind).to.equal('sent');
  });

  it('tries one connection at a time while it is left out', async () => {
    const sockets = new Set<Socket>();
    let most = 0;
    let isOpen = false;
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)));
      most = Math.max(most, sockets.size);
      if (isOpen) socket.on('data', () => socket.write('250 fine\r\n')).write('220 hello\r\n');
      else socket.end('554 not now\r\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const other = relayTo(`smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, { pauseMs: 500 });
    await other.connect();
    const all = () => Promise.all(Array.from({ length: 10 }, () => other.connect()));
    most = 0;
    const until = () => other.leftOut?.until;
    const first = until();
    await eventually(async () => (await all()).every((result) => 'kind' in result) && until() !== first, {
      what: 'a second pause',
    });
    expect(most).to.be.at.most(1);
    isOpen = true;
    await usable(other);
    for (const result of await all()) expect(result).to.not.have.property('kind');
    other.close(true);
    server.close();
  });
});
