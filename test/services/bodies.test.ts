import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { sharedBodyId } from '../../db/models/email-body.ts';
import { newId } from '../../platform/ids.ts';
import { type SendInput, sendEmails } from '../../services/emails/send.ts';
import { deleteContact } from '../../services/removal/contact.ts';
import { addMonth } from '../../services/retention/partitions.ts';
import { runRetention } from '../../services/retention/run.ts';
import { sendSystemMail } from '../../services/system/mail.ts';
import { SYSTEM_PROJECT_ID } from '../../services/system/project.ts';
import { updateTemplate } from '../../services/templates/save.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { addMailRows, setMailsOf, sizeOfMails, storedBodies, storedContents } from '../support/rows/mails.ts';

const MB = 1024 * 1024;

describe('stored bodies', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
  });
  after(() => database?.close());
  beforeEach(async () => {
    project = await makeProject(db);
  });

  const accept = async (input: Partial<SendInput> = {}) => {
    const content = input.template ? {} : { subject: 'Hello', body: '<p>Hello</p>' };
    const from = { email: `shop@${project.senderDomain}` };
    const { emails } = await sendEmails(db, project.access, {
      to: [{ email: 'ann@example.com' }],
      from,
      ...content,
      ...input,
    });
    return emails.map(({ email, contact }) => ({ id: email, contactId: contact.id }));
  };
  const bodies = async (): Promise<{ id: string; html: string; shared: boolean }[]> =>
    storedBodies(db, { projectId: project.id }).select('id', 'html', 'shared');
  const template = async (body = '<p>{{ name }}</p>'): Promise<string> => {
    const id = newId();
    const columns = { name: 'T', subject: 'Hi', body, type: 'TRANSACTIONAL' };
    await db('templates').insert({ id, projectId: project.id, ...columns });
    return id;
  };

  it('of 1,000 recipients of 1 MB take about 1 MB', async () => {
    const size = () => sizeOfMails(db);
    // Does not compress well.
    const body = randomBytes((MB * 3) / 4).toString('base64');
    const before = await size();
    await accept({ to: Array.from({ length: 1_000 }, (_, n) => ({ email: `p${n}@example.com` })), body });
    expect((await size()) - before).to.be.within(0.7 * MB, 2 * MB);
    expect((await bodies()).map(({ html }) => html === body)).to.deep.equal([true]);
  });

  it('stay while a recipient has them, and go with the last one', async () => {
    const [first, second] = await accept({ to: [{ email: 'a@example.com' }, { email: 'b@example.com' }] });
    await deleteContact(db, project.access, first?.contactId ?? '');
    const contents = await storedContents(db, { projectId: project.id }).select('emailId');
    expect(contents).to.deep.equal([{ emailId: second?.id }]);
    expect(await bodies()).to.have.length(1);
    await deleteContact(db, project.access, second?.contactId ?? '');
    expect(await bodies()).to.deep.equal([]);
  });

  it('go when the last recipients are deleted at once', async () => {
    const to = Array.from({ length: 10 }, (_, n) => ({ email: `p${n}@example.com` }));
    const mails = await accept({ to });
    await Promise.all(mails.map(({ contactId }) => deleteContact(db, project.access, contactId)));
    expect(await bodies()).to.deep.equal([]);
  });

  it('of one request are not those of another, even with the same text', async () => {
    await accept();
    await accept();
    expect((await bodies()).map(({ shared }) => shared)).to.deep.equal([false, false]);
  });

  it('of a template are stored once for all requests, until the template changes', async () => {
    const id = await template();
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => accept({ template: id, to: [{ email: `t${n}@example.com` }], data: { n } })),
    );
    expect(await bodies()).to.deep.include({ ...(await bodies())[0], html: '<p>{{ name }}</p>', shared: true });
    expect(await bodies()).to.have.length(1);
    await updateTemplate(db, project.access, id, { body: '<p>new</p>' });
    await accept({ template: id });
    expect((await bodies()).map(({ html }) => html)).to.have.members(['<p>{{ name }}</p>', '<p>new</p>']);
  });

  it('of a template stay when the only recipient is deleted, for the next mail', async () => {
    const id = await template();
    const [mail] = await accept({ template: id });
    await deleteContact(db, project.access, mail?.contactId ?? '');
    expect(await bodies()).to.have.length(1);
    expect(await storedContents(db, { projectId: project.id })).to.deep.equal([]);
  });

  it('of a template are the request’s own where it replaces the text or has headers', async () => {
    const id = await template();
    const [own] = await accept({ template: id, body: '<p>Dear Ann</p>' });
    const [headed] = await accept({ template: id, headers: { 'X-Customer': 'Ann' } });
    for (const mail of [own, headed]) await deleteContact(db, project.access, mail?.contactId ?? '').catch(() => {});
    expect(await bodies()).to.deep.equal([]);
  });

  it('of system mail are stored once a month', async () => {
    const mail = { from: 'team@everpost.localhost', subject: 'S', paragraphs: ['x'] };
    for (const to of ['s1@example.com', 's2@example.com']) await sendSystemMail(db, { ...mail, to });
    const stored = await storedBodies(db, { projectId: SYSTEM_PROJECT_ID });
    expect(stored.map(({ headers }) => headers)).to.deep.equal([{ 'Auto-Submitted': 'auto-generated' }]);
  });

  it('of dropped months go, except those of unfinished mail, which go later', async () => {
    for (const table of ['email_contents', 'email_bodies'] as const)
      for (const month of ['2025-06-01', '2025-07-01']) await addMonth(db, table, month);
    const idAt = async (at: string): Promise<string> =>
      (await db.raw('select uuidv7(?::timestamptz - now()) as id', [at])).rows[0].id;
    const add = async (at: string, status: string, bodyId?: string): Promise<string> => {
      const id = await idAt(at);
      const row = { projectId: project.id, createdAt: at };
      await addMailRows(db, { ...row, id, contactId: newId(), status });
      const content = { toEmail: 'a@example.com', fromEmail: 'b@example.com', subject: 'S' };
      await db('email_contents').insert({ ...row, emailId: id, bodyId: bodyId ?? id, ...content });
      if (!bodyId) await db('email_bodies').insert({ ...row, id, html: 'x' });
      return id;
    };
    const done = await add('2025-06-10T00:00:00Z', 'SENT');
    const waiting = await add('2025-06-11T00:00:00Z', 'PENDING');
    // A request around midnight: its second mail belongs to the next month.
    const last = await add('2025-06-30T23:59:59.999Z', 'SENT');
    const next = await add('2025-07-01T00:00:00.001Z', 'PENDING', last);
    const shared = sharedBodyId(done, project.id, { html: 'template' });
    await db('email_bodies').insert({ id: shared, projectId: project.id, html: 'template', shared: true });
    const kept = await add('2025-06-12T00:00:00Z', 'UNKNOWN', shared);
    const { rows } = await db.raw('select tableoid::regclass::text as part from email_bodies where id = ?', [shared]);
    expect(rows).to.deep.equal([{ part: 'email_bodies_2025_06' }]);

    const keep = { eventRetentionDays: undefined, emailBodyRetentionDays: 60, consentRetentionDays: 1_095 };
    const now = new Date('2025-11-15T12:00:00Z');
    await runRetention(db, keep, now);
    expect((await bodies()).map(({ id }) => id)).to.have.members([waiting, last, shared]);
    await setMailsOf(db, [waiting, next, kept], { status: 'SENT' });
    await runRetention(db, keep, now);
    expect(await bodies()).to.deep.equal([]);
  });
});

