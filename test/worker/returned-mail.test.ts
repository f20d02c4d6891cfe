import { connect } from 'node:net';
import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { applyNotices } from '../../services/emails/apply-notices.ts';
import { returnPath, returnToken } from '../../services/emails/return-token.ts';
import { listenForReturnedMail, type ReturnedMailListener } from '../../worker/returned-mail.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../support/connected-database.ts';
import { addMail, mailById } from '../support/ledger.ts';
import { bounceReport, complaintReport } from '../support/reports.ts';
import { setMails } from '../support/rows/mails.ts';
import { submitMail } from '../support/smtp-client.ts';
import { silent } from '../support/temporal-work.ts';

const keys = ['a secret key for returned mail'] as const;

describe('the listener for returned mail', () => {
  let database: ConnectedDatabase;
  let listener: ReturnedMailListener;
  let project: string;

  before(async () => {
    database = await connectTestDatabase();
    project = (await makeProject(database.db)).id;
    listener = await listenForReturnedMail({ port: 0, host: '127.0.0.1', db: database.db, keys, log: silent });
  });
  after(async () => {
    await listener.stop();
    await database.close();
  });

  const sent = async () => {
    const id = await addMail(database.db, { project, status: 'SENT' });
    await setMails(database.db, { id }, { sentAt: new Date() });
    return { id, path: returnPath(returnToken(keys, id), 'bounce.shop.example') };
  };
  const stateOf = async (id: string) => {
    await applyNotices(database.db);
    return (await mailById(database.db, id)).status;
  };
  const codeOf = (result: Promise<unknown>) =>
    result.then(
      () => 250,
      (error: { responseCode?: number }) => error.responseCode,
    );

  it('accepts a bounce and a complaint', async () => {
    const bounced = await sent();
    const disliked = await sent();
    await submitMail(listener.port, { to: [bounced.path], raw: bounceReport({ to: bounced.path }) });
    await submitMail(listener.port, { to: [disliked.path], raw: complaintReport({ to: disliked.path }) });
    expect(await stateOf(bounced.id)).to.equal('BOUNCED');
    expect(await stateOf(disliked.id)).to.equal('COMPLAINED');
  });

  it('reads the report of a bounce that returns ten megabytes of mail', async () => {
    const { id, path } = await sent();
    const raw = bounceReport({ to: path, headers: `Subject: Hello\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(150_000)}` });
    await submitMail(listener.port, { to: [path], raw });
    expect(await stateOf(id)).to.equal('BOUNCED');
  });

  it('rejects unknown recipients and forged tokens', async () => {
    const { id } = await sent();
    const forged = returnPath(returnToken(['the secret key of another installation'], id), 'bounce.shop.example');
    for (const to of [forged, 'ann@bounce.shop.example', `b-${newId()}@bounce.shop.example`])
      expect(await codeOf(submitMail(listener.port, { to: [to], raw: bounceReport({ to }) }))).to.equal(550);
    expect(await stateOf(id)).to.equal('SENT');
  });

  it('accepts a report to a hundred recipients for the first five only', async () => {
    const to = Array.from({ length: 100 }, (_, n) => `${['abuse', 'fbl'][n % 2]}@d${n}.example`);
    const transport = submitMail(listener.port, { to, raw: complaintReport({ to: 'abuse@d0.example' }) });
    expect(await transport).to.match(/^250/);
  });

  it('accepts and ignores what is no report, and reports about unknown mails', async () => {
    const { id, path } = await sent();
    expect(await codeOf(submitMail(listener.port, { to: [path], raw: 'Subject: Re: Hello\r\n\r\nThanks' }))).to.equal(
      250,
    );
    expect(await stateOf(id)).to.equal('SENT');
    const gone = returnPath(returnToken(keys, newId()), 'bounce.shop.example');
    expect(await codeOf(submitMail(listener.port, { to: [gone], raw: bounceReport({ to: gone }) }))).to.equal(250);
  });

  it('answers 451 while the database is unavailable', async () => {
    const closed = await connectTestDatabase(2);
    const other = await listenForReturnedMail({ port: 0, host: '127.0.0.1', db: closed.db, keys, log: silent });
    await closed.close();
    const { path } = await sent();
    expect(await codeOf(submitMail(other.port, { to: [path], raw: bounceReport({ to: path }) }))).to.equal(451);
    await other.stop();
  });

  it('stops while a client keeps its connection open', async () => {
    const other = await listenForReturnedMail({ port: 0, host: '127.0.0.1', db: database.db, keys, log: silent });
    const socket = connect(other.port, '127.0.0.1').on('error', () => {});
    await new Promise((resolve) => socket.once('data', resolve));
    await other.stop();
    socket.destroy();
  });
});
