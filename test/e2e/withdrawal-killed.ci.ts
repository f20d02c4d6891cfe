import { expect } from 'chai';
import type { Knex } from 'knex';
import { newId } from '../../platform/ids.ts';
import { MailLinks } from '../../services/emails/links.ts';
import { type ApiProject, client, createProjectWithClients } from '../support/api.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { type ServiceProcess, startApi } from '../support/processes.ts';
import { addMailRows } from '../support/rows/mails.ts';
import { connectionsOf, lockTable } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

const KEY = 'a key of sixteen or more';
const PEOPLE = 200;

describe('killing the API while contacts leave a topic', () => {
  let database: ConnectedDatabase;
  let api: ServiceProcess;
  let project: ApiProject;
  let topicId: string;
  let lock: Knex.Transaction | undefined;

  before(async () => {
    database = await connectTestDatabase(10);
  });
  beforeEach(async () => {
    api = await start();
    project = await createProjectWithClients(database.db, api.url);
    const topic = await project.server.post('/topics', { name: 'News', defaultState: 'SUBSCRIBED' });
    topicId = topic.body.id;
  });
  afterEach(async () => {
    if (lock && !lock.isCompleted()) await lock.rollback();
    await api.kill();
  });
  after(() => database.close());

  const start = () =>
    startApi({
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: '20',
      RATE_LIMIT_PER_MINUTE: '0',
      SECRET_KEY: KEY,
    });
  const recipient = async (name: string): Promise<{ id: string; path: string }> => {
    const { body } = await project.server.post('/contacts', { email: `${name}-${project.id.slice(-8)}@example.com` });
    const emailId = newId();
    const row = { id: emailId, projectId: project.id, contactId: body.id, status: 'SENT', topicId };
    await addMailRows(database.db, row);
    const links = new MailLinks({ baseUrl: '', secretKeys: [KEY] });
    return { id: body.id, path: links.contactLinks({ contactId: body.id, emailId }).unsubscribeUrl };
  };
  const leave = (path: string) => client(api.url).request('POST', path);
  const ended = () =>
    eventually(async () => (await connectionsOf(database.db, 'everpost-api')).length === 0, {
      what: 'the end of its transactions',
    });
  /** By contact: how many choices, records, events and changes to undo there are. */
  const written = async (): Promise<Map<string, number[]>> => {
    const found = new Map<string, number[]>();
    for (const [n, table] of ['contactTopics', 'consents', 'events', 'pageChanges'].entries())
      for (const { contactId } of await database.db(table).where({ projectId: project.id }).select('contactId')) {
        const counts = found.get(contactId) ?? [0, 0, 0, 0];
        counts[n] = (counts[n] ?? 0) + 1;
        found.set(contactId, counts);
      }
    return found;
  };

  it('writes nothing of a withdrawal that was not answered, which can be repeated', async () => {
    const { id, path } = await recipient('ann');
    lock = await database.db.transaction();
    // The last table that a withdrawal writes.
    await lockTable(lock, 'page_changes', 'share');
    const answer = leave(path).catch(() => 'no answer');
    const waiting = lock;
    await eventually(
      async () => {
        const { rows } = await waiting.raw(
          `select 1 from pg_locks where relation = 'page_changes'::regclass and not granted`,
        );
        return rows.length > 0;
      },
      { what: 'the withdrawal that waits' },
    );
    await api.kill();
    await lock.rollback();
    expect(await answer).to.equal('no answer');
    await ended();
    expect([...(await written())]).to.deep.equal([]);
    api = await start();
    expect(await leave(path)).to.have.status(200);
    expect([...(await written())]).to.deep.equal([[id, [1, 1, 1, 1]]]);
  });

  it('keeps every answered withdrawal, each with its record, event and undo', async () => {
    const people = await Promise.all(Array.from({ length: PEOPLE }, (_none, n) => recipient(`p${n}`)));
    const answered: string[] = [];
    const leaving = people.map(async ({ id, path }) => {
      const answer = await leave(path).catch(() => undefined);
      if (answer?.status === 200) answered.push(id);
    });
    await eventually(() => answered.length >= 20, { what: 'withdrawals under way' });
    await api.kill();
    await Promise.all(leaving);
    await ended();
    const found = await written();
    expect(answered.length).to.be.lessThan(PEOPLE);
    for (const id of answered) expect(found.has(id), id).to.equal(true);
    for (const counts of found.values()) expect(counts).to.deep.equal([1, 1, 1, 1]);
  });
});
