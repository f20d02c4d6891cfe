import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { deleteOldImported } from '../../services/jobs/imported.ts';
import { runSlice } from '../../services/jobs/run.ts';
import { type ApiAnswer, type ApiProject, describeApi } from '../support/api.ts';
import { addContactSeries } from '../support/rows/contacts.ts';
import { eventually } from '../support/waiting.ts';

const ALL = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'contains', value: '@' }] }] };

describeApi('contacts in the dashboard', (api) => {
  let project: ApiProject;
  let stranger: ApiProject;

  beforeEach(async () => {
    [project, stranger] = await Promise.all([api.project(), api.project()]);
  });

  const add = async (name: string, data: object = {}): Promise<string> =>
    (await project.server.post('/contacts', { email: `${name}@example.com`, data })).body.id;
  const found = async (query: string): Promise<string[]> => {
    const { body } = await project.server.get(`/contacts?sort=email&dir=asc&${query}`);
    expect(body.total, query).to.equal(body.data.length);
    return body.data.map(({ email }: { email: string }) => email.split('@')[0]);
  };
  const segment = async (type: 'STATIC' | 'DYNAMIC', of = project): Promise<string> =>
    (await of.server.post('/segments', { name: type, type, ...(type === 'DYNAMIC' && { condition: ALL }) })).body.id;
  const members = async (id: string): Promise<string[]> =>
    (await project.server.get(`/segments/${id}/contacts`)).body.data
      .map(({ email }: { email: string }) => email.split('@')[0])
      .sort();

  describe('GET /contacts?query=', () => {
    beforeEach(async () => {
      await add('ann', { firstName: 'Anneliese', 'Last Name': 'Groß', plan: 'Zeta' });
      await add('zeta', { fullname: 'Bob_Miller' });
      await add('cem', { company: 'Miller', name: 5 });
    });

    it('looks in addresses and in fields whose names contain `name`, regardless of case', async () => {
      expect(await found('query=ELIES')).to.deep.equal(['ann']);
      expect(await found(`query=${encodeURIComponent('GROß')}`)).to.deep.equal(['ann']);
      expect(await found('query=zeta')).to.deep.equal(['zeta']);
      expect(await found('query=bob_m')).to.deep.equal(['zeta']);
      expect(await found('query=b%25m')).to.deep.equal([]);
      expect(await found('query=example.com')).to.deep.equal(['ann', 'cem', 'zeta']);
      expect(await found('query=5')).to.deep.equal(['cem']);
      expect(await found('query=')).to.have.lengthOf(3);
    });

    it('is served by an index', async () => {
      let plan = '';
      const rolledBack = api.db.transaction(async (trx) => {
        await addContactSeries(trx, project.id, 20_000);
        await trx.raw('analyze contacts');
        const { rows } = await trx.raw(
          `explain select id from contacts
           where project_id = ? and (email like '%miller%' or contact_names(data) like '%miller%')`,
          [project.id],
        );
        plan = rows.map((row: object) => Object.values(row).join()).join('\n');
        throw new Error('done');
      });
      await rolledBack.catch(() => {});
      expect(plan).to.contain('contacts_names').and.to.contain('contacts_search');
    });

    it('goes with other filters, and leaves `search` as it is', async () => {
      expect(await found('query=l&subscribed=true&data.plan=Zeta')).to.deep.equal(['ann']);
      expect(await found('search=miller')).to.deep.equal([]);
      expect((await stranger.server.get('/contacts?query=ann')).body.data).to.deep.equal([]);
      expect(await project.server.get(`/contacts?query=${'x'.repeat(1_001)}`)).to.be.envelope(400, 'BAD_REQUEST');
    });
  });

  describe('imports', () => {
    async function imported(
      content: string,
      fields: Record<string, string> = {},
    ): Promise<ApiAnswer & { jobId: string }> {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set('file', new Blob([content]), 'contacts.csv');
      const answer = await project.server.post('/imports', form);
      if (answer.status === 202) await runSlice(api.db, answer.body.jobId, () => false);
      return { ...answer, jobId: answer.body.jobId };
    }

    it('add everyone to a static segment, and remain a filter', async () => {
      await add('old');
      await add('other');
      const segmentId = await segment('STATIC');
      const { jobId } = await imported('email\nold@example.com\nnew@example.com\nbad\n', { segmentId });
      expect(await members(segmentId)).to.deep.equal(['new', 'old']);
      expect((await project.server.get(`/segments/${segmentId}`)).body.memberCount).to.equal(2);
      expect(await found(`importId=${jobId}`)).to.deep.equal(['new', 'old']);
      expect(await found(`importId=${jobId}&query=new`)).to.deep.equal(['new']);
      expect((await stranger.server.get(`/contacts?importId=${jobId}`)).body.data).to.deep.equal([]);
      const [{ id }] = (await project.server.get('/contacts?search=new@')).body.data;
      await project.server.delete(`/contacts/${id}`);
      expect(await found(`importId=${jobId}`)).to.deep.equal(['old']);
      expect(await found(`importId=${newId()}`)).to.deep.equal([]);
      expect(await project.server.get('/contacts?importId=1')).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('report values that do not fit the type of their column, before and during the import', async () => {
      const types = JSON.stringify({ Zip: 'string', Age: 'number', Vip: 'boolean', Born: 'date' });
      const file =
        'email,Zip,Age,Vip,Born,Free\n' +
        'ann@example.com,10115,34,yes,1990-02-28,7\n' +
        'bob@example.com,1,old,,,\n' +
        'cem@example.com,,,maybe,,\n' +
        'dan@example.com,,,,1990-02-30,\n';
      for (const dryRun of ['true', 'false']) {
        const { jobId } = await imported(file, { types, dryRun });
        const { result } = (await project.server.get(`/jobs/${jobId}`)).body;
        expect(result).to.deep.include({ created: 1, failed: 3 });
        expect(result.errors.map(({ error }: { error: string }) => error)).to.deep.equal([
          '"Age" must be a number',
          '"Vip" must be true or false',
          '"Born" must be a date, such as 2026-01-31',
        ]);
      }
      const [{ data }] = (await project.server.get('/contacts')).body.data;
      expect(data).to.deep.equal({ Zip: '10115', Age: 34, Vip: true, Born: '1990-02-28', Free: 7 });
      for (const wrong of ['x', '[]', '{"Zip":"zip"}'])
        expect(await imported(file, { types: wrong })).to.be.envelope(422, 'VALIDATION_ERROR');
    });

    it('are forgotten as a filter after 90 days', async () => {
      const { jobId } = await imported('email\nann@example.com\n');
      await api.db('import_contacts').insert({
        jobId: '01800000-0000-7000-8000-000000000000',
        projectId: project.id,
        contactId: newId(),
      });
      await deleteOldImported(api.db);
      const { rows } = await api.db.raw('select job_id from import_contacts where project_id = ?', [project.id]);
      expect(rows.map((row: { job_id?: string; jobId?: string }) => row.jobId ?? row.job_id)).to.deep.equal([jobId]);
    });

    it('change neither segment nor filter in a dry run', async () => {
      const segmentId = await segment('STATIC');
      await add('old');
      const { jobId } = await imported('email\nold@example.com\n', { segmentId, dryRun: 'true' });
      expect(await members(segmentId)).to.deep.equal([]);
      expect(await found(`importId=${jobId}`)).to.deep.equal([]);
    });

    it('answer 400 for a dynamic segment, 404 for an unknown one, and 422 for no id', async () => {
      const file = 'email\nann@example.com\n';
      expect(await imported(file, { segmentId: await segment('DYNAMIC') })).to.be.envelope(400, 'BAD_REQUEST');
      expect(await imported(file, { segmentId: newId() })).to.be.envelope(404, 'SEGMENT_NOT_FOUND');
      const foreign = await segment('STATIC', stranger);
      expect(await imported(file, { segmentId: foreign })).to.be.envelope(404, 'SEGMENT_NOT_FOUND');
      expect(await imported(file, { segmentId: 'x' })).to.be.envelope(422, 'VALIDATION_ERROR');
    });

    it('go on without a segment that is deleted meanwhile', async () => {
      const segmentId = await segment('STATIC');
      const form = new FormData();
      form.set('segmentId', segmentId);
      form.set('file', new Blob(['email\nann@example.com\n']), 'contacts.csv');
      const { jobId } = (await project.server.post('/contacts/import', form)).body;
      await project.server.delete(`/segments/${segmentId}`);
      await runSlice(api.db, jobId, () => false);
      expect((await project.server.get(`/jobs/${jobId}`)).body.result).to.deep.include({ created: 1, failed: 0 });
    });
  });

  describe('POST /segments/:id/freeze', () => {
    const freeze = async (id: string): Promise<ApiAnswer['body']> => {
      const answer = await project.server.post(`/segments/${id}/freeze`);
      expect(answer, JSON.stringify(answer.body)).to.have.status(202);
      expect(answer.body).to.have.all.keys('jobId');
      await runSlice(api.db, answer.body.jobId, () => false);
      return (await project.server.get(`/jobs/${answer.body.jobId}`)).body;
    };

    it('copies the present members into a static segment that no longer follows the condition', async () => {
      await add('ann');
      await add('bob');
      const id = await segment('DYNAMIC');
      const { type, status, result } = await freeze(id);
      expect({ type, status }).to.deep.equal({ type: 'BULK_ADD_TO_SEGMENT', status: 'COMPLETED' });
      const { segmentId, ...counts } = result;
      expect(counts).to.deep.equal({ requested: 2, changed: 2, unchanged: 0, failed: 0, errors: [] });
      await add('cem');
      expect(await members(segmentId)).to.deep.equal(['ann', 'bob']);
      expect((await project.server.get(`/segments/${segmentId}`)).body).to.include({
        name: 'DYNAMIC (Copy)',
        type: 'STATIC',
        memberCount: 2,
      });
    });

    it('copies a static segment too, also one without members', async () => {
      await add('ann');
      const id = await segment('STATIC');
      expect(await members((await freeze(id)).result.segmentId)).to.deep.equal([]);
      await project.server.post(`/segments/${id}/members`, { emails: ['ann@example.com'] });
      expect(await members((await freeze(id)).result.segmentId)).to.deep.equal(['ann']);
    });

    it('rejects a segment of another project with 404, and writes nothing', async () => {
      const answer = await project.server.post(`/segments/${await segment('DYNAMIC', stranger)}/freeze`);
      expect(answer).to.be.envelope(404, 'SEGMENT_NOT_FOUND');
      expect((await stranger.server.get('/segments')).body).to.have.lengthOf(1);
      expect((await project.server.get('/segments')).body).to.deep.equal([]);
    });
  });

  describe('POST /contacts/bulk', () => {
    const bulk = (body: object) => project.server.post('/contacts/bulk', { condition: ALL, ...body });
    const run = async (body: object): Promise<ApiAnswer['body']> => {
      const answer = await bulk(body);
      expect(answer, JSON.stringify(answer.body)).to.have.status(202);
      await runSlice(api.db, answer.body.jobId, () => false);
      return (await project.server.get(`/contacts/bulk/${answer.body.jobId}`)).body;
    };

    it('adds the contacts to a static segment', async () => {
      await add('ann');
      await add('bob');
      const toSegmentId = await segment('STATIC');
      await project.server.post(`/segments/${toSegmentId}/members`, { emails: ['ann@example.com'] });
      const job = await run({ action: 'ADD_TO_SEGMENT', toSegmentId, expectedCount: 2 });
      expect(job).to.include({ type: 'BULK_ADD_TO_SEGMENT', status: 'COMPLETED' });
      expect(job.result).to.deep.equal({ requested: 2, changed: 1, unchanged: 1, failed: 0, errors: [] });
      expect(await members(toSegmentId)).to.deep.equal(['ann', 'bob']);
    });

    it('fails the contacts of a segment that is deleted meanwhile', async () => {
      const contactId = await add('ann');
      const toSegmentId = await segment('STATIC');
      const { jobId } = (await bulk({ action: 'ADD_TO_SEGMENT', toSegmentId, expectedCount: 1 })).body;
      await project.server.delete(`/segments/${toSegmentId}`);
      await runSlice(api.db, jobId, () => false);
      const { result } = (await project.server.get(`/jobs/${jobId}`)).body;
      expect(result).to.deep.include({ changed: 0, failed: 1 });
      expect(result.errors).to.deep.equal([{ contactId, error: 'the segment no longer exists' }]);
    });

    it('sets and deletes a field by the rules of `data`', async () => {
      const id = await add('ann', { plan: 'free' });
      await add('bob', { plan: 'pro' });
      const data = async () => (await project.server.get(`/contacts/${id}`)).body.data;
      const set = await run({ action: 'SET_FIELD', field: 'plan', value: 'pro', expectedCount: 2 });
      expect(set.result).to.deep.include({ requested: 2, changed: 1, unchanged: 1 });
      expect(await data()).to.deep.equal({ plan: 'pro' });
      await run({ action: 'SET_FIELD', field: 'plan', value: '', expectedCount: 2 });
      await run({ action: 'SET_FIELD', field: 'n', value: { a: 1 }, expectedCount: 2 });
      expect(await data()).to.deep.equal({ plan: 'pro', n: { a: 1 } });
      const removed = await run({ action: 'SET_FIELD', field: 'plan', value: null, expectedCount: 2 });
      expect(removed.result).to.deep.include({ changed: 2 });
      expect(await data()).to.deep.equal({ n: { a: 1 } });
    });

    it('fails only contacts whose data would become too large', async () => {
      const large = 'x'.repeat(60_000);
      await add('ann', { a: large });
      await project.server.post('/contacts', { email: 'ann@example.com', data: { b: large } });
      await add('bob');
      // Noise, because stored data is compressed.
      const value = Array.from({ length: 15_000 }, (_, n) => ((n * 2_654_435_761) % 65_536).toString(36)).join('');
      const { result } = await run({
        action: 'SET_FIELD',
        field: 'c',
        value: value.slice(0, 60_000),
        expectedCount: 2,
      });
      expect(result.changed + result.failed).to.equal(2);
      expect(result.changed).to.be.greaterThan(0);
    });

    it('answers 400 for a dynamic segment, 404 for a foreign one, and 422 for what is missing or reserved', async () => {
      const dynamic = { action: 'ADD_TO_SEGMENT', toSegmentId: await segment('DYNAMIC'), expectedCount: 0 };
      expect(await bulk(dynamic)).to.be.envelope(400, 'BAD_REQUEST');
      const foreign = { ...dynamic, toSegmentId: await segment('STATIC', stranger) };
      expect(await bulk(foreign)).to.be.envelope(404, 'SEGMENT_NOT_FOUND');
      const bad = [
        { action: 'ADD_TO_SEGMENT' },
        { action: 'ADD_TO_SEGMENT', toSegmentId: 'x' },
        { action: 'SET_FIELD', field: 'plan' },
        { action: 'SET_FIELD', value: 1 },
        ...['email', 'subscribed', 'createdAt', 'unsubscribeUrl', 'id'].map((field) => ({
          action: 'SET_FIELD',
          field,
          value: 1,
        })),
        { action: 'SET_FIELD', field: 'x'.repeat(257), value: 1 },
        { action: 'SET_FIELD', field: 'x', value: 'x'.repeat(70_000) },
        { action: 'RENAME' },
      ];
      for (const body of bad)
        expect(await bulk({ ...body, expectedCount: 0 }), JSON.stringify(body).slice(0, 80)).to.be.envelope(
          422,
          'VALIDATION_ERROR',
        );
    });
  });

  describe('the size of a segment', () => {
    const age = (id: string) =>
      api
        .db('segments')
        .where({ id })
        .update({ countedAt: new Date(Date.now() - 11 * 60_000) });

    it('is counted again when the segment is read and the count is older than ten minutes', async () => {
      const id = await segment('DYNAMIC');
      const read = async () => (await project.server.get(`/segments/${id}`)).body;
      await add('ann');
      const first = await read();
      expect(first.memberCount).to.equal(0);
      await age(id);
      const second = await read();
      expect(second.memberCount).to.equal(1);
      expect(second.countedAt > first.countedAt).to.equal(true);
    });

    it('is counted in the background when segments are listed', async () => {
      const id = await segment('DYNAMIC');
      await add('ann');
      await age(id);
      await project.server.get('/segments');
      await eventually(async () => (await project.server.get('/segments')).body[0].memberCount === 1);
    });
  });
});
