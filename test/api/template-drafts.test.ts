import { expect } from 'chai';
import { type ApiProject, client, describeApi } from '../support/api.ts';
import { newTemplate } from '../support/templates.ts';

const FIELDS = ['document', 'body', 'subject', 'revision', 'changed', 'faults', 'updatedAt', 'updatedBy'];
const document = { version: 1, content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Hi {{ name }}' }] }] };

describeApi('drafts of a template', (api) => {
  let project: ApiProject;
  let id: string;
  let revision: number;

  before(async () => {
    project = await api.project();
  });
  beforeEach(async () => {
    id = (await project.server.post('/templates', newTemplate)).body.id;
    ({ revision } = await draft());
  });

  const path = (rest = '') => `/templates/${id}/draft${rest}`;
  const draft = async () => (await project.server.get(path())).body;
  const template = async () => (await project.server.get(`/templates/${id}`)).body;
  const put = (body: object, of = project.server) => of.put(path(), body);
  const publish = (expectedRevision: number) => project.server.post(path('/publish'), { expectedRevision });
  const saved = async (change: object) => {
    const answer = await put({ ...change, expectedRevision: (await draft()).revision });
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
    return answer.body;
  };

  it('are the template itself until one is saved', async () => {
    const { subject, body, updatedAt } = await template();
    expect(await draft()).to.deep.equal({
      document: null,
      body,
      subject,
      revision,
      changed: false,
      faults: [],
      updatedAt,
      updatedBy: null,
    });
  });

  it('leave the template as it is, and keep what is left out', async () => {
    const before = await template();
    const first = await put({ subject: 'New', expectedRevision: revision }, project.owner);
    expect(first).to.have.status(200);
    expect(first.body).to.have.all.keys(FIELDS);
    expect(first.body).to.include({ subject: 'New', body: newTemplate.body, changed: true, revision: revision + 1 });
    expect(first.body.updatedBy).to.match(/@example\.com$/);
    const second = await saved({ document });
    expect(second).to.include({ subject: 'New', changed: true, revision: revision + 2, updatedBy: null });
    expect(second.document.content[0].content[1]).to.deep.include({ type: 'variable' });
    expect(await draft()).to.deep.equal(second);
    expect(await template()).to.deep.equal(before);
    expect(await saved({ body: '<p>x</p>' })).to.deep.include({ subject: 'New', document: null, body: '<p>x</p>' });
    expect(await saved({})).to.include({ subject: 'New', body: '<p>x</p>' });
  });

  it('accept their own answer', async () => {
    const first = await saved({ document });
    expect(await saved({ document: first.document, body: first.body, subject: 'Again' })).to.deep.include({
      document: first.document,
      body: first.body,
      subject: 'Again',
    });
  });

  it('become the template as they are, as a version, once', async () => {
    const { revision: current, document: stored, body } = await saved({ document, subject: 'New' });
    const answer = await publish(current);
    expect(answer).to.have.status(200);
    expect(answer.body).to.deep.include({ document: stored, body, subject: 'New', editor: 'VISUAL' });
    expect(await template()).to.deep.equal(answer.body);
    const after = await draft();
    expect(after).to.include({ changed: false, subject: 'New' });
    expect(after.revision).to.be.greaterThan(current);
    expect((await project.server.get(`/templates/${id}/versions`)).body.data[0]).to.include({
      version: 2,
      subject: 'New',
    });
    expect(await publish(after.revision)).to.be.envelope(409, 'CONFLICT');
  });

  it('are discarded without a trace', async () => {
    await saved({ subject: 'New' });
    expect(await project.server.delete(path())).to.have.status(204);
    expect(await draft()).to.include({ changed: false, subject: newTemplate.subject, revision: revision + 2 });
    expect(await project.server.delete(path())).to.have.status(204);
    expect(await draft()).to.include({ revision: revision + 2 });
  });

  it('may have faults, which keep them from being published', async () => {
    const { faults, revision: current } = await saved({ subject: 'Hi {{ name', body: '<p>{% if %}</p>' });
    expect(faults.map(({ field }: { field: string }) => field)).to.deep.equal(['subject', 'body']);
    const refused = await publish(current);
    expect(refused).to.be.envelope(400, 'BAD_REQUEST');
    expect(refused.body.error.details.faults).to.deep.equal(faults);
    expect(await draft()).to.include({ changed: true, revision: current });
    const empty = await saved({ subject: '', body: '' });
    expect(empty.faults).to.have.length(2);
    expect(await publish(empty.revision)).to.be.envelope(400, 'BAD_REQUEST');
  });

  it('answer 409 with the current draft to a stale revision', async () => {
    const current = await saved({ subject: 'Mine' });
    for (const answer of [await put({ subject: 'Yours', expectedRevision: revision }), await publish(revision)]) {
      expect(answer).to.be.envelope(409, 'CONFLICT');
      expect(answer.body.error.details).to.deep.equal(current);
    }
    // A change of the template itself counts too.
    await project.server.patch(`/templates/${id}`, { name: 'Renamed' });
    const stale = await put({ subject: 'Yours', expectedRevision: current.revision });
    expect(stale.body.error.details).to.deep.equal({ ...current, revision: current.revision + 1 });
  });

  it('answer 422 without a revision, and to what is not valid', async () => {
    expect(await put({ subject: 'x' })).to.have.validationError('expectedRevision', 'required');
    expect(await project.server.post(path('/publish'), {})).to.have.validationError('expectedRevision', 'required');
    const given = (more: object) => put({ expectedRevision: revision, ...more });
    expect(await given({ document: null })).to.have.validationError('document', 'invalid_type');
    expect(await given({ document, body: 'other' })).to.have.validationError('body', 'custom');
    expect(await given({ document: { version: 1 } })).to.have.validationError('document.content', 'required');
    expect(await given({ subject: 'a\nb' })).to.have.validationError('subject', 'invalid_string');
    expect(await draft()).to.include({ changed: false, revision });
  });

  it('are not found by another project', async () => {
    const stranger = await api.project();
    expect(await stranger.server.get(path())).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
    expect(await stranger.server.put(path(), { expectedRevision: 0 })).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
    expect(await client(api.url).get(path())).to.have.status(401);
  });
});
