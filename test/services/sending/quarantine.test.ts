import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { listEmails } from '../../../services/emails/list.ts';
import { sendEmails } from '../../../services/emails/send.ts';
import { type Composer, QUARANTINE_REASON } from '../../../services/sending/composer.ts';
import { addContacts, campaignWorker, standing, startCampaign } from '../../support/campaigns.ts';
import { poisonousComposer, SILENCE_MS } from '../../support/composer.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { mailById } from '../../support/ledger.ts';
import { campaignRow } from '../../support/rows/campaigns.ts';
import { setContacts } from '../../support/rows/contacts.ts';
import { storedEvents } from '../../support/rows/events.ts';
import { storedMails } from '../../support/rows/mails.ts';
import { counts, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';

describe('a mail that cannot be composed', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let smtp: SmtpStandIn;
  let composer: Composer;
  let project: TestProject;

  before(async () => {
    [database, smtp] = await Promise.all([connectTestDatabase(), startSmtp()]);
    db = database.db;
    composer = poisonousComposer({ limits: { silenceMs: SILENCE_MS } });
  });
  after(async () => {
    await composer?.close();
    await smtp?.close();
    await database?.close();
  });
  beforeEach(async () => {
    project = await makeProject(db);
    smtp.mails.length = 0;
  });

  const accept = async (subject: string, addresses: string[]): Promise<string[]> => {
    const from = { email: `shop@${project.senderDomain}` };
    const to = addresses.map((name) => ({ email: `${name}@example.com` }));
    const { emails } = await sendEmails(db, project.access, { to, from, subject, body: '<p>Hello</p>' });
    return emails.map(({ email }) => email);
  };

  for (const subject of ['HANG', 'KILL'])
    it(`ends FAILED with the reason, and those beside it are sent once (${subject})`, async () => {
      const before = await accept('Hello', ['a', 'b', 'c']);
      const [poisonous = ''] = await accept(subject, ['poison']);
      const after = await accept('Hello', ['d', 'e', 'f']);
      const sending = testSender(database.url, { url: smtp.url, composer });
      expect(await sending.send()).to.deep.equal(counts({ sent: 6, failed: 1 }));
      expect(await mailById(db, poisonous)).to.include({ status: 'FAILED', reason: QUARANTINE_REASON });
      for (const id of [...before, ...after])
        expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0 });
      expect(smtp.mails).to.have.length(6);
      expect(await sending.send(), 'it is not tried again').to.deep.equal(counts({}));
      await sending.close();
      const failed = await listEmails(db, project.id, ['a key for cursors'], { limit: 10, status: 'FAILED' });
      expect(failed.data.map(({ id }) => id)).to.deep.equal([poisonous]);
      expect(await storedEvents(db, { emailId: poisonous }).pluck('name')).to.deep.equal(['email.failed']);
    });

  it('of a campaign ends FAILED, and the other recipients get theirs', async () => {
    await addContacts(db, project, 12);
    await setContacts(db, { projectId: project.id, email: 'p5@example.com' }, { data: { name: 'KILL' } });
    const worker = campaignWorker(database, smtp.url, { composer });
    const { id } = await startCampaign(db, project);
    expect(await worker.run(id)).to.include({ kind: 'end' });
    await worker.close();
    expect(await standing(db, project, id)).to.include({ sent: 11, failed: 1, pending: 0, unknown: 0 });
    const [failed] = await storedMails(db, { campaignId: id, status: 'FAILED' });
    expect(failed.reason).to.equal(QUARANTINE_REASON);
    expect(new Set(smtp.mails.flatMap(({ to }) => to)).size).to.equal(11);
  });

  it('pauses its campaign when it is the third', async () => {
    await addContacts(db, project, 6);
    await db('contacts')
      .where({ projectId: project.id })
      .whereIn('email', ['p0@example.com', 'p2@example.com', 'p4@example.com'])
      .update({ data: { name: 'KILL' } });
    const worker = campaignWorker(database, smtp.url, { composer });
    const { id } = await startCampaign(db, project);
    await worker.run(id);
    await worker.close();
    expect(await campaignRow(db, id)).to.include({
      status: 'SENDING',
      paused: true,
      pausedBy: 'AUTO_PAUSE',
      pauseReason: '3 of its emails could not be composed',
    });
  });
});
