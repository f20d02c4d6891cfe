import { expect } from 'chai';
import type { Knex } from 'knex';
import { type ApiProject, createProjectWithClients } from '../support/api.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { createOneOfEachResource, type ProjectResources } from '../support/one-of-each.ts';
import { type ServiceProcess, startApi } from '../support/processes.ts';
import { storedAudit } from '../support/rows/accounts.ts';
import { connectionsOf, lockTable } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

describe('killing the API between an act and its audit row', () => {
  let database: ConnectedDatabase;
  let api: ServiceProcess;
  let lock: Knex.Transaction | undefined;

  before(async () => {
    database = await connectTestDatabase(10);
  });
  beforeEach(async () => {
    api = await startApi({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: '20', RATE_LIMIT_PER_MINUTE: '0' });
  });
  afterEach(async () => {
    if (lock && !lock.isCompleted()) await lock.rollback();
    await api.kill();
  });
  after(() => database.close());

  const connections = async (): Promise<number> => (await connectionsOf(database.db, 'everpost-api')).length;
  /** Everything that the acts below change. */
  const state = async () => {
    const tables = ['templates', 'segments', 'campaigns', 'workflows', 'domains', 'memberships', 'scopedKeys', 'jobs'];
    const rows = [];
    for (const table of ['projects', ...tables, 'auditLog', 'outbox'])
      rows.push(await database.db(table).orderBy(1, 'asc'));
    return rows;
  };

  type Act = (project: ApiProject, own: ProjectResources) => Promise<unknown>;
  const acts: Record<string, Act> = {
    'key.created': ({ id, owner }) => owner.post(`/projects/${id}/keys`, { name: 'x', scopes: ['all'] }),
    'key.revoked': ({ id, owner }, { keyId }) => owner.delete(`/projects/${id}/keys/${keyId}`),
    'project.keys_regenerated': ({ id, owner }) => owner.post(`/users/@me/projects/${id}/regenerate-keys`),
    'project.updated': ({ id, owner }) => owner.patch(`/users/@me/projects/${id}`, { name: 'New' }),
    'project.deleted': ({ id, owner }) => owner.delete(`/users/@me/projects/${id}`),
    'member.invited': ({ id, owner }) =>
      owner.post(`/projects/${id}/members`, { email: 'guest@example.com', role: 'MEMBER' }),
    'template.updated': ({ server }, { templates }) => server.patch(`/templates/${templates}`, { name: 'x' }),
    'segment.deleted': ({ server }, { segments }) => server.delete(`/segments/${segments}`),
    'campaign.sent': ({ server }, { campaigns }) => server.post(`/campaigns/${campaigns}/send`, {}),
    'workflow.enabled': ({ server }, { workflows }) => server.patch(`/workflows/${workflows}`, { enabled: true }),
    'domain.deleted': ({ server }, { domains }) => server.delete(`/domains/${domains}`),
    'contacts.bulk_deleted': ({ server }, { contactId }) =>
      server.post('/contacts/bulk-delete', { contactIds: [contactId] }),
  };

  it('leaves neither, for every kind of act', async () => {
    const prepared: (() => Promise<unknown>)[] = [];
    for (const act of Object.values(acts)) {
      // Of its own, so that no act waits for another.
      const other = await createProjectWithClients(database.db, api.url);
      const things = await createOneOfEachResource(database, other);
      prepared.push(() => act(other, things));
    }
    const before = await state();
    lock = await database.db.transaction();
    await lockTable(lock, 'audit_log', 'share');
    const answers = prepared.map((act) => act().catch(() => 'no answer'));
    const waiting = async (trx: Knex): Promise<number> => {
      const { rows } = await trx.raw(
        `select count(*)::integer as count from pg_locks where relation = 'audit_log'::regclass and not granted`,
      );
      return rows[0].count;
    };
    const locking = lock;
    await eventually(async () => (await waiting(locking)) === answers.length, { what: 'acts that wait for the log' });
    await api.kill();
    await lock.rollback();
    expect(new Set(await Promise.all(answers))).to.deep.equal(new Set(['no answer']));
    await eventually(async () => (await connections()) === 0, { what: 'the end of its transactions' });
    expect(await state()).to.deep.equal(before);
  });

  it('leaves both or neither when it dies at any moment', async () => {
    const project = await createProjectWithClients(database.db, api.url);
    const made = { templates: 'template.created', segments: 'segment.created', scopedKeys: 'key.created' };
    let answered = 0;
    const until = { killed: false };
    const load = async (act: () => Promise<{ status: number }>) => {
      while (!until.killed) if ((await act().catch(() => ({ status: 0 }))).status === 201) answered++;
    };
    const template = { name: 't', subject: 's', body: 'b', type: 'MARKETING' };
    const loads = [
      load(() => project.server.post('/templates', template)),
      load(() => project.server.post('/templates', template)),
      load(() => project.server.post('/segments', { name: 'x', type: 'STATIC' })),
      load(() => project.owner.post(`/projects/${project.id}/keys`, { name: 'x', scopes: ['all'] })),
    ];
    await eventually(() => answered >= 40, { what: 'acts under way' });
    await api.kill();
    until.killed = true;
    await Promise.all(loads);
    await eventually(async () => (await connections()) === 0, { what: 'the end of its transactions' });
    let rows = 0;
    for (const [table, action] of Object.entries(made)) {
      const ids = await database.db(table).where({ projectId: project.id }).orderBy('id').pluck('id');
      const audited = await storedAudit(database.db, { projectId: project.id, action }).select('targetId');
      expect(audited.map(({ targetId }) => targetId).sort(), table).to.deep.equal(ids);
      rows += ids.length;
    }
    expect(rows, 'every answered act is stored').to.be.at.least(answered);
  });
});
