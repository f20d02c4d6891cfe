import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { person } from '../support/accounts.ts';
import { type ApiAnswer, type ApiProject, client, describeApi } from '../support/api.ts';
import { insertWorkflow } from '../support/executions.ts';
import { expireScopedKey } from '../support/rows/accounts.ts';
import { analyzeTables } from '../support/rows/tables.ts';
import { addCompletedExecutions, addExecutions, addVisits } from '../support/rows/workflows.ts';
import { eventually } from '../support/waiting.ts';

describeApi('lists over a project and a person', (api) => {
  let project: ApiProject;
  let stranger: ApiProject;

  beforeEach(async () => {
    project = await api.project();
    stranger = await api.project();
  });

  const contact = async (email: string, data = {}, of = project) =>
    (await of.server.post('/contacts', { email, data })).body.id as string;
  const list = async (path: string, of = project) => {
    const { status, body } = await of.server.get(path);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  /** Follows the cursors and returns the ids of all pages. */
  async function walk(path: string): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await list(`${path}${path.includes('?') ? '&' : '?'}limit=2${cursor && `&cursor=${cursor}`}`);
      ids.push(...page.data.map(({ id }: { id: string }) => id));
      cursor = page.cursor;
    }
    return ids;
  }

  describe('GET /executions', () => {
    let workflow: Awaited<ReturnType<typeof insertWorkflow>>;
    let ann: string;

    async function add(contactId: string, status: string, step?: string): Promise<string> {
      const id = newId();
      await addExecutions(api.db, {
        id,
        projectId: project.id,
        workflowId: workflow.id,
        version: 1,
        contactId,
        status,
        currentStepId: step ? workflow.steps[step] : null,
        afterPosition: 0,
        oncePerContact: false,
      });
      return id;
    }

    beforeEach(async () => {
      const steps = { wait: ['DELAY', { amount: 1, unit: 'days' }], end: ['EXIT'] } as const;
      workflow = await insertWorkflow(api.db, project, { steps: { wait: [...steps.wait], end: ['EXIT'] } });
      ann = await contact('ann@x.co');
    });

    it('lists executions of all states, newest first, with names', async () => {
      const ids = [await add(ann, 'COMPLETED'), await add(ann, 'FAILED', 'wait'), await add(ann, 'WAITING', 'wait')];
      const page = await list('/executions');
      expect(page.data.map(({ id }: { id: string }) => id)).to.deep.equal(ids.toReversed());
      expect(page).to.include({ total: 3, hasMore: false, cursor: null });
      expect(page.data[0]).to.include({
        workflowId: workflow.id,
        workflowName: 'Drawn',
        contactEmail: 'ann@x.co',
        currentStepName: 'wait',
        status: 'WAITING',
      });
      expect(page.data[2]).to.include({ currentStepName: null });
      expect(await walk('/executions')).to.deep.equal(ids.toReversed());
    });

    it('filters by workflow, step, contact and status', async () => {
      const bob = await contact('bob@x.co');
      const waiting = await add(ann, 'WAITING', 'wait');
      const failed = await add(bob, 'FAILED', 'wait');
      const done = await add(bob, 'COMPLETED');
      const found = async (query: string) =>
        (await list(`/executions?${query}`)).data.map(({ id }: { id: string }) => id);
      expect(await found(`workflowId=${workflow.id}`)).to.deep.equal([done, failed, waiting]);
      expect(await found(`workflowId=${newId()}`)).to.deep.equal([]);
      expect(await found(`stepId=${workflow.steps.wait}`)).to.deep.equal([failed, waiting]);
      expect(await found(`contactId=${bob}&status=FAILED`)).to.deep.equal([failed]);
      expect(await found('status=COMPLETED')).to.deep.equal([done]);
      expect(await project.server.get('/executions?status=GONE')).to.be.envelope(400, 'BAD_REQUEST');
      expect((await list('/executions', stranger)).data).to.deep.equal([]);
    });

    it('lists those that have entered a step of a workflow, over several pages', async () => {
      const entered: string[] = [];
      for (let n = 0; n < 3; n++) {
        const id = await add(await contact(`e${n}@x.co`), 'COMPLETED');
        const visit = { id: newId(), projectId: project.id, executionId: id, stepId: workflow.steps.wait };
        await addVisits(api.db, { ...visit, visit: 0, type: 'DELAY', name: 'wait', status: 'COMPLETED' });
        entered.unshift(id);
      }
      await add(ann, 'COMPLETED');
      const query = `/executions?workflowId=${workflow.id}&enteredStepId=`;
      expect(await list(query + workflow.steps.wait)).to.include({ total: 3, hasMore: false });
      expect(await walk(query + workflow.steps.wait)).to.deep.equal(entered);
      expect((await list(query + workflow.steps.end)).data).to.deep.equal([]);
      expect((await list(query + workflow.steps.wait, stranger)).data).to.deep.equal([]);
      const alone = await project.server.get(`/executions?enteredStepId=${workflow.steps.wait}`);
      expect(alone).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('rejects a cursor of another filter', async () => {
      for (let n = 0; n < 3; n++) await add(await contact(`c${n}@x.co`), 'FAILED', 'wait');
      const { cursor } = await list('/executions?limit=1&status=FAILED');
      expect(await project.server.get(`/executions?cursor=${cursor}`)).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('lists those of one contact', async () => {
      const bob = await contact('bob@x.co');
      const first = await add(ann, 'COMPLETED');
      await add(bob, 'COMPLETED');
      const page = await list(`/contacts/${ann}/executions`);
      expect(page.data.map(({ id }: { id: string }) => id)).to.deep.equal([first]);
      expect(page.total).to.equal(1);
      expect((await list(`/contacts/${ann}/executions?status=FAILED`)).total).to.equal(0);
      expect(await stranger.server.get(`/contacts/${ann}/executions`)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
    });

    it('reads a page from an index, however many executions there are', async () => {
      await addCompletedExecutions(api.db, project.id, workflow.id, 5000);
      await analyzeTables(api.db, 'executions');
      const { rows } = await api.db.raw(
        `explain select id from executions where project_id = ? and status = 'FAILED' order by id desc limit 21`,
        [project.id],
      );
      expect(JSON.stringify(rows)).to.include('executions_project');
      expect((await list('/executions?status=FAILED')).data).to.deep.equal([]);
    });
  });

  describe('GET /contacts/:id/segments', () => {
    it('lists static and dynamic segments that the contact is in now', async () => {
      const ann = await contact('ann@x.co', { plan: 'pro' });
      const segment = async (body: object) => (await project.server.post('/segments', body)).body.id as string;
      const plan = (value: string) => ({
        logic: 'AND',
        groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value }] }],
      });
      const fixed = await segment({ name: 'Fixed', type: 'STATIC' });
      await segment({ name: 'Empty', type: 'STATIC' });
      const pro = await segment({ name: 'Pro', condition: plan('pro') });
      await segment({ name: 'Free', condition: plan('free') });
      const member = {
        logic: 'AND',
        groups: [{ filters: [{ field: `segment.${fixed}`, operator: 'memberOfSegment', value: true }] }],
      };
      const nested = await segment({ name: 'Nested', condition: member });
      await project.server.post(`/segments/${fixed}/members`, { emails: ['ann@x.co'] });
      const page = await list(`/contacts/${ann}/segments`);
      expect(page.data.map(({ id }: { id: string }) => id)).to.deep.equal([nested, pro, fixed]);
      expect(page.data[0]).to.include({ name: 'Nested', type: 'DYNAMIC' });
      expect(page.total).to.equal(3);
      expect(await walk(`/contacts/${ann}/segments`)).to.deep.equal([nested, pro, fixed]);
      expect(await stranger.server.get(`/contacts/${ann}/segments`)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      const lonely = await contact('bob@x.co', {}, stranger);
      expect((await list(`/contacts/${lonely}/segments`, stranger)).data).to.deep.equal([]);
    });
  });

  describe('GET /contacts/:id/export', () => {
    it('contains everything about the person and nothing about others', async () => {
      const ann = await contact('ann@x.co', { plan: 'pro' });
      await contact('bob@x.co');
      for (let n = 0; n < 103; n++)
        await project.browser.post('/v1/track', { email: 'ann@x.co', event: 'seen', data: { n } });
      await project.browser.post('/v1/track', { email: 'bob@x.co', event: 'hidden' });
      const from = `a@${project.senderDomain}`;
      await project.server.post('/v1/send', { to: 'ann@x.co', from, subject: 'Receipt', body: 'b' });
      await project.server.post('/suppressions', { email: 'ann@x.co', reason: 'asked by phone' });
      await project.server.post('/topics', { name: 'News' });
      const consent = { source: 'Order form' };
      const frequency = { count: 1, per: 'WEEK' };
      const chosen = { topics: { news: 'SUBSCRIBED' }, consent, frequency };
      expect(await project.server.patch(`/contacts/${ann}/topics`, chosen)).to.have.status(200);
      await project.server.post('/forms', { name: 'Newsletter', from, fields: [{ key: 'size', label: 'Size' }] });
      for (const email of ['ann@x.co', 'bob@x.co'])
        await project.server.post('/v1/subscribe', { form: 'newsletter', email, data: { size: 'L' }, ip: '192.0.2.1' });
      const { status, body, headers } = await project.server.get(`/contacts/${ann}/export`);
      expect(status).to.equal(200);
      expect(headers.get('content-disposition')).to.include('attachment');
      const lists = ['segments', 'consents', 'submissions', 'events', 'emails', 'executions'];
      expect(body).to.have.all.keys('contact', 'suppression', 'preferences', ...lists);
      expect(body.preferences).to.deep.include({ snoozedUntil: null, frequency });
      expect(body.preferences.topics[0]).to.include({ key: 'news', state: 'SUBSCRIBED', source: 'CHOICE' });
      const granted = body.consents.find(({ action }: { action: string }) => action === 'GRANTED');
      expect(granted).to.deep.include({ email: 'ann@x.co', method: 'API', evidence: consent });
      expect(body.submissions).to.have.lengthOf(1);
      expect(body.submissions[0]).to.deep.include({ status: 'RECEIVED', fields: { size: 'L' }, ip: null });
      expect(body.contact).to.deep.include({ id: ann, email: 'ann@x.co', data: { plan: 'pro', n: 102 } });
      const seen = body.events.filter(({ name }: { name: string }) => name === 'seen');
      expect(seen.map(({ data }: { data: { n: number } }) => data.n)).to.deep.equal([...Array(103).keys()]);
      expect(body.emails).to.have.lengthOf(1);
      expect(body.emails[0]).to.include({ subject: 'Receipt', to: 'ann@x.co' });
      expect(body.suppression).to.include({ reason: 'MANUAL', note: 'asked by phone' });
      expect(JSON.stringify(body)).not.to.include('bob@x.co');
    });

    it('is found by a session that names its project in the address; 404 to another project', async () => {
      const ann = await contact('ann@x.co');
      const browser = client(api.url, { cookie: project.cookie });
      expect(await browser.get(`/contacts/${ann}/export?projectId=${project.id}`)).to.have.status(200);
      expect(await browser.get(`/contacts/${ann}/export`)).to.be.envelope(400, 'BAD_REQUEST');
      expect(await browser.get(`/contacts/${ann}/export?projectId=${stranger.id}`)).to.be.envelope(403, 'FORBIDDEN');
      expect(await browser.get(`/contacts/${ann}?projectId=${project.id}`)).to.be.envelope(400, 'BAD_REQUEST');
      expect(await browser.get(`/contacts/export?projectId=${project.id}`)).to.have.status(200);
      expect(await stranger.server.get(`/contacts/${ann}/export`)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
    });
  });

  describe('GET /jobs', () => {
    it('lists jobs, newest first, filtered by type and status', async () => {
      const job = async (what: string) =>
        (await project.server.post(`/contacts/bulk-${what}`, { contactIds: [newId()] })).body.jobId as string;
      const ids = [await job('subscribe'), await job('delete'), await job('subscribe')];
      expect(await walk('/jobs')).to.deep.equal(ids.toReversed());
      await project.server.post(`/contacts/jobs/${ids[0]}/cancel`);
      const found = async (query: string) => (await list(`/jobs?${query}`)).data.map(({ id }: { id: string }) => id);
      expect(await found('type=BULK_DELETE')).to.deep.equal([ids[1]]);
      expect(await found('status=CANCELLED')).to.deep.equal([ids[0]]);
      expect((await list('/jobs?type=BULK_SUBSCRIBE&status=QUEUED')).total).to.equal(1);
      expect(await project.server.get('/jobs?type=OTHER')).to.be.envelope(400, 'BAD_REQUEST');
      expect((await list('/jobs', stranger)).data).to.deep.equal([]);
      expect((await list(`/jobs/${ids[1]}`)).type).to.equal('BULK_DELETE');
      expect(await stranger.server.get(`/jobs/${ids[1]}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });
  });

  describe('GET /requests', () => {
    const requests = async (query = '') => (await project.owner.get(`/requests${query}`)).body;

    it('lists failed requests with code, message and caller, without addresses', async () => {
      await project.server.post('/contacts', { email: 'not an address ann@x.co' }, { 'x-request-id': 'mine-1' });
      await project.server.get(`/contacts/${newId()}`);
      await project.owner.patch(`/contacts/${newId()}`, { email: 'x@y.co' });
      await project.browser.post('/v1/track', { event: 'x' });
      await project.server.get('/contacts');
      await eventually(async () => (await requests()).total === 4);
      const { data } = await requests();
      const of = (route: string, method = 'GET') =>
        data.find((one: { route: string; method: string }) => one.route === route && one.method === method);
      expect(of('/contacts', 'POST')).to.include({
        requestId: 'mine-1',
        status: 400,
        code: null,
        key: 'secret key',
        user: null,
      });
      expect(of('/contacts/:id')).to.include({ status: 404, code: 'CONTACT_NOT_FOUND' });
      expect(of('/contacts/:id', 'PATCH')).to.include({ status: 404, key: null });
      expect(of('/contacts/:id', 'PATCH').user).to.match(/^owner\d+@example\.com$/);
      expect(of('/v1/track', 'POST')).to.include({ status: 422, code: 'VALIDATION_ERROR', key: 'public key' });
      expect(data.map(({ message }: { message: string }) => message).join()).not.to.include('ann@x.co');
      expect((await requests('?status=404')).total).to.equal(2);
      expect((await requests('?route=/v1/track')).total).to.equal(1);
      expect((await requests('?limit=1')).hasMore).to.equal(true);
      expect((await stranger.owner.get('/requests')).body.data).to.deep.equal([]);
      expect(await project.owner.get('/requests?status=200')).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('lists what a known key or member was refused, by its name, and nothing of unknown keys', async () => {
      const keys = `/projects/${project.id}/keys`;
      const create = async (name: string, more: object) =>
        (await project.owner.post(keys, { name, scopes: ['send:write'], ...more })).body;
      const narrow = await create('Narrow', {});
      const elsewhere = await create('Elsewhere', { allowedIps: ['192.0.2.1'] });
      const expired = await create('Expired', {});
      await expireScopedKey(api.db, expired.id);
      const using = (key: string) => client(api.url, { authorization: `Bearer ${key}` });
      const member = await person(api, { project: project.id, role: 'MEMBER' });
      const refused: [Promise<ApiAnswer>, number, object][] = [
        [using(narrow.key).get('/contacts'), 403, { route: '/contacts', key: 'Narrow', code: 'FORBIDDEN' }],
        [using(elsewhere.key).post('/v1/send', {}), 401, { route: '/v1/send', key: 'Elsewhere' }],
        [using(expired.key).get('/emails'), 401, { route: '/emails', key: 'Expired' }],
        [project.browser.get('/contacts'), 401, { route: '/contacts', key: 'public key', code: 'INVALID_API_KEY' }],
        [project.server.post('/v1/track', {}), 401, { route: '/v1/track', key: 'secret key' }],
        [using(narrow.key).post('/v1/track', {}), 401, { route: '/v1/track', key: 'Narrow' }],
        [
          project.server.get(`/projects/${stranger.id}/webhook-secret`),
          404,
          { route: '/projects/:id/webhook-secret', key: 'secret key' },
        ],
        [member.get(keys), 403, { route: '/projects/:id/keys', key: null, user: member.email }],
      ];
      for (const [answer, status] of refused) {
        expect(await answer).to.have.status(status);
        expect((await answer).headers.get('ratelimit-limit')).to.equal(null);
      }
      for (const kind of ['pk', 'sk'])
        for (const path of ['/v1/track', '/v1/send'])
          expect(await using(`${kind}_${'A'.repeat(48)}`).post(path, {})).to.have.status(401);
      await eventually(async () => (await requests()).total === refused.length);
      const { data } = await requests();
      for (const [answer, status, expected] of refused) {
        const { requestId } = (await answer).body.error;
        const listed = data.find((one: { requestId: string }) => one.requestId === requestId);
        expect(listed, JSON.stringify(expected)).to.include({ status, ...expected });
      }
      expect((await stranger.owner.get('/requests')).body.data).to.deep.equal([]);
      for (const { lastUsedAt } of (await project.owner.get(keys)).body) expect(lastUsedAt).to.equal(null);
    });

    it('shows what each field has wrong, without values', async () => {
      const answer = await project.server.post('/views', {
        name: 'secret value',
        page: 'ann@secret.example',
        columns: 5,
      });
      expect(answer).to.have.status(422);
      const { requestId } = answer.body.error;
      const found = await eventually(async () =>
        (await requests()).data.find((one: { requestId: string }) => one.requestId === requestId),
      );
      const fields = found.errors.map(({ field, code }: { field: string; code: string }) => [field, code]);
      expect(fields).to.deep.equal(
        answer.body.error.errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
      );
      expect(found.errors.length).to.be.greaterThan(2);
      expect(JSON.stringify(found.errors)).not.to.contain('secret');
    });

    it('lists successful requests of keys once they are switched on, without bodies', async () => {
      const successful = () => requests('?successful=true');
      const logRequests = async (on: boolean) =>
        expect(await project.owner.patch(`/users/@me/projects/${project.id}`, { logRequests: on })).to.have.status(200);
      await project.server.get('/contacts?search=ann');
      await logRequests(true);
      expect((await project.owner.get(`/projects/${project.id}`)).body.logRequests).to.equal(true);
      // A process that has cached the key reads the setting a moment later.
      const found = await eventually(async () => {
        await project.server.get('/segments');
        const { data } = await successful();
        return data.length > 0 && data;
      });
      await project.owner.get('/templates');
      expect(found[0]).to.include({ route: '/segments', status: 200, message: '', code: null, key: 'secret key' });
      await project.server.get(`/contacts/${newId()}`);
      await eventually(async () => (await requests('?status=404')).total === 1);
      const routes = (await successful()).data.map(({ route }: { route: string }) => route);
      expect(new Set(routes)).to.deep.equal(new Set(['/segments']));
      expect((await stranger.owner.get('/requests?successful=true')).body.data).to.deep.equal([]);
      await logRequests(false);
      await eventually(async () => {
        const before = (await successful()).total;
        await project.server.get('/segments');
        const { requestId } = (await project.server.get(`/contacts/${newId()}`)).body.error;
        const isListed = async () =>
          (await requests()).data.some((one: { requestId: string }) => one.requestId === requestId);
        await eventually(isListed);
        return (await successful()).total === before;
      });
    });

    it('keeps the last 1,000 of a project', async () => {
      await api.db.raw(
        `insert into failed_requests (id, project_id, at, request_id, method, route, status, message)
         select uuidv7(), ?, now(), 'old-' || n, 'GET', '/x', 400, 'm' from generate_series(1, 1005) n`,
        [project.id],
      );
      await api.db.raw(
        `insert into failed_requests (id, project_id, at, request_id, method, route, status, message)
         select uuidv7(), ?, now(), 'good-' || n, 'GET', '/x', 200, '' from generate_series(1, 1005) n`,
        [project.id],
      );
      await project.server.get(`/contacts/${newId()}`);
      await eventually(async () => (await requests('?route=/contacts/:id')).total === 1);
      await eventually(async () => (await requests()).total === 1_000);
      await eventually(async () => (await requests('?successful=true')).total === 1_000);
    });

    it('is for sessions of an ADMIN', async () => {
      expect(await project.server.get('/requests')).to.be.envelope(401, 'UNAUTHORIZED');
      const member = await person(api, { project: project.id, role: 'MEMBER' });
      expect(await member.get('/requests', { 'x-project-id': project.id })).to.be.envelope(403, 'FORBIDDEN');
      const admin = await person(api, { project: project.id, role: 'ADMIN' });
      expect(await admin.get('/requests', { 'x-project-id': project.id })).to.have.status(200);
    });
  });

  describe('GET /', () => {
    it('redirects browsers to the dashboard and answers 404 to others', async () => {
      const answer = await fetch(`${api.url}/`, { redirect: 'manual', headers: { accept: 'text/html,*/*' } });
      expect(answer.status).to.equal(302);
      expect(answer.headers.get('location')).to.equal('/app/');
      expect(await api.get('/', { accept: 'application/json' })).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect(await api.get('/')).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });
  });
});
