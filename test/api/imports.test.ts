import { expect } from 'chai';
import { ReceiveLimit } from '../../api/http/receive-limit.ts';
import { newId } from '../../platform/ids.ts';
import { deleteOldErrors } from '../../services/jobs/errors.ts';
import { runSlice } from '../../services/jobs/run.ts';
import { type ApiProject, client, describeApi, startTestApi } from '../support/api.ts';
import { RawHttp } from '../support/raw-http.ts';
import { readContacts, readJobs } from '../support/reading.ts';
import { addContactSeries, storedContacts } from '../support/rows/contacts.ts';
import { replaceFirstChunk, setJobs, storedChunks, storedJobErrors } from '../support/rows/jobs.ts';
import { eventually } from '../support/waiting.ts';

type Fields = Record<string, string>;

/** Uploads that never end keep their places for the whole test. */
const options = { env: { IMPORT_MAX_BYTES: String(12 * 1024 * 1024) }, receiving: new ReceiveLimit(3_600_000) };

describeApi('imports and bulk jobs', options, (api) => {
  let project: ApiProject;
  let stranger: ApiProject;

  beforeEach(async () => {
    project = await api.project();
    stranger = await api.project();
  });

  function form(content: string | Buffer, fields: Fields = {}): FormData {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) data.set(name, value);
    data.set('file', new Blob([new Uint8Array(Buffer.from(content))], { type: 'text/csv' }), 'contacts.csv');
    return data;
  }
  const upload = (content: string | Buffer, fields?: Fields, path = '/contacts/import') =>
    project.server.post(path, form(content, fields));
  /** Runs the job to its end, one chunk at a time, as if the worker was replaced after each. */
  async function finish(jobId: string): Promise<void> {
    for (let ended = false; !ended; ) ({ ended } = await runSlice(api.db, jobId, () => true));
  }
  async function imported(content: string, fields?: Fields, path?: string) {
    const { status, body } = await upload(content, fields, path);
    expect(status, JSON.stringify(body)).to.equal(202);
    await finish(body.jobId);
    return (await project.server.get(`/contacts/import/${body.jobId}`)).body;
  }
  const contacts = async () => (await project.server.get('/contacts?limit=100&sort=email&dir=asc')).body.data;

  describe('the form fields', () => {
    it('map columns to fields and leave columns out', async () => {
      const mapping = JSON.stringify({ Mail: 'email', Vorname: 'data.firstName', Geheim: null });
      const { result } = await imported('Mail,Vorname,Geheim,plan\nann@x.co,Ann,x,pro\n', { mapping });
      expect(result).to.deep.include({ created: 1, failed: 0 });
      expect((await contacts())[0]).to.deep.include({ email: 'ann@x.co', data: { firstName: 'Ann', plan: 'pro' } });
    });

    it('decide the state of new contacts, not of existing ones', async () => {
      await project.server.post('/contacts', { email: 'old@x.co', subscribed: true });
      await imported('email,subscribed\nnew@x.co,\nold@x.co,\nyes@x.co,true\n', { subscribed: 'false' });
      const states = (await contacts()).map(({ email, subscribed }: Fields) => [email, subscribed]);
      expect(states).to.deep.equal([
        ['new@x.co', false],
        ['old@x.co', true],
        ['yes@x.co', true],
      ]);
    });

    it('make a dry run, which writes nothing and says what would be written', async () => {
      await project.server.post('/contacts', { email: 'same@x.co', data: { plan: 'pro' } });
      await project.server.post('/contacts', { email: 'other@x.co', data: { plan: 'free' } });
      const before = await contacts();
      const file = 'email,plan\nsame@x.co,pro\nother@x.co,pro\nnew@x.co,pro\nnew@x.co,free\nbad\n';
      const { result, ...job } = await imported(file, { dryRun: 'true' });
      expect(job).to.include({ status: 'COMPLETED', processed: 5 });
      const counts = { totalRows: 5, created: 1, updated: 2, unchanged: 1, failed: 1 };
      expect(result).to.deep.include({ dryRun: true, ...counts });
      expect(await contacts()).to.deep.equal(before);
      const real = await imported(file);
      expect(real.result).to.deep.include(counts).and.not.have.property('dryRun');
    });

    it('are rejected when they cannot be read', async () => {
      for (const mapping of ['{', '[]', '{"email": 1}', '"email"'])
        expect(await upload('email\n', { mapping })).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await upload('email\n', { mapping: '{"gone": "email"}' })).to.be.envelope(400, 'BAD_REQUEST');
      expect(await upload('email\n', { dryRun: 'perhaps' })).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await readJobs(project)).to.deep.equal([]);
      expect(await storedChunks(api.db)).to.deep.equal([]);
    });
  });

  describe('POST /imports', () => {
    it('stores a file of several parts, and continues with the next part', async () => {
      const padding = 'x'.repeat(900);
      const rows = Array.from({ length: 3_000 }, (_, n) => `u${String(n).padStart(4, '0')}@x.co,"${n},\n${padding}"`);
      const { status, body } = await upload(`email,note\n${rows.join('\n')}\n`, {}, '/imports');
      expect(status).to.equal(202);
      const parts = await storedChunks(api.db, { jobId: body.jobId });
      expect(parts.map(({ content }) => content.length).filter((length) => length === 1024 * 1024)).to.have.lengthOf(2);
      expect(await runSlice(api.db, body.jobId, () => true)).to.deep.equal({
        ended: false,
        processed: 1_000,
        total: 3_000,
      });
      await runSlice(api.db, body.jobId, () => true);
      // Of the first part only the header is read again: all else in it is processed.
      await replaceFirstChunk(api.db, body.jobId, 'email,note\n');
      await finish(body.jobId);
      const { result } = (await project.server.get(`/jobs/${body.jobId}`)).body;
      expect(result).to.deep.include({ totalRows: 3_000, created: 3_000, updated: 0, failed: 0 });
    });

    it('imports every row once, chunk by chunk', async () => {
      const padding = 'x'.repeat(500);
      const rows = Array.from({ length: 4_500 }, (_, n) => `u${n}@x.co,"${n};\r\n${padding}"`);
      const job = await imported(`email,note\r\n${rows.join('\r\n')}\r\n`, {}, '/imports');
      expect(job).to.include({ status: 'COMPLETED', total: 4_500, processed: 4_500 });
      expect(job.result).to.deep.include({ created: 4_500, updated: 0, failed: 0 });
      const stored = await storedContacts(api.db, { projectId: project.id });
      expect(stored).to.have.lengthOf(4_500);
      for (const { email, data } of stored) expect(data.note).to.equal(`${email.slice(1, -5)};\r\n${padding}`);
      expect(await storedChunks(api.db, { jobId: job.id })).to.deep.equal([]);
    });

    it('answers 413 above IMPORT_MAX_BYTES, and 400 to what is not text, wherever it is', async () => {
      const fill = (bytes: number) => `email\n${'x'.repeat(bytes - 6)}`;
      expect(await upload(fill(12 * 1024 * 1024 + 1), {}, '/imports')).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
      for (const bytes of [Buffer.from([0xff]), Buffer.from([0]), Buffer.from('é').subarray(0, 1)]) {
        const file = Buffer.concat([Buffer.from(fill(2 * 1024 * 1024)), bytes]);
        expect(await upload(file, {}, '/imports')).to.be.envelope(400, 'BAD_REQUEST');
      }
      expect(await upload('name\nAnn\n', {}, '/imports')).to.be.envelope(400, 'BAD_REQUEST');
      expect(await upload(`email${'x'.repeat(2 * 1024 * 1024)}\n`, {}, '/imports')).to.be.envelope(400, 'BAD_REQUEST');
      expect(await readJobs(project)).to.deep.equal([]);
    });
  });

  describe('GET /contacts/import/:jobId/errors', () => {
    const errorsOf = async (jobId: string) => (await project.server.get(`/contacts/import/${jobId}/errors`)).body;

    it('returns all bad rows, more than the job shows, with row number and reason', async () => {
      const rows = Array.from({ length: 2_500 }, (_, n) => (n % 2 ? `u${n}@x.co` : `=bad ${n}`));
      const job = await imported(`email\n${rows.join('\n')}\n`);
      expect(job.result.errors).to.have.lengthOf(1_000);
      const answer = await project.server.get(`/contacts/import/${job.id}/errors`);
      expect(answer.headers.get('content-type')).to.equal('text/csv; charset=utf-8');
      const lines = answer.body.trim().split('\r\n');
      expect(lines).to.have.lengthOf(1_251);
      expect(lines.slice(0, 2)).to.deep.equal(['row,email,error', "2,'=bad 0,not a valid email address"]);
      const browser = client(api.url, { cookie: project.cookie });
      expect(await browser.get(`/contacts/import/${job.id}/errors?projectId=${project.id}`)).to.have.status(200);
      expect(await stranger.server.get(`/contacts/import/${job.id}/errors`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });

    it('forgets the address of a contact that is deleted, and all rows after 30 days', async () => {
      const job = await imported('email,subscribed\nAnn@x.co,maybe\n');
      const { body: contact } = await project.server.post('/contacts', { email: 'ann@x.co' });
      expect(await errorsOf(job.id)).to.include('Ann@x.co');
      await project.server.delete(`/contacts/${contact.id}`);
      expect(await errorsOf(job.id))
        .to.include('2,,')
        .and.not.include('@x.co');
      await deleteOldErrors(api.db);
      expect(await storedJobErrors(api.db, job.id)).to.have.lengthOf(1);
      await setJobs(api.db, { id: job.id }, { completedAt: new Date(Date.now() - 31 * 86_400_000) });
      await deleteOldErrors(api.db);
      expect(await storedJobErrors(api.db, job.id)).to.deep.equal([]);
    });
  });

  describe('POST /contacts/bulk', () => {
    const isPro = {
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
    };
    const addContacts = (count: number) =>
      addContactSeries(api.db, project.id, count, { prefix: 'p', domain: 'x.co', data: `'{"plan": "pro"}'` });
    const bulk = (body: object) => project.server.post('/contacts/bulk', body);

    it('changes all contacts that match, in chunks, and no others', async () => {
      await addContacts(2_300);
      await project.server.post('/contacts', { email: 'free@x.co', data: { plan: 'free' } });
      const { status, body } = await bulk({ action: 'UNSUBSCRIBE', condition: isPro, expectedCount: 2_300 });
      expect(status).to.equal(202);
      expect(await runSlice(api.db, body.jobId, () => true)).to.deep.equal({
        ended: false,
        processed: 1_000,
        total: 2_300,
      });
      await project.server.post('/contacts', { email: 'late@x.co', data: { plan: 'pro' } });
      await finish(body.jobId);
      const job = (await project.server.get(`/contacts/bulk/${body.jobId}`)).body;
      expect(job).to.include({ type: 'BULK_UNSUBSCRIBE', status: 'COMPLETED', processed: 2_300 });
      expect(job.result).to.deep.include({ requested: 2_300, changed: 2_300, unchanged: 0, failed: 0 });
      const subscribed = (await readContacts(project)).filter((contact) => contact.subscribed);
      expect(subscribed.map(({ email }) => email)).to.deep.equal(['free@x.co', 'late@x.co']);
    });

    it('deletes the members of a segment', async () => {
      await addContacts(3);
      const { body: segment } = await project.server.post('/segments', { name: 'Pro', condition: isPro });
      const { body } = await bulk({ action: 'DELETE', segmentId: segment.id, expectedCount: 3 });
      await finish(body.jobId);
      expect(await contacts()).to.deep.equal([]);
    });

    it('completes at once when nothing matches and nothing was expected', async () => {
      const { body } = await bulk({ action: 'SUBSCRIBE', condition: isPro, expectedCount: 0 });
      await finish(body.jobId);
      const job = (await project.server.get(`/contacts/bulk/${body.jobId}`)).body;
      expect(job).to.include({ status: 'COMPLETED', total: 0, progress: 100 });
    });

    it('answers 409 when the number differs by more than 1 %, and stores nothing', async () => {
      await addContacts(202);
      const answer = await bulk({ action: 'DELETE', condition: isPro, expectedCount: 199 });
      expect(answer).to.be.envelope(409, 'CONFLICT');
      expect(answer.body.error.details).to.deep.equal({ count: 202, expectedCount: 199 });
      expect(await readJobs(project)).to.deep.equal([]);
      expect(await bulk({ action: 'DELETE', condition: isPro, expectedCount: 200 })).to.have.status(202);
    });

    it('rejects a wrong action, no selection, two selections, a wrong condition and a foreign segment', async () => {
      const { body: segment } = await stranger.server.post('/segments', { name: 'Theirs', condition: isPro });
      const action = 'DELETE';
      for (const body of [
        { action: 'ERASE', condition: isPro, expectedCount: 1 },
        { action, expectedCount: 1 },
        { action, condition: isPro },
        { action, condition: isPro, expectedCount: -1 },
        { action, condition: isPro, segmentId: segment.id, expectedCount: 1 },
      ])
        expect(await bulk(body)).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await bulk({ action, condition: {}, expectedCount: 1 })).to.be.envelope(400, 'BAD_REQUEST');
      for (const segmentId of [segment.id, newId()])
        expect(await bulk({ action, segmentId, expectedCount: 1 })).to.be.envelope(404, 'SEGMENT_NOT_FOUND');
    });

    it('answers 400 to a condition that names a segment which the project does not have', async () => {
      await addContacts(2);
      const { body: foreign } = await stranger.server.post('/segments', { name: 'Theirs', condition: isPro });
      for (const id of [foreign.id, newId()]) {
        const filters = [{ field: `segment.${id}`, operator: 'notMemberOfSegment' }];
        const condition = { logic: 'AND', groups: [{ filters }] };
        const answer = await bulk({ action: 'DELETE', condition, expectedCount: 2 });
        expect(answer).to.be.envelope(400, 'BAD_REQUEST');
        expect(answer.body.error.errors[0].field).to.equal('condition.groups.0.filters.0.field');
      }
      expect(await readJobs(project)).to.deep.equal([]);
    });
  });

  describe('large files that arrive slowly', () => {
    const bodies: RawHttp[] = [];
    afterEach(() => {
      for (const body of bodies.splice(0)) body.destroy();
    });

    /** Begins an upload and never sends its end. */
    async function begin({ secretKey }: ApiProject, url: string): Promise<RawHttp> {
      const body = await RawHttp.open(url);
      bodies.push(body);
      const head = [
        'POST /imports HTTP/1.1',
        'Host: x',
        `Authorization: Bearer ${secretKey}`,
        'Content-Type: multipart/form-data; boundary=b',
        'Content-Length: 1000000',
      ];
      const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\r\n';
      await body.drained(`${head.join('\r\n')}\r\n\r\n${part}`);
      return body;
    }
    const uploadOf = (owner: ApiProject) => owner.server.post('/imports', form('email\na@x.co\n'));

    it('take two places of their project, and none of others', async () => {
      for (let n = 0; n < 6; n++) await begin(project, api.url);
      await eventually(async () => (await uploadOf(project)).status === 429, { what: 'the project to have no place' });
      expect(await uploadOf(stranger)).to.have.status(202);
    });

    it('leave a place for the first file of another project', async () => {
      const crowd = [project, await api.project(), await api.project()];
      for (const owner of crowd) for (let n = 0; n < 2; n++) await begin(owner, api.url);
      await eventually(async () => (await uploadOf(project)).status === 429, { what: 'the project to have no place' });
      for (const owner of [stranger, await api.project()]) expect(await uploadOf(owner)).to.have.status(202);
    });

    it('are answered with 408', async () => {
      const database = { db: api.db, url: api.databaseUrl, close: async () => {} };
      const impatient = await startTestApi({ database, receiving: new ReceiveLimit(300) });
      try {
        const body = await begin(project, impatient.url);
        const answer = await body.answer();
        expect(answer.status).to.equal(408);
        expect(JSON.parse(answer.body).error.message).to.include('16 kB/s');
        await body.closed();
      } finally {
        await impatient.stop();
      }
    });
  });

  describe('suppressions', () => {
    const listed = async () => (await project.server.get('/suppressions')).body.data;
    const send = (to: string) =>
      project.server.post('/v1/send', { to, from: `a@${project.senderDomain}`, subject: 's', body: 'b' });

    it('are added by hand: the contact is unsubscribed, and no mail is sent', async () => {
      const { body: contact } = await project.server.post('/contacts', { email: 'ann@x.co' });
      const answer = await project.server.post('/suppressions', { email: 'Ann@X.co ' });
      expect(answer).to.have.status(201);
      expect(answer.body).to.include({ email: 'ann@x.co', reason: 'MANUAL', emailId: null });
      expect((await project.server.get(`/contacts/${contact.id}`)).body.subscribed).to.equal(false);
      const events = (await project.server.get(`/events/contact/${contact.id}`)).body.data;
      expect(events[0]).to.deep.include({ name: 'contact.unsubscribed', data: { reason: 'suppressed' } });
      const mail = (await send('ann@x.co')).body.data.emails[0].email;
      expect((await project.server.get(`/emails/${mail}`)).body).to.include({ status: 'FAILED', reason: 'suppressed' });
      const again = await project.server.post('/suppressions', { email: 'ann@x.co' });
      expect(again, 'on the list already').to.have.status(201);
      expect(again.body).to.deep.equal(answer.body);
      expect(await listed()).to.have.lengthOf(1);
      expect((await stranger.server.get('/suppressions')).body.total).to.equal(0);
    });

    it('take a known reason or a note', async () => {
      const add = async (email: string, reason: string) =>
        (await project.server.post('/suppressions', { email, reason })).body;
      expect(await add('a@x.co', 'COMPLAINT')).to.include({ reason: 'COMPLAINT', note: null });
      expect(await add('b@x.co', 'asked by phone')).to.include({ reason: 'MANUAL', note: 'asked by phone' });
      expect(await add('a@x.co', 'HARD_BOUNCE')).to.include({ reason: 'HARD_BOUNCE' });
      expect(await add('a@x.co', 'MANUAL')).to.include({ reason: 'HARD_BOUNCE' });
      for (const body of [{}, { email: 'x' }, { email: 'c@x.co', reason: 'x'.repeat(501) }])
        expect(await project.server.post('/suppressions', body)).to.be.envelope(422, 'VALIDATION_ERROR');
    });

    it('are imported from a file', async () => {
      await project.server.post('/suppressions', { email: 'old@x.co' });
      await project.server.post('/contacts', { email: 'ann@x.co' });
      const file =
        'email,reason\nann@x.co,HARD_BOUNCE\nbob@x.co,complaint\neve@x.co,told us\nold@x.co,\nbad,\nbob@x.co,\n';
      const job = await imported(file, {}, '/suppressions/import');
      expect(job).to.include({ type: 'SUPPRESSION_IMPORT', status: 'COMPLETED', total: 6 });
      expect(job.result).to.deep.include({ created: 3, unchanged: 2, failed: 1 });
      const shown = (await listed()).map(({ email, reason, note }: Fields) => [email, reason, note]);
      expect(shown).to.have.deep.members([
        ['old@x.co', 'MANUAL', null],
        ['ann@x.co', 'HARD_BOUNCE', null],
        ['bob@x.co', 'MANUAL', null],
        ['eve@x.co', 'MANUAL', 'told us'],
      ]);
      expect((await project.server.get('/contacts?search=ann')).body.data[0].subscribed).to.equal(false);
    });

    it('are exported as CSV that can be imported again', async () => {
      await project.server.post('/suppressions', { email: 'ann@x.co', reason: '=1+1' });
      await project.server.post('/suppressions', { email: 'bob@x.co', reason: 'COMPLAINT' });
      const { body, headers } = await project.server.get('/suppressions/export');
      expect(headers.get('content-type')).to.equal('text/csv; charset=utf-8');
      const [header, first, second] = body.trim().split('\r\n');
      expect(header).to.equal('email,reason,note,createdAt');
      expect(first).to.match(/^ann@x\.co,MANUAL,'=1\+1,\d{4}-/);
      expect(second).to.match(/^bob@x\.co,COMPLAINT,,\d{4}-/);
      expect((await stranger.server.get('/suppressions/export')).body.trim()).to.equal(header);
      const job = await imported(body, {}, '/suppressions/import');
      expect(job.result).to.deep.include({ created: 0, unchanged: 2 });
      const browser = client(api.url, { cookie: project.cookie });
      expect(await browser.get(`/suppressions/export?projectId=${project.id}`)).to.have.status(200);
    });
  });
});
