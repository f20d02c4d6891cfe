import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, client, describeApi } from '../support/api.ts';

const VIEW = {
  name: 'Pro customers',
  page: 'contacts',
  filters: { 'data.plan': 'pro' },
  columns: ['email', 'data.plan'],
};

describeApi('saved views', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const save = async (view: object = VIEW) => {
    const answer = await project.owner.post('/views', view);
    expect(answer).to.have.status(201);
    return answer.body;
  };

  it('are created, listed by name, changed and deleted', async () => {
    const view = await save();
    const { id: userId } = (await project.owner.get('/users/@me')).body;
    expect(view).to.deep.equal({ ...VIEW, id: view.id, createdBy: userId });
    const other = await project.server.post('/views', {
      ...VIEW,
      name: 'All',
      page: 'emails',
      filters: {},
      columns: [],
    });
    expect(other.body).to.include({ createdBy: null });
    expect((await project.server.get('/views')).body).to.deep.equal([other.body, view]);
    const changed = await project.server.patch(`/views/${view.id}`, { name: 'Free', columns: [] });
    expect(changed.body).to.deep.equal({ ...view, name: 'Free', columns: [] });
    expect((await project.server.patch(`/views/${view.id}`, {})).body).to.deep.equal(changed.body);
    expect(await project.server.delete(`/views/${view.id}`)).to.have.status(204);
    expect(await project.server.delete(`/views/${view.id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    expect((await project.server.get('/views')).body).to.deep.equal([other.body]);
  });

  it('answer 422 to bad input and 404 to another project', async () => {
    const bad = [
      {},
      { ...VIEW, name: '' },
      { ...VIEW, page: 'segments' },
      { ...VIEW, filters: [] },
      { ...VIEW, filters: { text: 'x'.repeat(17_000) } },
      { ...VIEW, columns: [''] },
      { ...VIEW, columns: Array(101).fill('email') },
    ];
    for (const body of bad)
      expect(await project.server.post('/views', body), JSON.stringify(body).slice(0, 80)).to.be.envelope(
        422,
        'VALIDATION_ERROR',
      );
    const { id } = await save();
    const stranger = await api.project();
    expect((await stranger.server.get('/views')).body).to.deep.equal([]);
    expect(await stranger.server.patch(`/views/${id}`, { name: 'x' })).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    expect(await stranger.server.delete(`/views/${id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    expect(await project.server.patch(`/views/${newId()}`, { name: 'x' })).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
  });

  it('are limited to 100', async () => {
    for (let n = 0; n < 100; n++) await save({ ...VIEW, name: `View ${n}` });
    expect(await project.server.post('/views', VIEW)).to.be.envelope(409, 'CONFLICT');
  });

  it('need the scope of their list', async () => {
    const { id } = await save();
    await save({ ...VIEW, page: 'emails' });
    const key = async (...scopes: string[]) => {
      const { body } = await project.owner.post(`/projects/${project.id}/keys`, { name: 'k', scopes });
      return client(api.url, { authorization: `Bearer ${body.key}` });
    };
    const reader = await key('contacts:read');
    expect((await reader.get('/views')).body).to.have.lengthOf(1);
    expect(await reader.patch(`/views/${id}`, { name: 'x' })).to.be.envelope(403, 'FORBIDDEN');
    const sender = await key('send:write');
    expect(await sender.patch(`/views/${id}`, { name: 'x' })).to.be.envelope(403, 'FORBIDDEN');
    expect(await sender.post('/views', VIEW)).to.be.envelope(403, 'FORBIDDEN');
    expect(await sender.post('/views', { ...VIEW, page: 'emails' })).to.have.status(201);
  });
});
