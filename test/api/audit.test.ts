import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { readSettings } from '../../platform/settings.ts';
import { disableProject, enableProject } from '../../services/projects/disable.ts';
import { sendRequestedMails } from '../../services/users/requests.ts';
import { cookieOf, type Person, person, tokenTo } from '../support/accounts.ts';
import { type ApiAnswer, type ApiProject, client, startTestApi, type TestApi } from '../support/api.ts';
import { createOneOfEachResource, type ProjectResources } from '../support/one-of-each.ts';
import { readOwnerEmail } from '../support/reading.ts';
import { addAudit } from '../support/rows/accounts.ts';
import { blockedConnections, lockTable } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

interface Entry {
  id: string;
  at: string;
  actor: { type: string; id: string | null; name: string | null };
  ip: string | null;
  requestId: string | null;
  action: string;
  target: { type: string; id: string | null; name: string | null } | null;
  changes: Record<string, unknown>;
}

describe('the audit log', () => {
  let api: TestApi;
  let project: ApiProject;

  before(async () => {
    api = await startTestApi({
      env: { STRIPE_SECRET_KEY: 'sk_test_x', STRIPE_API_BASE: 'http://127.0.0.1:1' },
    });
  });
  after(() => api.stop());
  beforeEach(async () => {
    project = await api.project();
  });

  const path = (query = '') => `/projects/${project.id}/audit${query}`;
  const entries = async (query = ''): Promise<Entry[]> => {
    const answer = await project.owner.get(path(query));
    expect(answer).to.have.status(200);
    return answer.body.data;
  };
  const done = (answer: ApiAnswer): ApiAnswer['body'] => {
    expect(answer.status, JSON.stringify(answer.body)).to.be.within(200, 204);
    return answer.body;
  };

  it('names who did what to what, from where, in which request', async () => {
    const made = done(
      await project.owner.post(
        `/projects/${project.id}/keys`,
        { name: 'CI', scopes: ['all'] },
        { 'x-request-id': 'r-1' },
      ),
    );
    const email = await readOwnerEmail(project);
    const [entry] = await entries();
    expect(entry).to.have.all.keys('id', 'at', 'actor', 'ip', 'requestId', 'action', 'target', 'changes');
    expect(entry).to.deep.include({
      actor: { type: 'USER', id: project.userId, name: email },
      ip: '127.0.0.1',
      requestId: 'r-1',
      action: 'key.created',
      target: { type: 'key', id: made.id, name: 'CI' },
    });
    expect(entry?.changes).to.deep.include({ name: { from: null, to: 'CI' }, scopes: { from: null, to: ['all'] } });
    expect(JSON.stringify(entry)).not.to.include(made.key);
    expect(new Date(entry?.at ?? '').toISOString()).to.equal(entry?.at);
  });

  it('names scoped keys, the key pair and the system', async () => {
    const made = done(await project.owner.post(`/projects/${project.id}/keys`, { name: 'CI', scopes: ['all'] }));
    const template = { name: 't', subject: 's', body: 'b', type: 'MARKETING' };
    done(await client(api.url, { authorization: `Bearer ${made.key}` }).post('/templates', template));
    done(await project.server.post('/templates', template));
    await disableProject(api.db, project.id, { reason: 'spam' });
    await enableProject(api.db, project.id);
    done(await project.owner.delete(`/projects/${project.id}/keys/${made.id}`));
    const actors = (await entries()).slice(1, 5).map(({ action, actor }) => ({ action, actor }));
    const system = { type: 'SYSTEM', id: null, name: 'System' };
    expect(actors).to.deep.equal([
      { action: 'project.enabled', actor: system },
      { action: 'project.disabled', actor: system },
      { action: 'template.created', actor: { type: 'KEY', id: project.id, name: 'Secret key' } },
      { action: 'template.created', actor: { type: 'KEY', id: made.id, name: 'CI' } },
    ]);
  });

  it('joins names when it is read: a new name is shown, and an erased person is an id', async () => {
    const admin = await person(api, { project: project.id, role: 'ADMIN' });
    const headers = { 'x-project-id': project.id };
    const segment = done(await admin.post('/segments', { name: 'VIPs', type: 'STATIC' }, headers));
    done(await admin.patch(`/segments/${segment.id}`, { name: 'Friends' }, headers));
    expect((await entries('?target=segment')).map(({ target }) => target?.name)).to.deep.equal(['Friends', 'Friends']);
    done(await admin.delete('/users/@me'));
    const [left, ...rest] = await entries();
    expect(left).to.deep.include({ action: 'member.removed', target: { type: 'user', id: admin.id, name: null } });
    const made = rest.find(({ action }) => action === 'segment.created');
    expect(made?.actor).to.deep.equal({ type: 'USER', id: admin.id, name: null });
    const { rows } = await api.db.raw('select count(*)::integer as count from audit_log a where a::text like ?', [
      `%${admin.email}%`,
    ]);
    expect(rows[0].count, 'rows with the address').to.equal(0);
  });

  it('keeps the last name of what was deleted', async () => {
    const segment = done(await project.server.post('/segments', { name: 'VIPs', type: 'STATIC' }));
    done(await project.server.delete(`/segments/${segment.id}`));
    const [deleted] = await entries();
    expect(deleted).to.deep.include({
      action: 'segment.deleted',
      target: { type: 'segment', id: segment.id, name: 'VIPs' },
    });
  });

  describe('records', () => {
    let own: ProjectResources;
    let from: string;

    beforeEach(async () => {
      own = await createOneOfEachResource(api, project);
      from = `news@${project.senderDomain}`;
    });

    const settings = () => `/users/@me/projects/${project.id}`;
    const campaign = () => ({ name: 'Spring', subject: 's', body: 'b', from, audienceType: 'ALL' });

    const acts: [action: string, target: string, act: () => Promise<unknown>][] = [
      ['project.updated', 'project', async () => done(await project.owner.patch(settings(), { name: 'New' }))],
      [
        'project.updated',
        'project',
        async () => done(await project.owner.patch(settings(), { publicKeyPolicy: { events: ['seen'] } })),
      ],
      ['project.reset', 'project', async () => done(await project.owner.post(`${settings()}/reset`))],
      [
        'project.keys_regenerated',
        'project',
        async () => done(await project.owner.post(`${settings()}/regenerate-keys`)),
      ],
      [
        'project.billing_limits_changed',
        'project',
        async () => done(await project.owner.put(`${settings()}/billing-limits`, { campaigns: 5 })),
      ],
      [
        'project.webhook_secret_rotated',
        'project',
        async () => done(await project.owner.post(`/projects/${project.id}/webhook-secret/rotate`)),
      ],
      [
        'webhook_endpoint.updated',
        'webhook_endpoint',
        async () =>
          done(await project.server.patch(`/webhook-endpoints/${own['webhook-endpoints']}`, { enabled: false })),
      ],
      [
        'webhook_endpoint.secret_rotated',
        'webhook_endpoint',
        async () => done(await project.server.post(`/webhook-endpoints/${own['webhook-endpoints']}/rotate-secret`, {})),
      ],
      [
        'webhook_endpoint.deleted',
        'webhook_endpoint',
        async () => done(await project.server.delete(`/webhook-endpoints/${own['webhook-endpoints']}`)),
      ],
      ['key.revoked', 'key', async () => done(await project.owner.delete(`/projects/${project.id}/keys/${own.keyId}`))],
      [
        'template.updated',
        'template',
        async () => done(await project.server.patch(`/templates/${own.templates}`, { name: 'x' })),
      ],
      [
        'template.published',
        'template',
        async () => {
          const draft = `/templates/${own.templates}/draft`;
          const { revision } = (await project.server.get(draft)).body;
          const saved = await project.server.put(draft, { subject: 'y', expectedRevision: revision });
          return done(await project.server.post(`${draft}/publish`, { expectedRevision: saved.body.revision }));
        },
      ],
      [
        'template.restored',
        'template',
        async () => done(await project.server.post(`/templates/${own.templates}/versions/1/restore`)),
      ],
      [
        'saved_block.created',
        'saved_block',
        async () =>
          done(
            await project.server.post('/saved-blocks', {
              name: 'x',
              kind: 'SECTION',
              document: { version: 1, content: [] },
            }),
          ),
      ],
      [
        'saved_block.changed',
        'saved_block',
        async () => done(await project.server.patch(`/saved-blocks/${own['saved-blocks']}`, { name: 'x' })),
      ],
      [
        'saved_block.deleted',
        'saved_block',
        async () => done(await project.server.delete(`/saved-blocks/${own['saved-blocks']}`)),
      ],
      [
        'form.created',
        'form',
        async () => done(await project.server.post('/forms', { name: 'Shop', status: 'PAUSED' })),
      ],
      ['form.updated', 'form', async () => done(await project.server.patch(`/forms/${own.forms}`, { name: 'x' }))],
      ['form.deleted', 'form', async () => done(await project.server.delete(`/forms/${own.forms}`))],
      ['topic.created', 'topic', async () => done(await project.server.post('/topics', { name: 'Offers' }))],
      ['topic.updated', 'topic', async () => done(await project.server.patch(`/topics/${own.topics}`, { name: 'x' }))],
      [
        'topics.reordered',
        'project',
        async () => {
          const others = (await project.server.get('/topics')).body.map(({ id }: { id: string }) => id);
          const { id } = (await project.server.post('/topics', { name: 'Offers' })).body;
          done(await project.server.post('/topics/reorder', { ids: [id, ...others] }));
        },
      ],
      ['topic.deleted', 'topic', async () => done(await project.server.delete(`/topics/${own.topics}`))],
      ['consents.exported', 'project', async () => done(await project.server.get('/consents/export'))],
      ['brand_kit.changed', 'brand_kit', async () => done(await project.server.put('/brand-kit', { radius: 3 }))],
      [
        'template.created',
        'template',
        async () => done(await project.server.post(`/templates/${own.templates}/duplicate`)),
      ],
      ['template.deleted', 'template', async () => done(await project.server.delete(`/templates/${own.templates}`))],
      [
        'segment.updated',
        'segment',
        async () => done(await project.server.patch(`/segments/${own.segments}`, { name: 'x' })),
      ],
      ['segment.deleted', 'segment', async () => done(await project.server.delete(`/segments/${own.segments}`))],
      [
        'workflow.updated',
        'workflow',
        async () => done(await project.server.patch(`/workflows/${own.workflows}`, { name: 'x' })),
      ],
      [
        'workflow.updated',
        'workflow',
        async () =>
          done(await project.server.patch(`/workflows/${own.workflows}/steps/${own.stepId}`, { name: 'other' })),
      ],
      [
        'workflow.enabled',
        'workflow',
        async () => done(await project.server.patch(`/workflows/${own.workflows}`, { enabled: true })),
      ],
      [
        'workflow.disabled',
        'workflow',
        async () => {
          done(await project.server.patch(`/workflows/${own.workflows}`, { enabled: true }));
          done(await project.server.patch(`/workflows/${own.workflows}`, { enabled: false }));
        },
      ],
      [
        'workflow.created',
        'workflow',
        async () => done(await project.server.post(`/workflows/${own.workflows}/duplicate`)),
      ],
      [
        'workflow.executions_migrated',
        'workflow',
        async () => done(await project.server.post(`/workflows/${own.workflows}/executions/migrate`)),
      ],
      [
        'workflow.executions_cancelled',
        'workflow',
        async () => done(await project.server.post(`/workflows/${own.workflows}/executions/cancel-all`)),
      ],
      [
        'workflow.deleted',
        'workflow',
        async () => {
          done(await project.server.post(`/workflows/${own.workflows}/executions/cancel-all`));
          done(await project.server.delete(`/workflows/${own.workflows}`));
        },
      ],
      ['campaign.created', 'campaign', async () => done(await project.server.post('/campaigns', campaign()))],
      [
        'campaign.updated',
        'campaign',
        async () => done(await project.server.put(`/campaigns/${own.campaigns}`, campaign())),
      ],
      [
        'campaign.updated',
        'campaign',
        async () => done(await project.server.patch(`/campaigns/${own.campaigns}`, { ratePerMinute: 9 })),
      ],
      [
        'campaign.sent',
        'campaign',
        async () => done(await project.server.post(`/campaigns/${own.campaigns}/send`, {})),
      ],
      [
        'campaign.scheduled',
        'campaign',
        async () => {
          const scheduledFor = new Date(Date.now() + 86_400_000).toISOString();
          done(await project.server.post(`/campaigns/${own.campaigns}/send`, { scheduledFor }));
        },
      ],
      [
        'campaign.paused',
        'campaign',
        async () => {
          done(await project.server.post(`/campaigns/${own.campaigns}/send`, {}));
          done(await project.server.post(`/campaigns/${own.campaigns}/pause`));
        },
      ],
      [
        'campaign.resumed',
        'campaign',
        async () => {
          done(await project.server.post(`/campaigns/${own.campaigns}/send`, {}));
          done(await project.server.post(`/campaigns/${own.campaigns}/pause`));
          done(await project.server.post(`/campaigns/${own.campaigns}/resume`));
        },
      ],
      [
        'campaign.cancelled',
        'campaign',
        async () => {
          done(await project.server.post(`/campaigns/${own.campaigns}/send`, {}));
          done(await project.server.post(`/campaigns/${own.campaigns}/cancel`));
        },
      ],
      [
        'campaign.resolved',
        'campaign',
        async () => done(await project.server.post(`/campaigns/${own.campaigns}/resolve`, { action: 'close' })),
      ],
      ['campaign.deleted', 'campaign', async () => done(await project.server.delete(`/campaigns/${own.campaigns}`))],
      ['domain.deleted', 'domain', async () => done(await project.server.delete(`/domains/${own.domains}`))],
      [
        'suppression.removed',
        'suppression',
        async () => done(await project.server.delete(`/suppressions/${own.email}`)),
      ],
      ['contacts.exported', 'contacts', async () => done(await project.server.get('/contacts/export'))],
      [
        'contacts.bulk_deleted',
        'job',
        async () => done(await project.server.post('/contacts/bulk-delete', { contactIds: [own.contactId] })),
      ],
      [
        'contacts.imported',
        'job',
        async () => {
          const form = new FormData();
          form.append('file', new Blob(['email\na@b.co\n']), 'contacts.csv');
          done(await project.server.post('/contacts/import', form));
        },
      ],
      [
        'field.deleted',
        'field',
        async () => done(await project.server.delete(`/contacts/fields/${encodeURIComponent(own.field)}`)),
      ],
      [
        'event.deleted',
        'event',
        async () => done(await project.server.delete(`/events/${encodeURIComponent(own.eventName)}`)),
      ],
      [
        'member.invited',
        'user',
        async () =>
          done(
            await project.owner.post(`/projects/${project.id}/members`, {
              email: `${newId()}@x.example`,
              role: 'MEMBER',
            }),
          ),
      ],
      [
        'member.joined',
        'user',
        async () => {
          const email = `${newId()}@x.example`;
          done(await project.owner.post(`/projects/${project.id}/members`, { email, role: 'MEMBER' }));
          const token = await tokenTo(api.db, email);
          done(await api.post('/auth/accept-invitation', { token, password: 'long enough' }));
        },
      ],
      [
        'member.role_changed',
        'user',
        async () => {
          const { id } = await person(api, { project: project.id, role: 'MEMBER' });
          done(await project.owner.patch(`/projects/${project.id}/members/${id}`, { role: 'ADMIN' }));
        },
      ],
      [
        'member.removed',
        'user',
        async () => {
          const { id } = await person(api, { project: project.id, role: 'MEMBER' });
          done(await project.owner.delete(`/projects/${project.id}/members/${id}`));
        },
      ],
    ];

    for (const [index, [action, target, act]] of acts.entries())
      it(`${action} (${index + 1})`, async () => {
        const before = (await entries('?limit=1'))[0]?.id;
        await act();
        const all = await entries('?limit=100');
        const recent = all.slice(
          0,
          all.findIndex(({ id }) => id === before),
        );
        const [entry] = recent;
        expect(entry?.action, JSON.stringify(recent)).to.equal(action);
        expect(entry?.target?.type).to.equal(target);
        expect(recent.filter(({ action: other }) => other === action)).to.have.length(1);
      });

    it('the creation of each resource once, and nothing per contact, event or mail', async () => {
      done(await project.server.post('/domains', { domain: 'audited.example' }));
      const actions = (await entries('?limit=100')).map((entry) => entry.action).sort();
      expect(actions).to.deep.equal(
        [
          'campaign.created',
          'contacts.bulk_subscribed',
          'domain.created',
          'form.created',
          'key.created',
          'project.created',
          'saved_block.created',
          'segment.created',
          'template.created',
          'topic.created',
          'webhook_endpoint.created',
          'workflow.created',
          'workflow.updated',
          'workflow.updated',
          'workflow.updated',
        ].sort(),
      );
      done(await project.server.post('/v1/send', { to: own.email, from, subject: 's', body: 'b' }));
      done(await project.browser.post('/v1/track', { email: own.email, event: 'seen' }));
      done(await project.server.post('/contacts', { email: 'new@example.com' }));
      done(await project.server.delete(`/contacts/${own.contactId}`));
      expect(await entries('?limit=100')).to.have.length(actions.length);
    });

    it('nothing for a change that changes nothing, and nothing for a refused one', async () => {
      const before = (await entries('?limit=100')).length;
      done(await project.server.patch(`/templates/${own.templates}`, { name: 't' }));
      done(await project.server.patch(`/segments/${own.segments}`, { name: 'VIPs' }));
      done(await project.server.patch(`/workflows/${own.workflows}`, { name: 'w' }));
      expect((await project.server.patch(`/segments/${newId()}`, { name: 'x' })).status).to.equal(404);
      expect((await project.server.post(`/campaigns/${own.campaigns}/pause`)).status).to.equal(409);
      expect((await project.server.post('/templates', { name: 'x' })).status).to.equal(422);
      expect(await entries('?limit=100')).to.have.length(before);
    });

    it('addresses and long texts only as changed', async () => {
      const change = { from: `other@${project.senderDomain}`, body: 'x'.repeat(5000), subject: 'New' };
      done(await project.server.patch(`/templates/${own.templates}`, change));
      const [entry] = await entries();
      expect(entry?.changes).to.deep.equal({
        subject: { from: 's', to: 'New' },
        body: { changed: true },
        fromEmail: { changed: true },
      });
    });
  });

  it('records an export before its first byte, and sends none when it cannot', async () => {
    done(await project.server.post('/contacts', { email: 'ann@example.com' }));
    const response = await fetch(`${api.url}/contacts/export`, {
      headers: { authorization: `Bearer ${project.secretKey}` },
    });
    expect((await entries('?action=contacts.exported')).length, 'when the headers arrive').to.equal(1);
    expect(await response.text()).to.include('ann@example.com');

    const lock = await api.db.transaction();
    await lockTable(lock, 'audit_log', 'share');
    const controller = new AbortController();
    const blocked = fetch(`${api.url}/contacts/export`, {
      headers: { authorization: `Bearer ${project.secretKey}` },
      signal: controller.signal,
    }).then(
      () => 'answered',
      () => 'aborted',
    );
    await eventually(
      async () => {
        const rows = await blockedConnections(lock);
        return rows.length > 0;
      },
      { what: 'an export that waits for the log' },
    );
    controller.abort();
    expect(await blocked).to.equal('aborted');
    await lock.rollback();
  });

  describe('GET /projects/:id/audit', () => {
    it('filters by actor, action, target and time', async () => {
      const segment = done(await project.server.post('/segments', { name: 'VIPs', type: 'STATIC' }));
      done(await project.owner.post('/segments', { name: 'Others', type: 'STATIC' }));
      done(await project.server.delete(`/segments/${segment.id}`));
      const actions = async (query: string) => (await entries(query)).map(({ action }) => action);
      expect(await actions(`?actor=${project.userId}`)).to.deep.equal(['segment.created']);
      expect(await actions(`?actor=KEY`)).to.deep.equal(['segment.deleted', 'segment.created']);
      expect(await actions(`?actor=SYSTEM`)).to.deep.equal(['project.created']);
      expect(await actions('?action=segment.deleted')).to.deep.equal(['segment.deleted']);
      expect(await actions(`?target=${segment.id}`)).to.deep.equal(['segment.deleted', 'segment.created']);
      expect(await actions('?target=segment')).to.have.length(3);
      expect(await actions('?target=segment&action=segment.created&actor=KEY')).to.have.length(1);
      const all = await entries();
      const at = encodeURIComponent(all[1]?.at ?? '');
      expect(await actions(`?until=${at}`)).to.have.length(2);
      expect((await actions(`?since=${at}`)).length).to.be.within(2, 3);
      expect(await actions(`?since=2020-01-01&until=${new Date().toISOString().slice(0, 10)}`)).to.have.length(4);
      expect(await actions('?until=2020-01-01')).to.deep.equal([]);
    });

    it('pages with a cursor that belongs to its filters', async () => {
      for (let n = 0; n < 5; n++) done(await project.server.post('/segments', { name: `S${n}`, type: 'STATIC' }));
      const all = await entries('?limit=100');
      const seen: Entry[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const answer: ApiAnswer = await project.owner.get(
          path(`?limit=2${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`),
        );
        expect(answer.body).to.have.all.keys('data', 'cursor', 'hasMore', 'total');
        expect(answer.body.total).to.equal(cursor ? 0 : all.length);
        expect(answer.body.hasMore).to.equal(answer.body.cursor !== null);
        seen.push(...answer.body.data);
        cursor = answer.body.cursor;
      }
      expect(seen).to.deep.equal(all);
      const { cursor } = (await project.owner.get(path('?limit=2'))).body;
      const other = path(`?limit=2&action=segment.created&cursor=${encodeURIComponent(cursor)}`);
      expect(await project.owner.get(other)).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('rejects bad filters with 400', async () => {
      for (const query of ['actor=nobody', 'since=yesterday', 'until=2026-02-30', 'since=2026-02-02&until=2026-02-01'])
        expect(await project.owner.get(path(`?${query}`)), query).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('is for ADMINs, and shows nothing of other projects', async () => {
      const member = await person(api, { project: project.id, role: 'MEMBER' });
      expect(await member.get(path())).to.be.envelope(403, 'FORBIDDEN');
      expect(await project.server.get(path())).to.be.envelope(401, 'UNAUTHORIZED');
      const other = await api.project();
      done(await other.server.post('/segments', { name: 'Theirs', type: 'STATIC' }));
      expect(JSON.stringify(await entries('?limit=100'))).not.to.include('Theirs');
    });

    it('hides rows that are older than 400 days', async () => {
      const row = { projectId: project.id, actorType: 'SYSTEM', action: 'project.updated' };
      const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
      await addAudit(api.db, [
        { id: newId(), at: daysAgo(399), ...row },
        { id: newId(), at: daysAgo(401), ...row },
      ]);
      expect(await entries('?action=project.updated')).to.have.length(1);
    });
  });

  describe('GET /users/@me/audit', () => {
    const own = async (someone: Person): Promise<Entry[]> => {
      const answer = await someone.get('/users/@me/audit');
      expect(answer.body).to.have.all.keys('data', 'cursor', 'hasMore', 'total');
      return answer.body.data;
    };
    const logIn = (someone: Person, password = someone.password) =>
      api.post('/auth/login', { email: someone.email, password });

    it("lists the account's log-ins, failed ones and password changes, and nothing of others", async () => {
      const someone = await person(api);
      const other = await person(api);
      done(await logIn(someone));
      expect((await logIn(someone, 'wrong')).status).to.equal(401);
      expect((await api.post('/auth/login', { email: 'nobody@x.example', password: 'wrong' })).status).to.equal(401);
      done(await logIn(other));
      const change = { currentPassword: someone.password, newPassword: 'another password' };
      const changed = await someone.post('/users/@me/password', change);
      done(changed);
      const now = { ...someone, ...client(api.url, { cookie: cookieOf(changed) }) };
      const log = await own(now);
      expect(log.map(({ action }) => action)).to.deep.equal([
        'user.password_changed',
        'user.login_failed',
        'user.logged_in',
      ]);
      const me = { type: 'USER', id: someone.id, name: someone.email };
      expect(log.map(({ actor }) => actor)).to.deep.equal([me, { type: 'USER', id: null, name: null }, me]);
      for (const { target, ip } of log) {
        expect(target).to.deep.equal({ type: 'user', id: someone.id, name: someone.email });
        expect(ip).to.equal('127.0.0.1');
      }
      expect(await own(other)).to.have.length(1);
    });

    it('lists a reset of the password, and pages', async () => {
      const someone = await person(api);
      await api.post('/auth/request-password-reset', { email: someone.email });
      await sendRequestedMails(api.db, readSettings({ BASE_URL: 'http://app.test' }));
      const token = await tokenTo(api.db, someone.email);
      done(await api.post('/auth/reset-password', { token, password: 'a new password' }));
      const answer = await logIn(someone, 'a new password');
      const session = client(api.url, { cookie: cookieOf(answer) });
      const first = (await session.get('/users/@me/audit?limit=1')).body;
      expect(first.data[0].action).to.equal('user.logged_in');
      expect(first).to.include({ total: 2, hasMore: true });
      const second = (await session.get(`/users/@me/audit?limit=1&cursor=${encodeURIComponent(first.cursor)}`)).body;
      expect(second.data[0].action).to.equal('user.password_reset');
      expect(second.hasMore).to.equal(false);
    });
  });
});