describe('the id of a shared body', () => {
  const mailId = '0192e4c0-8c00-7000-8000-000000000000';
  const projectId = newId();
  const idOf = (mail: string, project = projectId, html = 'x', headers?: Record<string, string>) =>
    sharedBodyId(mail, project, { html, headers });
  const at = (time: string): string => {
    const hex = new Date(time).getTime().toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8abc-0123456789ab`;
  };

  it('is the same for all mails of a month, project and content', () => {
    expect(idOf(at('2026-11-01T00:00:00Z'))).to.equal(idOf(at('2026-11-30T23:59:59.999Z')));
    expect(idOf(mailId)).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('differs by month, project, text and headers', () => {
    const ids = [
      idOf(at('2026-11-10T00:00:00Z')),
      idOf(at('2026-12-10T00:00:00Z')),
      idOf(at('2026-11-10T00:00:00Z'), newId()),
      idOf(at('2026-11-10T00:00:00Z'), projectId, 'y'),
      idOf(at('2026-11-10T00:00:00Z'), projectId, 'x', { a: 'b' }),
    ];
    expect(new Set(ids).size).to.equal(5);
  });

  it('lies in the month of its mails', () => {
    const id = idOf(at('2026-11-10T00:00:00Z'));
    expect(id > at('2026-11-01T00:00:00Z').slice(0, 13)).to.equal(true);
    expect(id < at('2026-11-01T00:00:00.001Z').slice(0, 13)).to.equal(true);
  });
});
