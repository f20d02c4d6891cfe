import { expect } from 'chai';
import { connectDb, type Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { regenerateKeys } from '../../services/access/keys.ts';
import { deleteDomain } from '../../services/domains/delete.ts';
import { type SendInput, sendEmails } from '../../services/emails/send.ts';
import { disableProject } from '../../services/projects/disable.ts';
import { createTemplate } from '../../services/templates/save.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { storedMails } from '../support/rows/mails.ts';
import { setDomains } from '../support/rows/projects.ts';
import { eventually } from '../support/waiting.ts';

describe('the rule for sender domains', () => {
  let database: ConnectedDatabase;
  // Each has its own cache, like separate processes.
  let here: Db;
  let there: Db;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
    here = connectDb({ databaseUrl: database.url });
    there = connectDb({ databaseUrl: database.url });
  });
  beforeEach(async () => {
    project = await makeProject(database.db);
  });
  after(async () => {
    await Promise.all([here.destroy(), there.destroy()]);
    await database.close();
  });

  const send = (db: Db, input: Partial<SendInput> = {}) =>
    sendEmails(db, project.access, {
      to: [{ email: 'ann@example.com' }],
      from: { email: `hello@${project.senderDomain}` },
      subject: 'Hello',
      body: '<p>Hello</p>',
      ...input,
    });
  const refusalOf = async (sent: Promise<unknown>): Promise<ApiError> => {
    const error = await sent.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(ApiError);
    return error as ApiError;
  };
  const expectUnverified = async (sent: Promise<unknown>, domain = project.senderDomain) => {
    const { status, code, extras } = await refusalOf(sent);
    expect({ status, code }).to.deep.equal({ status: 403, code: 'INTERNAL_SERVER_ERROR' });
    expect(extras.suggestion).to.contain(domain);
  };
  const domain = (name = project.senderDomain) => Domain.query(database.db).findOne({ domain: name }).throwIfNotFound();
  const setStatus = (status: Domain['status'], db: Db = database.db) =>
    setDomains(db, { domain: project.senderDomain }, { status });
  const rowCounts = async () => {
    const tables = ['emails', 'emailContents', 'contacts'];
    const counts = tables.map((table) => database.db(table).where({ projectId: project.id }).count().first());
    return (await Promise.all(counts)).map((row) => Number(row?.count));
  };
  /** Runs `work` without triggers, so that caches are not invalidated. */
  const withoutTriggers = (work: (trx: Db) => Promise<unknown>) =>
    database.db.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      await work(trx);
    });

  describe('in every process', () => {
    it('applies a lost and a regained verification to the next mail', async () => {
      for (let round = 0; round < 3; round++) {
        for (const db of [here, there]) await send(db);
        await setStatus('PENDING');
        const before = await rowCounts();
        for (const db of [there, here]) await expectUnverified(send(db));
        expect(await rowCounts()).to.deep.equal(before);
        await setStatus('VERIFIED');
      }
      for (const db of [there, here]) expect((await send(db)).emails).to.have.length(1);
    });

    it('rejects mail after the domain is deleted, and accepts it for the project that adds it again', async () => {
      const other = await makeProject(database.db);
      for (const db of [here, there]) await send(db);
      await deleteDomain(here, project.access, (await domain()).id);
      const before = await rowCounts();
      for (const db of [there, here]) await expectUnverified(send(db, { to: [{ email: 'new@example.com' }] }));
      expect(await rowCounts()).to.deep.equal(before);
      const row = { id: newId(), projectId: other.id, domain: project.senderDomain, status: 'VERIFIED' } as const;
      await Domain.query(there).insert(row);
      await expectUnverified(send(there));
      await Domain.query(there).findById(row.id).patch({ projectId: project.id });
      for (const db of [there, here]) expect((await send(db)).emails).to.have.length(1);
    });

    it('applies to mail with a template, with a file, to several recipients and inside a transaction', async () => {
      const from = { email: `hello@${project.senderDomain}` };
      const content = { name: 'T', subject: 'S', body: 'B', type: 'TRANSACTIONAL' as const };
      const { id: template } = await createTemplate(database.db, project.access, content);
      const file = {
        filename: 'a.txt',
        contentType: 'text/plain',
        disposition: 'attachment',
        content: Buffer.from('a'),
      } as const;
      const kinds: ((db: Db) => Promise<unknown>)[] = [
        (db) => send(db, { template, from }),
        (db) => send(db, { attachments: [file] }),
        (db) => send(db, { to: [{ email: 'a@example.com' }, { email: 'b@example.com' }] }),
        (db) => db.transaction((trx) => send(trx)),
      ];
      for (const kind of kinds) await kind(there);
      await setStatus('PENDING', here);
      const before = await rowCounts();
      for (const kind of kinds) await expectUnverified(kind(there));
      expect(await rowCounts()).to.deep.equal(before);
      await setStatus('VERIFIED', here);
      for (const kind of kinds) await kind(there);
    });

    it('accepts no mail after a deletion returned, under concurrent sends', async () => {
      const { id } = await domain();
      await Promise.all([send(here), send(there)]);
      let isGone = false;
      const outcomes: { begunAfter: boolean; accepted: boolean }[] = [];
      const sendOn = async (db: Db, n: number) => {
        for (let isOver = false; !isOver; ) {
          const begunAfter = isGone;
          const accepted = await send(db, { to: [{ email: `to${n}@example.com` }] }).then(
            () => true,
            () => false,
          );
          outcomes.push({ begunAfter, accepted });
          isOver = begunAfter;
        }
      };
      const senders = Array.from({ length: 20 }, (_, n) => sendOn(n % 2 ? here : there, n));
      await eventually(async () => outcomes.length >= 40);
      await deleteDomain(here, project.access, id);
      isGone = true;
      const { rows } = await database.db.raw('select clock_timestamp() as now');
      await Promise.all(senders);
      const late = outcomes.filter(({ begunAfter }) => begunAfter);
      expect(late).to.have.length(20);
      expect(late.filter(({ accepted }) => accepted)).to.deep.equal([]);
      const mails = await storedMails(database.db, { projectId: project.id });
      expect(mails).to.have.length(2 + outcomes.filter(({ accepted }) => accepted).length);
      expect(mails.filter(({ createdAt }) => createdAt > rows[0].now)).to.deep.equal([]);
    });

    it('accepts mail when the domain is verified between the refusal and the query for its reason', async () => {
      await setStatus('PENDING');
      const narrow = connectDb({ databaseUrl: database.url, poolSize: 1 });
      const waiting = (count: number) => eventually(() => narrow.client.pool.numPendingAcquires() === count);
      const blocker = await narrow.transaction();
      // The single connection serves them in order: the send, the change, the query for the reason.
      const sent = send(narrow);
      await waiting(1);
      const changed = setStatus('VERIFIED', narrow).then();
      await waiting(2);
      await blocker.rollback();
      await changed;
      expect((await sent).emails).to.have.length(1);
      await narrow.destroy();
    });
  });

  describe('other refusals', () => {
    const changes: [string, () => Promise<unknown>, number, string][] = [
      ['a key that was replaced', () => regenerateKeys(database.db, project.id), 401, 'INVALID_API_KEY'],
      [
        'a project that was disabled',
        () => disableProject(database.db, project.id, { reason: 'too many bounces' }),
        403,
        'PROJECT_DISABLED',
      ],
    ];
    for (const [what, change, status, code] of changes)
      it(`returns ${status} ${code} for ${what}, with a cached domain`, async () => {
        await send(here);
        await change();
        for (const db of [here, there]) expect(await refusalOf(send(db))).to.include({ status, code });
        expect(await rowCounts()).to.deep.equal([1, 1, 1]);
      });
  });

  describe('the cache', () => {
    it('is used without reading the domains until they change', async () => {
      await send(here);
      await withoutTriggers((trx) => trx('domains').where({ domain: project.senderDomain }).del());
      expect((await send(here)).emails).to.have.length(1);
      await expectUnverified(send(there));
      // Any change of the project's domains invalidates all of its cached domains.
      await Domain.query(database.db).insert({
        id: newId(),
        projectId: project.id,
        domain: `another.${project.senderDomain}`,
        status: 'VERIFIED',
      });
      await expectUnverified(send(here));
    });

    it('applies to one domain of one project only', async () => {
      await send(here);
      await expectUnverified(send(here, { from: { email: 'a@unknown.example' } }), 'unknown.example');
      const own = project;
      project = await makeProject(database.db);
      await send(here);
      await expectUnverified(send(here, { from: { email: `a@${own.senderDomain}` } }), own.senderDomain);
    });

    it('ignores a verification that was rolled back', async () => {
      await setStatus('PENDING');
      const rollback = new Error('rolled back');
      const attempt = here.transaction(async (trx) => {
        await setStatus('VERIFIED', trx);
        await send(trx);
        throw rollback;
      });
      expect(await attempt.catch((error: unknown) => error)).to.equal(rollback);
      for (const db of [here, there]) await expectUnverified(send(db));
      // One more change, so that the number of changes equals the one that was rolled back.
      await Domain.query(database.db).insert({
        id: newId(),
        projectId: project.id,
        domain: `more.${project.senderDomain}`,
        status: 'VERIFIED',
      });
      for (const db of [here, there]) await expectUnverified(send(db));
      expect(await rowCounts()).to.deep.equal([0, 0, 0]);
    });
  });
});
