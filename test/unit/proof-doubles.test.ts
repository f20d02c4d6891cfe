// What the proof measures with must not lie itself.
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { SmtpMessage } from '../../platform/mime/smtp-message.ts';
import { SmtpSession, smtpTarget } from '../../platform/smtp/session.ts';
import { watchTemporal } from '../../proof/chaos/temporal-watch.ts';
import { proofClient } from '../../proof/client.ts';
import { startSmtpSink } from '../../proof/smtp-sink.ts';

const TIMEOUTS = { connectMs: 60_000, greetingMs: 60_000, silenceMs: 60_000 };

const mailTo = (to: string): SmtpMessage => ({
  from: 'shop@demo.localhost',
  to,
  utf8: false,
  raw: Buffer.from(`Message-ID: <${to}>\r\n\r\nHello\r\n`),
});

describe('the SMTP server of the proof', () => {
  it('does not answer commands behind a mail that it hangs at', async () => {
    const sink = await startSmtpSink(1, { hang: 100 });
    const timeouts = { ...TIMEOUTS, silenceMs: 3_000 };
    const session = await SmtpSession.open(smtpTarget(`smtp://127.0.0.1:${sink.port}`, timeouts));
    const hanging = mailTo('ann@example.com');
    const next = mailTo('bob@example.com');
    const exchange = await session.send(hanging, next);
    expect(exchange).to.include({ accepted: false, handedOver: true });
    expect(sink.taken).to.deep.equal([]);
    session.close(true);
  });

  it('remembers every mail that it answers with 250', async () => {
    const sink = await startSmtpSink(1, {});
    const session = await SmtpSession.open(smtpTarget(`smtp://127.0.0.1:${sink.port}`, TIMEOUTS));
    const mails = ['ann@example.com', 'bob@example.com', 'cy@example.com'].map(mailTo);
    for (const [n, mail] of mails.entries())
      expect(await session.send(mail, mails[n + 1])).to.include({ accepted: true });
    expect(sink.taken.map(({ messageId }) => messageId)).to.deep.equal(mails.map(({ to }) => to));
    session.close(true);
  });
});

describe('the supervisor of Temporal in the proof', () => {
  it('restarts a server whose log names the lost shard without a pause', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everpost-watch-'));
    const log = join(folder, 'temporal.log');
    writeFileSync(log, '');
    const isRestarted = new Promise<void>((resolve) => {
      const watch = watchTemporal(
        log,
        async () => {
          watch.stop();
          resolve();
        },
        20,
      );
    });
    const writing = setInterval(() => appendFileSync(log, 'level=ERROR error="shard status unknown"\n'), 5);
    await isRestarted;
    clearInterval(writing);
    rmSync(folder, { recursive: true });
  });

  it('leaves a server alone that gets its shard back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everpost-watch-'));
    const log = join(folder, 'temporal.log');
    writeFileSync(log, 'level=ERROR error="shard status unknown"\n');
    let restarts = 0;
    const watch = watchTemporal(log, async () => void restarts++, 2);
    for (let looks = 0; looks < 20; looks++) await sleep(2);
    watch.stop();
    expect(restarts).to.equal(0);
    rmSync(folder, { recursive: true });
  });
});

describe('the client of the proof', () => {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  /** Answers with one after the other; undefined drops the connection. */
  async function answering(answers: ({ status: number; body: object } | undefined)[]) {
    const server = createServer((request, response) => {
      request.resume();
      const answer = answers.shift();
      if (!answer) return void request.socket.destroy();
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => {
      server.close();
      server.closeAllConnections();
    });
    return proofClient([`http://127.0.0.1:${(server.address() as AddressInfo).port}`], 'sk');
  }

  const reused = (originalResponse: object | null) => ({
    status: 409,
    body: { error: { code: 'IDEMPOTENCY_KEY_REUSED', details: { originalResponse } } },
  });

  it('takes the ids of a used key for the answer that was lost', async () => {
    const client = await answering([undefined, reused(null), reused({ event: 'e1' })]);
    const reply = await client.insist('POST', '/v1/track', {});
    expect(reply).to.include({ outcome: 'accepted' });
    expect(reply.body?.data).to.deep.equal({ event: 'e1' });
  });

  it('counts any other 409 as rejected', async () => {
    const client = await answering([{ status: 409, body: { error: { code: 'CONFLICT' } } }]);
    expect(await client.insist('POST', '/campaigns/1/pause')).to.include({ outcome: 'rejected' });
  });
});
