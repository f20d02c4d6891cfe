import { connect } from 'node:net';
import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { applyNotices } from '../../services/emails/apply-notices.ts';
import { returnPath, returnToken } from '../../services/emails/return-token.ts';
import { listenForReturnedMail, type ReturnedMailListener } from '../../worker/returned-mail.ts';
import { addMail, mailById } from '../support/ledger.ts';
import { bounceReport, complaintReport } from '../support/reports.ts';
import { handOver } from '../support/smtp-client.ts';
import { silent } from '../support/temporal-work.ts';
import { makeProject, openWorld, type World } from '../support/world.ts';

const keys = ['a secret key for returned mail'] as const;

describe('the listener for returned mail', () => {
  let world: World;
  let listener: ReturnedMailListener;
  let project: string;

  before(async () => {
    world = await openWorld();
    project = (await makeProject(world.db)).id;
    listener = await listenForReturnedMail({ port: 0, host: '127.0.0.1', db: world.db, keys, log: silent });
  });
  after(async () => {
    await listener.stop();
    await world.close();
  });

  const sent = async () => {
    const id = await addMail(world.db, { project, status: 'SENT' });
    await world.db('emails').where({ id }).update({ sentAt: new Date() });
    return { id, path: returnPath(returnToken(keys, id), 'bounce.shop.example') };
  };
  const stateOf = async (id: string) => {
    await applyNotices(world.db);
    return (await mailById(world.db, id)).status;
  };
  const codeOf = (result: Promise<unknown>) =>
    result.then(
      () => 250,
      (error: { responseCode?: number }) => error.responseCode,
    );

  it('takes a bounce and a complaint', async () => {
    const [bounced, disliked] = [await sent(), await sent()];
    await handOver(listener.port, { to: [bounced.path], raw: bounceReport({ to: bounced.path }) });
    await handOver(listener.port, { to: [disliked.path], raw: complaintReport({ to: disliked.path }) });
    expect(await stateOf(bounced.id)).to.equal('BOUNCED');
    expect(await stateOf(disliked.id)).to.equal('COMPLAINED');
  });

  it('takes the report with a whole mail of ten megabytes behind it, and reads the report', async () => {
    const { id, path } = await sent();
    const raw = bounceReport({ to: path, headers: `Subject: Hello\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(150_000)}` });
    await handOver(listener.port, { to: [path], raw });
    expect(await stateOf(id)).to.equal('BOUNCED');
  });

  it('refuses what is addressed to nobody, with a forged token too', async () => {
    const { id } = await sent();
    const forged = returnPath(returnToken(['somebody else’s secret key'], id), 'bounce.shop.example');
    for (const to of [forged, 'ann@bounce.shop.example', `b-${newId()}@bounce.shop.example`])
      expect(await codeOf(handOver(listener.port, { to: [to], raw: bounceReport({ to }) }))).to.equal(550);
    expect(await stateOf(id)).to.equal('SENT');
  });

  it('takes a report about one mail, not about hundreds', async () => {
    const to = Array.from({ length: 100 }, (_, n) => `${['abuse', 'fbl'][n % 2]}@d${n}.example`);
    const transport = handOver(listener.port, { to, raw: complaintReport({ to: 'abuse@d0.example' }) });
    expect(await transport).to.match(/^250/);
  });

  it('answers politely to what is no report, and to a mail that is not there', async () => {
    const { id, path } = await sent();
    expect(await codeOf(handOver(listener.port, { to: [path], raw: 'Subject: Re: Hello\r\n\r\nThanks' }))).to.equal(
      250,
    );
    expect(await stateOf(id)).to.equal('SENT');
    const gone = returnPath(returnToken(keys, newId()), 'bounce.shop.example');
    expect(await codeOf(handOver(listener.port, { to: [gone], raw: bounceReport({ to: gone }) }))).to.equal(250);
  });

  it('asks to come again while the database is away', async () => {
    const closed = await openWorld(2);
    const other = await listenForReturnedMail({ port: 0, host: '127.0.0.1', db: closed.db, keys, log: silent });
    await closed.close();
    const { path } = await sent();
    expect(await codeOf(handOver(other.port, { to: [path], raw: bounceReport({ to: path }) }))).to.equal(451);
    await other.stop();
  });

  it('ends while a client holds its connection open', async () => {
    const other = await listenForReturnedMail({ port: 0, host: '127.0.0.1', db: world.db, keys, log: silent });
    const socket = connect(other.port, '127.0.0.1').on('error', () => {});
    await new Promise((resolve) => socket.once('data', resolve));
    await other.stop();
    socket.destroy();
  });
});
