import { expect } from 'chai';
import { runSlice } from '../../services/jobs/run.ts';
import { type ApiAnswer, type ApiProject, type Client, client, describeApi } from '../support/api.ts';

describeApi('jobs on contacts', (api) => {
  let project: ApiProject;
  let stranger: ApiProject;

  before(async () => {
    project = await api.project();
    stranger = await api.project();
  });

  function upload(content: string | Buffer, field = 'file', path = '/contacts/import'): Promise<ApiAnswer> {
    const form = new FormData();
    form.set(field, new Blob([new Uint8Array(Buffer.from(content))], { type: 'text/csv' }), 'contacts.csv');
    return project.server.post(path, form);
  }
  const run = (id: string) => runSlice(api.db, id, () => false);
  const bulk = (what: string, body: unknown) => project.server.post(`/contacts/bulk-${what}`, body);
  const id = '01900000-0000-7000-8000-000000000000';

  describe('POST /contacts/import', () => {
    it('answers 202 with the job before any row is processed', async () => {
      const answer = await upload('email,plan\nann@example.com,pro\nbad\n');
      expect(answer).to.have.status(202);
      expect(answer.body).to.have.all.keys('jobId');
      const before = await project.server.get(`/contacts/import/${answer.body.jobId}`);
      expect(before).to.have.status(200);
      expect(before.body).to.include({ type: 'IMPORT', status: 'QUEUED', progress: 0, processed: 0 });
      expect(before.body).to.include({ startedAt: null, completedAt: null, failedReason: null });
      await run(answer.body.jobId);
      const { body } = await project.server.get(`/contacts/import/${answer.body.jobId}`);
      expect(body).to.include({ status: 'COMPLETED', progress: 100, total: 2, processed: 2 });
      expect(body.result).to.deep.include({ totalRows: 2, created: 1, failed: 1 });
      expect(body.result.errors).to.deep.equal([{ row: 3, email: 'bad', error: 'not a valid email address' }]);
    });

    it('answers 400 without a file, without CSV in it, or without an e-mail column', async () => {
      expect(await upload('email\n', 'other')).to.be.envelope(400, 'BAD_REQUEST');
      expect(await upload(Buffer.from([0, 1, 2, 255]))).to.have.status(400);
      const answer = await upload('name\nAnn\n');
      expect(answer).to.have.status(400);
      expect(answer.body.error.message).to.include('"email"');
    });

    it('answers 404 to a segment that the project does not have', async () => {
      const form = new FormData();
      form.set('segmentId', id);
      form.set('file', new Blob(['email\nann@example.com\n'], { type: 'text/csv' }), 'contacts.csv');
      expect(await project.server.post('/contacts/import', form)).to.be.envelope(404, 'SEGMENT_NOT_FOUND');
    });

    it('answers 413 above 5 MB, and accepts 5 MB', async () => {
      const line = `email\n`;
      const fill = (bytes: number) => line + 'x'.repeat(bytes - line.length);
      expect(await upload(fill(5 * 1024 * 1024 + 1))).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
      expect(await upload(fill(5 * 1024 * 1024))).to.have.status(202);
    });

    it('answers 400 to two files, whatever their size', async () => {
      const form = new FormData();
      for (const name of ['a.csv', 'b.csv']) form.append('file', new Blob(['email\n']), name);
      const answer = await project.server.post('/contacts/import', form);
      expect(answer).to.be.envelope(400, 'BAD_REQUEST');
      expect(answer.body.error.message).to.include('more files');
    });

    it('accepts a file without a Content-Type of its own, as Python sends it', async () => {
      const head = 'Content-Disposition: form-data; name="file"; filename="contacts.csv"';
      const response = await fetch(`${api.url}/contacts/import`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${project.secretKey}`,
          'content-type': 'multipart/form-data; boundary=limit',
        },
        body: `--limit\r\n${head}\r\n\r\nemail\nzoe@example.com\n\r\n--limit--\r\n`,
      });
      expect(response.status).to.equal(202);
    });

    it('answers 400 to a body that is not multipart', async () => {
      expect(await project.server.post('/contacts/import', { file: 'email' })).to.be.envelope(400, 'BAD_REQUEST');
    });
  });

  describe('POST /contacts/bulk-*', () => {
    it('answers 202 to the list under either of its names', async () => {
      expect(await bulk('subscribe', { contactIds: [id] })).to.have.status(202);
      expect(await bulk('unsubscribe', { ids: [id] })).to.have.status(202);
    });

    it('answers 422 to no ids, too many ids or an invalid id', async () => {
      for (const body of [{}, { contactIds: [] }, { contactIds: Array(1_001).fill(id) }, { contactIds: ['x'] }])
        expect(await bulk('delete', body)).to.be.envelope(422, 'VALIDATION_ERROR');
    });

    it('counts unknown ids as failed', async () => {
      const { body } = await bulk('delete', { contactIds: [id] });
      await run(body.jobId);
      const job = await project.server.get(`/contacts/bulk/${body.jobId}`);
      expect(job.body).to.include({ type: 'BULK_DELETE', status: 'COMPLETED', progress: 100 });
      expect(job.body.result).to.deep.include({ requested: 1, changed: 0, failed: 1 });
    });
  });

  describe('the state of a job', () => {
    it('is found only under its own type and by its own project', async () => {
      const imported = (await upload('email\n')).body.jobId;
      const bulked = (await bulk('subscribe', { ids: [id] })).body.jobId;
      expect(await project.server.get(`/contacts/bulk/${imported}`)).to.have.status(404);
      expect(await project.server.get(`/contacts/import/${bulked}`)).to.have.status(404);
      expect(await stranger.server.get(`/contacts/import/${imported}`)).to.have.status(404);
      expect(await project.server.get('/contacts/import/nonsense')).to.have.status(404);
    });
  });

  describe('POST /contacts/jobs/:jobId/cancel', () => {
    it('cancels a job, and answers 409 once it has ended', async () => {
      const { jobId } = (await upload('email\nx@example.com\n')).body;
      expect(await stranger.server.post(`/contacts/jobs/${jobId}/cancel`)).to.have.status(404);
      const answer = await project.server.post(`/contacts/jobs/${jobId}/cancel`);
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ id: jobId, status: 'CANCELLED', processed: 0 });
      expect((await run(jobId)).ended).to.equal(true);
      expect(await project.server.post(`/contacts/jobs/${jobId}/cancel`)).to.be.envelope(409, 'CONFLICT');
    });
  });

  describe('a key with scopes', () => {
    const keyWith = async (...scopes: string[]): Promise<Client> => {
      const { body } = await project.owner.post(`/projects/${project.id}/keys`, { name: 'k', scopes });
      return client(api.url, { authorization: `Bearer ${body.key}` });
    };
    /** One job of each resource. */
    let jobs: { contacts: string; send: string; workflows: string };
    type Resource = keyof typeof jobs;
    const resources: Resource[] = ['contacts', 'send', 'workflows'];

    beforeEach(async () => {
      project = await api.project();
      const { id: workflowId } = (await project.server.post('/workflows', { name: 'w', eventName: 'x' })).body;
      jobs = {
        contacts: (await upload('email\nnot an address\n')).body.jobId,
        send: (await upload('email\nnot an address\n', 'file', '/suppressions/import')).body.jobId,
        workflows: (await project.server.post(`/workflows/${workflowId}/executions/retry-failed`, {})).body.jobId,
      };
    });

    const lacks = (answer: ApiAnswer, scope: string) => {
      expect(answer).to.be.envelope(403, 'FORBIDDEN');
      expect(answer.body.error.details).to.deep.equal({ missingScope: scope, anyOf: [scope] });
    };

    for (const own of resources)
      it(`with ${own}:read reads only jobs of its resource, and their errors`, async () => {
        const key = await keyWith(`${own}:read`);
        const { data, total } = (await key.get('/jobs')).body;
        expect(data.map((job: { id: string }) => job.id)).to.deep.equal([jobs[own]]);
        expect(total).to.equal(1);
        for (const resource of resources) {
          const answer = await key.get(`/jobs/${jobs[resource]}`);
          if (resource === own) expect(answer).to.have.status(200);
          else lacks(answer, `${resource}:read`);
        }
        if (own === 'workflows') return;
        for (const resource of ['contacts', 'send'] as const)
          for (const path of ['', '/errors']) {
            const answer = await key.get(`/contacts/import/${jobs[resource]}${path}`);
            if (resource === own) expect(answer).to.have.status(200);
            else lacks(answer, `${resource}:read`);
          }
      });

    for (const own of resources)
      it(`with ${own}:write cancels only jobs of its resource`, async () => {
        const key = await keyWith(`${own}:write`);
        for (const resource of resources) {
          const answer = await key.post(`/contacts/jobs/${jobs[resource]}/cancel`);
          if (resource === own) expect(answer.body).to.include({ status: 'CANCELLED' });
          else lacks(answer, `${resource}:write`);
        }
      });

    it('finds no job of another resource by type, and pages through its own', async () => {
      const key = await keyWith('contacts:read');
      await bulk('delete', { ids: [id] });
      await upload('email\n', 'file', '/suppressions/import');
      const { body: first } = await key.get('/jobs?limit=1');
      expect(first).to.deep.include({ total: 2, hasMore: true });
      expect(first.data[0].type).to.equal('BULK_DELETE');
      const { body: second } = await key.get(`/jobs?limit=1&cursor=${first.cursor}`);
      expect(second).to.deep.include({ total: 0, hasMore: false, cursor: null });
      expect(second.data[0].id).to.equal(jobs.contacts);
      expect((await key.get('/jobs?type=SUPPRESSION_IMPORT')).body).to.deep.include({ data: [], total: 0 });
      expect((await key.get('/jobs?type=IMPORT')).body.total).to.equal(1);
      for (const all of [await keyWith('all'), await keyWith('send:write', 'workflows:read', 'contacts:read')])
        expect((await all.get('/jobs')).body.total).to.equal(5);
    });
  });
});
