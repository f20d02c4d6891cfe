import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { storedContents } from '../support/rows/mails.ts';
import { countRows } from '../support/rows/tables.ts';

describeApi('versions of templates', (api) => {
  let project: ApiProject;
  let stranger: ApiProject;
  let id: string;

  before(async () => {
    project = await api.project();
    stranger = await api.project();
  });
  beforeEach(async () => {
    const template = { name: 'Welcome', subject: 'First', body: 'one', type: 'TRANSACTIONAL' };
    id = (await project.owner.post('/templates', template)).body.id;
  });

  const versions = async (query = '') => (await project.server.get(`/templates/${id}/versions${query}`)).body;
  const at = (version: number | string, of = project) => of.server.get(`/templates/${id}/versions/${version}`);

  it('are saved with every change, by whom, newest first', async () => {
    await project.server.patch(`/templates/${id}`, { subject: 'Second', body: 'two' });
    await project.owner.patch(`/templates/${id}`, { name: 'Hello' });
    await project.server.patch(`/templates/${id}`, {});
    const { data, total, hasMore } = await versions();
    expect({ total, hasMore }).to.deep.equal({ total: 3, hasMore: false });
    expect(data[0]).to.have.all.keys('version', 'savedAt', 'savedBy', 'subject');
    expect(data.map(({ version, subject }: { version: number; subject: string }) => [version, subject])).to.deep.equal([
      [3, 'Second'],
      [2, 'Second'],
      [1, 'First'],
    ]);
    expect(data[1].savedBy).to.equal(null);
    expect(data[2].savedBy).to.match(/@example\.com$/);
    const page = await versions('?limit=2');
    expect(
      (await versions(`?limit=2&cursor=${page.cursor}`)).data.map(({ version }: { version: number }) => version),
    ).to.deep.equal([1]);
    expect((await at(1)).body).to.include({
      version: 1,
      subject: 'First',
      body: 'one',
      name: 'Welcome',
      type: 'TRANSACTIONAL',
    });
  });

  it('are restored as a new version', async () => {
    await project.server.patch(`/templates/${id}`, {
      subject: 'Second',
      body: 'two',
      from: `a@${project.senderDomain}`,
    });
    const answer = await project.owner.post(`/templates/${id}/versions/1/restore`);
    expect(answer).to.have.status(200);
    expect(answer.body).to.include({ id, subject: 'First', body: 'one', from: null });
    expect((await versions()).data[0]).to.include({ version: 3, subject: 'First' });
    expect((await at(2)).body).to.include({ from: `a@${project.senderDomain}` });
  });

  it('are kept 50 times', async () => {
    for (let n = 2; n <= 53; n++) await project.server.patch(`/templates/${id}`, { body: `body ${n}` });
    const { total, data } = await versions('?limit=100');
    expect(total).to.equal(50);
    expect(data.at(-1).version).to.equal(4);
    expect(await at(3)).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
  });

  it('are not found for another project, nor by a number that is none', async () => {
    expect(await stranger.server.get(`/templates/${id}/versions`)).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
    expect(await at(1, stranger)).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
    expect(await stranger.server.post(`/templates/${id}/versions/1/restore`)).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
    for (const version of ['x', '0', '-1', '99', '9999999999']) {
      const answer = await at(version);
      expect(answer).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
      expect(answer.body.error.message).to.equal('Template version not found in this project.');
    }
    const noTemplate = await project.server.get('/templates/x/versions/1');
    expect(noTemplate.body.error.message).to.equal('Template not found in this project.');
  });

  it('begin anew for a copy, and go with their template', async () => {
    await project.server.patch(`/templates/${id}`, { body: 'two' });
    const { body: copy } = await project.server.post(`/templates/${id}/duplicate`);
    expect((await project.server.get(`/templates/${copy.id}/versions`)).body.total).to.equal(1);
    await project.server.delete(`/templates/${copy.id}`);
    expect(await countRows(api.db, 'template_versions', { templateId: copy.id })).to.equal(0);
  });

  describe('POST /templates/:id/test', () => {
    const test = (body: object, of = project) => of.server.post(`/templates/${id}/test`, body);

    it('sends a marked mail that is not tracked', async () => {
      await project.server.patch(`/templates/${id}`, { from: `a@${project.senderDomain}` });
      expect(await test({ email: 'me@x.co' })).to.have.status(200);
      const [mail] = await storedContents(api.db, { projectId: project.id, toEmail: 'me@x.co' });
      expect(mail).to.include({
        subject: '[TEST] First',
        untracked: true,
        fromEmail: `a@${project.senderDomain}`,
      });
    });

    it('sends from a verified domain when the template has no sender', async () => {
      expect((await test({ email: 'you@x.co' })).body).to.deep.equal({ success: true });
      const [mail] = await storedContents(api.db, { projectId: project.id, toEmail: 'you@x.co' });
      expect(mail.fromEmail).to.equal(`no-reply@${project.senderDomain}`);
    });

    it('answers 404 to another project and 422 to no address', async () => {
      expect(await test({ email: 'me@x.co' }, stranger)).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
      expect(await project.server.post(`/templates/${newId()}/test`, { email: 'a@b.co' })).to.have.status(404);
      expect(await test({})).to.be.envelope(422, 'VALIDATION_ERROR');
    });
  });
});
