import { expect } from 'chai';
import type { Email, EmailStatus } from '../../db/models/email.ts';
import { newId } from '../../platform/ids.ts';
import { applyNotices } from '../../services/emails/apply-notices.ts';
import { type Notice, recordNotices } from '../../services/emails/notices.ts';
import { publishResults } from '../../services/emails/publish-results.ts';
import { sendEmails } from '../../services/emails/send.ts';
import { deleteContacts } from '../../services/removal/contact.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { addUnpublishedResults, mailById } from '../support/ledger.ts';
import { contactById, setContacts } from '../support/rows/contacts.ts';
import { removeEvents, storedEvents } from '../support/rows/events.ts';
import { markSent, setMails, setNotices, waitingNotices } from '../support/rows/mails.ts';
import { emptyTables } from '../support/rows/tables.ts';
import { addExecutions } from '../support/rows/workflows.ts';
import { putInFlight } from '../support/sending.ts';

describe('notices of mail', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let people = 0;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
  });
  after(() => database.close());
  beforeEach(() =>
    emptyTables(
      database.db,
      'emails',
      'email_bodies',
      'email_contents',
      'email_notices',
      'unpublished_email_results',
      'events',
    ),
  );

  /** A mail with status SENT whose result is published. */
  const sentMail = async (state: Partial<Email> = {}): Promise<Email> => {
    const mail = await acceptMail({ status: 'SENT', sentAt: new Date(), ...state });
    await addUnpublishedResults(database.db);
    await publishResults(database.db);
    await removeEvents(database.db, { emailId: mail.id });
    return mail;
  };
  const acceptMail = async (state: Partial<Email> = {}): Promise<Email> => {
    const { emails } = await sendEmails(database.db, project.access, {
      to: [{ email: `p${++people}@example.com` }],
      from: { email: `hello@${project.senderDomain}` },
      subject: 'Hello',
      body: '<p>Hello</p>',
      subscribed: true,
    });
    const id = emails[0]?.email ?? '';
    if (Object.keys(state).length > 0) await setMails(database.db, { id }, state);
    return mailById(database.db, id);
  };
  const apply = async (mail: Email, ...notices: Omit<Notice, 'mail'>[]): Promise<void> => {
    await recordNotices(
      database.db,
      notices.map((notice) => ({ mail: { id: mail.id }, ...notice })),
    );
    await applyNotices(database.db);
  };
  const events = (mail: Email): Promise<{ name: string; data: Record<string, unknown> }[]> =>
    storedEvents(database.db, { contactId: mail.contactId }).select('name', 'data');
  const names = async (mail: Email) => (await events(mail)).map(({ name }) => name);
  const waiting = () => waitingNotices(database.db);

  const steps: [Notice['kind'], EmailStatus, keyof Email][] = [
    ['delivery', 'DELIVERED', 'deliveredAt'],
    ['open', 'OPENED', 'openedAt'],
    ['click', 'CLICKED', 'clickedAt'],
    ['bounce', 'BOUNCED', 'bouncedAt'],
    ['complaint', 'COMPLAINED', 'complainedAt'],
  ];

  for (const [kind, status, column] of steps)
    it(`set status ${status} with its time and record one event with the mail’s data`, async () => {
      const mail = await sentMail();
      const at = new Date(Date.now() - 60_000);
      await apply(mail, { kind, at });
      const after = await mailById(database.db, mail.id);
      expect(after.status).to.equal(status);
      expect(after[column]).to.deep.equal(at);
      const [event, ...others] = (await events(mail)).filter(({ name }) => name !== 'contact.unsubscribed');
      expect(others).to.deep.equal([]);
      expect(event?.name).to.equal(`email.${kind}`);
      expect(event?.data).to.deep.include({
        emailId: mail.id,
        messageId: `<${mail.id}@${project.senderDomain}>`,
        subject: 'Hello',
        from: `hello@${project.senderDomain}`,
        templateId: null,
        campaignId: null,
        workflowId: null,
        sourceType: 'TRANSACTIONAL',
        isFirst: true,
        [column]: at.toISOString(),
      });
      expect(await waiting()).to.deep.equal([]);
    });

  it('never move the status backwards, in any order', async () => {
    const mail = await sentMail();
    for (const [kind, status] of [...steps].reverse()) {
      await apply(mail, { kind });
      expect((await mailById(database.db, mail.id)).status, `${kind} ${status}`).to.equal('COMPLAINED');
    }
    const after = await mailById(database.db, mail.id);
    for (const [, , column] of steps) expect(after[column], column).to.be.instanceOf(Date);
  });

  it('record one event when repeated in the same or in later batches', async () => {
    const mail = await sentMail();
    const at = new Date(Date.now() - 5_000);
    for (let n = 0; n < 3; n++)
      await apply(mail, ...Array.from({ length: 2 }, () => ({ kind: 'delivery', at: n ? new Date() : at }) as const));
    await apply(mail, { kind: 'complaint' }, { kind: 'complaint' });
    await apply(mail, { kind: 'complaint' });
    expect(await names(mail)).to.deep.equal(['email.delivery', 'email.complaint', 'contact.unsubscribed']);
    expect((await mailById(database.db, mail.id)).deliveredAt).to.deep.equal(at);
  });

  it('record every open and click with its link and mark the first', async () => {
    const mail = await sentMail();
    await apply(mail, { kind: 'open' }, { kind: 'open' });
    await apply(mail, { kind: 'click', link: 'https://a.example/' }, { kind: 'click', link: 'https://b.example/' });
    await apply(mail, { kind: 'click', link: 'https://a.example/' });
    const recorded = (await events(mail)).map(({ name, data }) => [name, data.link, data.isFirst]);
    expect(recorded).to.deep.equal([
      ['email.open', undefined, true],
      ['email.open', undefined, false],
      ['email.click', 'https://a.example/', true],
      ['email.click', 'https://b.example/', false],
      ['email.click', 'https://a.example/', false],
    ]);
  });

  it('record events of workflow mail one level deeper than its execution', async () => {
    const executionId = newId();
    const ids = { id: executionId, projectId: project.id, workflowId: newId(), contactId: newId() };
    await addExecutions(database.db, { ...ids, version: 1, afterPosition: 0, depth: 3, oncePerContact: false });
    const mail = await acceptMail({
      status: 'SENT',
      sentAt: new Date(),
      executionId,
      workflowId: ids.workflowId,
      stepVisit: 1,
    });
    await addUnpublishedResults(database.db);
    await publishResults(database.db);
    await apply(mail, { kind: 'open' });
    const recorded = await storedEvents(database.db, { contactId: mail.contactId });
    expect(recorded.map(({ name, depth, data }) => [name, depth, data.workflowId])).to.deep.equal([
      ['email.sent', 4, ids.workflowId],
      ['email.open', 4, ids.workflowId],
    ]);
  });

  it('record at most 10 clicks on the same link in one batch', async () => {
    const mail = await sentMail();
    const clicks = Array.from({ length: 300 }, () => ({ kind: 'click', link: 'https://a.example/' }) as const);
    await apply(mail, ...clicks);
    expect(await events(mail)).to.have.length(10);
    expect(await waiting()).to.deep.equal([]);
  });

  it('are stored with NUL and lone surrogates replaced', async () => {
    const mail = await sentMail();
    const odd = 'https://a.example/\0\ud800\u2028"\\';
    await apply(mail, { kind: 'click', link: odd }, { kind: 'bounce', reason: '550 \0 no' });
    const [click, bounce] = await events(mail);
    expect(click?.data.link).to.equal('https://a.example/\ufffd\u2028"\\');
    expect(bounce?.data.reason).to.equal('550  no');
  });

  it('find a mail by the relay’s id', async () => {
    const mail = await sentMail({ providerMessageId: 'ses-1' });
    await recordNotices(database.db, [{ mail: { providerMessageId: 'ses-1' }, kind: 'delivery' }]);
    await applyNotices(database.db);
    expect(await mailById(database.db, mail.id)).to.include({ status: 'DELIVERED' });
  });

  it('wait for an unfinished mail and are recorded after email.sent', async () => {
    const mail = await acceptMail();
    await putInFlight(database.db, mail.id);
    await apply(mail, { kind: 'open' });
    expect(await mailById(database.db, mail.id)).to.include({ status: 'PENDING', openedAt: null });
    await markSent(database.db, mail.id);
    await addUnpublishedResults(database.db);
    const applyNow = async () => {
      await setNotices(database.db, { dueAt: new Date(0) });
      await applyNotices(database.db);
    };
    await applyNow();
    expect(await names(mail), 'email.sent is not published yet').to.deep.equal([]);
    await publishResults(database.db);
    await applyNow();
    expect(await names(mail)).to.deep.equal(['email.sent', 'email.open']);
    expect(await mailById(database.db, mail.id)).to.include({ status: 'OPENED' });
  });

  it('set a mail of unknown outcome to SENT', async () => {
    const mail = await acceptMail({ status: 'UNKNOWN', unknownOutcomes: 1, reason: 'the outcome is unknown' });
    await apply(mail, { kind: 'delivery' });
    expect(await mailById(database.db, mail.id)).to.include({ status: 'SENT', reason: null });
    await publishResults(database.db);
    await setNotices(database.db, { dueAt: new Date(0) });
    await applyNotices(database.db);
    expect(await names(mail)).to.deep.equal(['email.sent', 'email.delivery']);
    expect(await mailById(database.db, mail.id)).to.include({ status: 'DELIVERED' });
  });

  for (const status of ['FAILED', 'CANCELLED', 'SKIPPED'] as const)
    it(`are discarded for ${status} mail`, async () => {
      const mail = await acceptMail({ status });
      await apply(mail, { kind: 'open' });
      expect(await mailById(database.db, mail.id)).to.include({ status, openedAt: null });
      expect(await waiting()).to.deep.equal([]);
    });

  it('are discarded after an hour when the mail does not exist', async () => {
    await recordNotices(database.db, [{ mail: { id: newId() }, kind: 'open' }]);
    await applyNotices(database.db);
    expect(await waiting()).to.have.length(1);
    await setNotices(database.db, { dueAt: new Date(0), createdAt: new Date(Date.now() - 3_600_000) });
    expect(await applyNotices(database.db)).to.equal(1);
    expect(await waiting()).to.deep.equal([]);
  });

  const isSubscribed = async ({ contactId }: Email) => (await contactById(database.db, contactId)).subscribed;

  it('of hard bounces unsubscribe the contact once', async () => {
    const mail = await sentMail();
    await apply(mail, { kind: 'bounce', bounceType: 'Permanent', reason: '550 no such user' });
    await apply(mail, { kind: 'bounce', bounceType: 'Permanent' });
    expect(await isSubscribed(mail)).to.equal(false);
    expect(await mailById(database.db, mail.id)).to.include({ bounceType: 'Permanent', reason: '550 no such user' });
    const [bounce, unsubscribed, ...others] = await events(mail);
    expect(others).to.deep.equal([]);
    expect(bounce?.data).to.include({ bounceType: 'Permanent', reason: '550 no such user' });
    expect(unsubscribed).to.deep.include({ name: 'contact.unsubscribed' });
    expect(unsubscribed?.data).to.include({ reason: 'bounce', emailId: mail.id });
  });

  for (const bounceType of ['Transient', 'Undetermined', undefined] as const)
    it(`of a bounce of type ${bounceType ?? '(none)'} keep the contact subscribed`, async () => {
      const mail = await sentMail();
      await apply(mail, { kind: 'bounce', bounceType });
      expect(await isSubscribed(mail)).to.equal(true);
      expect(await mailById(database.db, mail.id)).to.include({
        status: 'BOUNCED',
        bounceType: bounceType ?? 'Undetermined',
      });
    });

  it('of a hard bounce after a soft one record another event and unsubscribe', async () => {
    const mail = await sentMail();
    await apply(mail, { kind: 'bounce', bounceType: 'Transient' });
    await apply(mail, { kind: 'bounce', bounceType: 'Permanent' });
    await apply(mail, { kind: 'bounce', bounceType: 'Transient' });
    expect(await names(mail)).to.deep.equal(['email.bounce', 'email.bounce', 'contact.unsubscribed']);
    expect((await mailById(database.db, mail.id)).bounceType).to.equal('Permanent');
    expect(await isSubscribed(mail)).to.equal(false);
  });

  it('of a complaint unsubscribe the contact with reason complaint', async () => {
    const mail = await sentMail();
    await apply(mail, { kind: 'complaint' });
    expect(await isSubscribed(mail)).to.equal(false);
    const [, unsubscribed] = await events(mail);
    expect(unsubscribed?.data).to.include({ reason: 'complaint', emailId: mail.id });
  });

  it('of a bounce of a former address keep the contact subscribed', async () => {
    const mail = await sentMail();
    await setContacts(database.db, { id: mail.contactId }, { email: `moved${mail.id}@example.com` });
    await apply(mail, { kind: 'bounce', bounceType: 'Permanent' });
    expect(await isSubscribed(mail)).to.equal(true);
    expect(await names(mail)).to.deep.equal(['email.bounce']);
  });

  it('of a deleted contact are recorded without personal data', async () => {
    const mail = await sentMail();
    await deleteContacts(database.db, project.id, [mail.contactId]);
    await apply(mail, { kind: 'click', link: 'https://a.example/?who=ann' }, { kind: 'complaint' });
    const [click] = await events(mail);
    expect(click?.data).to.include({ emailId: mail.id, subject: null, from: null, messageId: null, link: null });
    expect(await mailById(database.db, mail.id)).to.include({ status: 'COMPLAINED' });
  });

  it('are applied once each when 8 workers run', async () => {
    const mails = await Promise.all(Array.from({ length: 20 }, () => acceptMail()));
    await setMails(database.db, {}, { status: 'SENT', sentAt: new Date() });
    await recordNotices(
      database.db,
      mails.flatMap(({ id }) => steps.map(([kind]) => ({ mail: { id }, kind }))),
    );
    await Promise.all(Array.from({ length: 8 }, () => applyNotices(database.db, 10)));
    while ((await applyNotices(database.db, 10)) > 0);
    const counts = await database.db('events').where('name', 'like', 'email.%').groupBy('name').select('name').count();
    expect(counts).to.have.length(5);
    for (const { name, count } of counts) expect(Number(count), String(name)).to.equal(20);
  });
});
