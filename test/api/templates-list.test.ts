import { expect } from 'chai';
import { type ApiProject, describeApi } from '../support/api.ts';
import { LISTED_TEMPLATE_FIELDS, newTemplate } from '../support/templates.ts';

describeApi('list of templates', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const create = async (body: object = {}) => {
    const answer = await project.server.post('/templates', { ...newTemplate, ...body });
    expect(answer).to.have.status(201);
    return answer.body;
  };
  const names = async (query: string) => {
    const answer = await project.server.get(`/templates${query}`);
    expect(answer).to.have.status(200);
    return answer.body.data.map(({ name }: { name: string }) => name);
  };

  describe('GET /templates', () => {
    it('returns an empty page when there are none', async () => {
      const answer = await project.server.get('/templates');
      expect(answer.body).to.deep.equal({ data: [], total: 0, page: 1, pageSize: 20, totalPages: 0 });
    });

    it('pages through templates, newest first', async () => {
      for (const name of ['a', 'b', 'c', 'd', 'e']) await create({ name });
      const answer = await project.server.get('/templates?page=2&pageSize=2');
      expect(answer.body).to.include({ total: 5, page: 2, pageSize: 2, totalPages: 3 });
      expect(await names('?pageSize=2')).to.deep.equal(['e', 'd']);
      expect(await names('?page=2&pageSize=2')).to.deep.equal(['c', 'b']);
      expect(await names('?page=3&pageSize=2')).to.deep.equal(['a']);
      expect(await names('?page=4&pageSize=2')).to.deep.equal([]);
      expect(answer.body.data[0]).to.have.all.keys(LISTED_TEMPLATE_FIELDS);
    });

    it('sorts by name, creation and change in both directions, and ignores other values', async () => {
      const b = await create({ name: 'b' });
      await create({ name: 'c' });
      await create({ name: 'a' });
      await project.server.patch(`/templates/${b.id}`, { description: 'changed' });
      expect(await names('?sort=name')).to.deep.equal(['c', 'b', 'a']);
      expect(await names('?sort=name&dir=asc')).to.deep.equal(['a', 'b', 'c']);
      expect(await names('?sort=createdAt&dir=asc')).to.deep.equal(['b', 'c', 'a']);
      expect(await names('?sort=updatedAt')).to.deep.equal(['b', 'a', 'c']);
      expect(await names('?sort=colour')).to.deep.equal(['a', 'c', 'b']);
      expect(await names('?sort=body&dir=sideways')).to.deep.equal(['a', 'c', 'b']);
    });

    it('searches name, description and subject, ignoring case', async () => {
      await create({ name: 'Welcome mail', subject: 'x' });
      await create({ name: 'two', description: 'A WELCOME for all', subject: 'x' });
      await create({ name: 'three', subject: 'Be welcome, {{ name }}' });
      await create({ name: 'four', subject: 'x', body: 'welcome' });
      await create({ name: '100%_\\sure', subject: 'x' });
      expect(await names('?search=wElCoMe')).to.deep.equal(['three', 'two', 'Welcome mail']);
      expect(await names('?search=%25_%5C')).to.deep.equal(['100%_\\sure']);
      expect(await names('?search=%25x')).to.deep.equal([]);
      expect(await names('?search=')).to.have.lengthOf(5);
    });

    it('filters by type, also combined with the search', async () => {
      await create({ name: 'sale', type: 'MARKETING' });
      await create({ name: 'sale receipt' });
      const headless = await create({ name: 'plain' });
      await project.server.patch(`/templates/${headless.id}`, { type: 'HEADLESS' });
      expect(await names('?type=MARKETING')).to.deep.equal(['sale']);
      expect(await names('?type=TRANSACTIONAL&search=sale')).to.deep.equal(['sale receipt']);
      expect(await names('?type=HEADLESS')).to.deep.equal(['plain']);
    });

    it('clamps a page size that is too large', async () => {
      expect((await project.server.get('/templates?pageSize=100000')).body).to.include({ pageSize: 100 });
    });

    for (const query of ['page=0', 'page=x', 'page=1.5', 'pageSize=0', 'pageSize=-1', 'type=OTHER', 'search=a%00b'])
      it(`answers 400 to ${query}`, async () => {
        expect(await project.server.get(`/templates?${query}`)).to.be.envelope(400, 'BAD_REQUEST');
      });

    it('shows nothing of another project', async () => {
      await (await api.project()).server.post('/templates', newTemplate);
      expect(await names('')).to.deep.equal([]);
    });
  });
});
