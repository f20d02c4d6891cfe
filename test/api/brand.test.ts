import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { runSlice } from '../../services/jobs/run.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { newTemplate } from '../support/templates.ts';

const paragraph = (text: string) => ({ type: 'paragraph', content: [{ type: 'text', text }] });
const documentOf = (...content: object[]) => ({ version: 1, content });
const savedIn = (blockId: string) => ({ type: 'saved', attrs: { blockId } });

describeApi('the brand of a project', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const { body: _, ...withoutBody } = newTemplate;
  const createTemplate = async (document: object) => {
    const answer = await project.server.post('/templates', { ...withoutBody, document });
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body;
  };
  const createCampaign = async (document: object) => {
    const from = `news@${project.senderDomain}`;
    const campaign = { name: 'News', subject: 'News', from, audienceType: 'ALL', document };
    const answer = await project.server.post('/campaigns', campaign);
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
    return answer.body.data;
  };
  const createBlock = async (kind: string, ...content: object[]) => {
    const answer = await project.server.post('/saved-blocks', { name: 'b', kind, document: documentOf(...content) });
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body;
  };
  const get = async (path: string) => (await project.server.get(path)).body;
  const apply = async (path: string, isOver = () => false) => {
    const answer = await project.server.post(path);
    expect(answer).to.have.status(202);
    await runSlice(api.db, answer.body.jobId, isOver);
    return get(`/jobs/${answer.body.jobId}`);
  };

  describe('GET and PUT /brand-kit', () => {
    it('answers the defaults until it is saved, and replaces everything', async () => {
      const defaults = await get('/brand-kit');
      expect(defaults).to.include({ logoUrl: null, address: null, updatedAt: null });
      const kit = { logoUrl: 'https://x.co/a.png', colors: { link: '#ff0000' }, font: 'Georgia', radius: 0 };
      const answer = await project.owner.put('/brand-kit', kit);
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({
        ...defaults,
        ...kit,
        colors: { ...defaults.colors, link: '#ff0000' },
        updatedAt: answer.body.updatedAt,
      });
      expect(await get('/brand-kit')).to.deep.equal(answer.body);
      const { updatedAt, ...emptied } = (await project.server.put('/brand-kit', {})).body;
      expect({ ...emptied, updatedAt: null }).to.deep.equal(defaults);
      expect(new Date(updatedAt).toISOString()).to.equal(updatedAt);
    });

    const wrong: [field: string, kit: object][] = [
      ['colors.link', { colors: { link: 'red' } }],
      ['darkColors.text', { darkColors: { text: '#fff' } }],
      ['font', { font: 'Comic Sans' }],
      ['headingFont', { headingFont: null }],
      ['radius', { radius: 33 }],
      ['logoUrl', { logoUrl: 'javascript:alert(1)' }],
      ['socialLinks.0.href', { socialLinks: [{ network: 'github', href: 'ftp://x.co' }] }],
      ['socialLinks.0.network', { socialLinks: [{ network: 'nowhere', href: 'https://x.co' }] }],
    ];
    for (const [field, kit] of wrong)
      it(`answers 422 to ${JSON.stringify(kit)}`, async () => {
        const answer = await project.server.put('/brand-kit', kit);
        expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
        expect(answer.body.error.errors.map((error: { field: string }) => error.field)).to.include(field);
        expect(await get('/brand-kit')).to.include({ updatedAt: null });
      });
  });

  describe('POST /render with a brand kit', () => {
    it('renders and warns with it instead of the stored one, and stores nothing', async () => {
      const button = { type: 'button', attrs: { href: 'https://x.co' }, content: [{ type: 'text', text: 'Buy' }] };
      const document = documentOf(button, { type: 'footer', content: [paragraph('{{ address }}')] });
      const brandKit = { colors: { button: '#ffff00' }, address: '1 Main Street' };
      const { body } = await project.server.post('/render', { document, brandKit });
      expect(body.html).to.include('#ffff00').and.include('1 Main Street');
      expect(body.warnings.map(({ code }: { code: string }) => code)).to.include('contrast_low');
      const stored = (await project.server.post('/render', { document })).body;
      expect(stored.html).not.to.include('#ffff00');
      expect(stored.warnings.map(({ code }: { code: string }) => code)).not.to.include('contrast_low');
      expect(await get('/brand-kit')).to.include({ updatedAt: null });
    });

    it('answers 422 with the path to a kit that is wrong', async () => {
      const wrong = { document: documentOf(paragraph('x')), brandKit: { colors: { link: 'red' } } };
      const answer = await project.server.post('/render', wrong);
      expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(answer.body.error.errors[0].field).to.equal('brandKit.colors.link');
    });
  });

  describe('saved blocks', () => {
    it('are created, listed without documents, changed and deleted', async () => {
      const block = await createBlock('SECTION', paragraph('Hello'));
      expect(block).to.have.all.keys('id', 'name', 'kind', 'document', 'usedBy', 'updatedAt');
      expect(block.usedBy).to.deep.equal({ templates: 0, campaigns: 0 });
      expect(await get(`/saved-blocks/${block.id}`)).to.deep.equal(block);
      const { document: __, ...listed } = block;
      expect(await get('/saved-blocks')).to.deep.equal([listed]);
      const changed = await project.server.patch(`/saved-blocks/${block.id}`, { name: 'Other' });
      expect(changed.body).to.deep.include({ name: 'Other', document: block.document });
      expect(await project.server.delete(`/saved-blocks/${block.id}`)).to.have.status(204);
      expect(await project.server.get(`/saved-blocks/${block.id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });

    it('are used by templates, drafts and campaigns, and not deleted then', async () => {
      const { id } = await createBlock('SECTION', paragraph('Shared'));
      const template = await createTemplate(documentOf(savedIn(id)));
      expect(template.body).to.include('Shared');
      const campaign = await createCampaign(documentOf(savedIn(id)));
      expect((await get(`/saved-blocks/${id}`)).usedBy).to.deep.equal({ templates: 1, campaigns: 1 });
      expect(await get(`/saved-blocks/${id}/usage`)).to.deep.equal({
        templates: [{ id: template.id, name: template.name }],
        campaigns: [{ id: campaign.id, name: campaign.name, status: 'DRAFT' }],
      });
      expect(await project.server.delete(`/saved-blocks/${id}`)).to.be.envelope(409, 'CONFLICT');
      await project.server.delete(`/campaigns/${campaign.id}`);
      const { revision } = await get(`/templates/${template.id}/draft`);
      const draft = `/templates/${template.id}/draft`;
      await project.server.put(draft, { subject: 'x', expectedRevision: revision });
      await project.server.patch(`/templates/${template.id}`, { body: '<p>x</p>' });
      expect((await get(`/saved-blocks/${id}`)).usedBy).to.deep.equal({ templates: 1, campaigns: 0 });
      const inDraft = await get(`/saved-blocks/${id}/usage`);
      expect(inDraft).to.deep.equal({ templates: [{ id: template.id, name: template.name }], campaigns: [] });
      expect(await project.server.delete(`/saved-blocks/${id}`)).to.be.envelope(409, 'CONFLICT');
      await project.server.delete(draft);
      expect(await project.server.delete(`/saved-blocks/${id}`)).to.have.status(204);
      const restored = (await project.server.post(`/templates/${template.id}/versions/1/restore`)).body;
      expect(restored).to.deep.include({ document: null, body: template.body, editor: 'HTML' });
    });

    const footer = { type: 'footer', content: [paragraph('Bye')] };
    const wrong: [what: string, kind: string, document: object, field: string][] = [
      ['an unknown kind', 'OTHER', documentOf(), 'kind'],
      ['a saved block inside', 'SECTION', documentOf(savedIn(newId())), 'document.content.0'],
      ['a footer in a SECTION', 'SECTION', documentOf(footer), 'document.content.0'],
      ['a FOOTER without a footer', 'FOOTER', documentOf(paragraph('x')), 'document.content'],
      ['a FOOTER with two footers', 'FOOTER', documentOf(footer, footer), 'document.content.1'],
      ['no document', 'SECTION', {}, 'document.version'],
    ];
    for (const [what, kind, document, field] of wrong)
      it(`answer 422 to ${what}`, async () => {
        const answer = await project.server.post('/saved-blocks', { name: 'x', kind, document });
        expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
        expect(answer.body.error.errors.map((error: { field: string }) => error.field)).to.include(field);
        expect(await get('/saved-blocks')).to.deep.equal([]);
      });

    it('of another project are not found', async () => {
      const { id } = await createBlock('SECTION', paragraph('Hello'));
      const stranger = await api.project();
      for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as [string, object?][])
        expect(await stranger.server.request(method, `/saved-blocks/${id}`, body)).to.be.envelope(
          404,
          'RESOURCE_NOT_FOUND',
        );
      const taken = await stranger.server.post('/templates', { ...withoutBody, document: documentOf(savedIn(id)) });
      expect(taken).to.be.envelope(422, 'VALIDATION_ERROR');
    });

    it('are at most 200', async () => {
      const rows = Array.from({ length: 199 }, () => ({
        id: newId(),
        projectId: project.id,
        name: 'x',
        kind: 'SECTION',
        document: '{"version":1,"content":[]}',
      }));
      await api.db('savedBlocks').insert(rows);
      await createBlock('SECTION');
      const answer = await project.server.post('/saved-blocks', { name: 'x', kind: 'SECTION', document: documentOf() });
      expect(answer).to.be.envelope(409, 'CONFLICT');
    });
  });

  describe('POST …/apply', () => {
    it('renders templates and draft campaigns again, as versions of the system, and leaves the rest alone', async () => {
      const document = documentOf(paragraph('Hello'));
      const template = await createTemplate(document);
      const drafted = await createTemplate(document);
      const draftPath = `/templates/${drafted.id}/draft`;
      const { revision } = await get(draftPath);
      const draft = (await project.server.put(draftPath, { subject: 'Mine', expectedRevision: revision })).body;
      const html = (await project.server.post('/templates', newTemplate)).body;
      const campaign = await createCampaign(document);
      const scheduled = await createCampaign(document);
      await project.server.post('/contacts', { email: 'a@b.co' });
      const sent = await project.server.post(`/campaigns/${scheduled.id}/send`, {
        scheduledFor: '2099-01-01T00:00:00Z',
      });
      expect(sent).to.have.status(200);

      await project.server.put('/brand-kit', { colors: { text: '#123456' } });
      expect((await get(`/templates/${template.id}`)).body, 'until it is applied').to.equal(template.body);
      const job = await apply('/brand-kit/apply');
      expect(job).to.include({ type: 'RENDER', status: 'COMPLETED', progress: 100, total: 3 });
      expect(job.result).to.deep.equal({ rendered: 3, unchanged: 0, failed: 0, errors: [] });

      const after = await get(`/templates/${template.id}`);
      expect(after.body).to.include('#123456');
      expect(after.document).to.deep.equal(template.document);
      const [version] = (await get(`/templates/${template.id}/versions`)).data;
      expect(version).to.include({ version: 2, savedBy: 'SYSTEM' });
      expect(await get(`/campaigns/${campaign.id}`)).to.include({ revision: 1 });
      expect((await get(`/campaigns/${scheduled.id}`)).body).to.equal(scheduled.body);
      expect(await get(`/templates/${html.id}`)).to.deep.equal(html);
      expect(await get(draftPath)).to.deep.equal({ ...draft, revision: draft.revision + 1 });
      expect((await apply('/brand-kit/apply')).result).to.include({ rendered: 0, unchanged: 3 });
    });

    it('renders what names the block, and counts what can no longer be rendered', async () => {
      const { id } = await createBlock('SECTION', paragraph('Before'));
      const other = await createTemplate(documentOf(paragraph('Other')));
      const top = await createTemplate(documentOf(savedIn(id)));
      const nested = await createTemplate(documentOf({ type: 'section', content: [savedIn(id)] }));
      const footer = { type: 'footer', content: [paragraph('After')] };
      const change = await project.server.patch(`/saved-blocks/${id}`, {
        kind: 'FOOTER',
        document: documentOf(footer),
      });
      expect(change).to.have.status(200);
      const { result } = await apply(`/saved-blocks/${id}/apply`);
      expect(result).to.include({ rendered: 1, unchanged: 0, failed: 1 });
      expect(result.errors[0]).to.include({ type: 'TEMPLATE', id: nested.id, name: nested.name });
      expect((await get(`/templates/${top.id}`)).body).to.include('After');
      expect(await get(`/templates/${nested.id}`)).to.deep.equal(nested);
      expect(await get(`/templates/${other.id}`)).to.deep.equal(other);
      expect(await project.server.post(`/saved-blocks/${newId()}/apply`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });

    it('continues behind the last chunk, and renders nothing twice', async () => {
      const document = documentOf(paragraph('Hello'));
      const ids: string[] = [];
      for (let n = 0; n < 25; n++) ids.push((await createTemplate(document)).id);
      await project.server.put('/brand-kit', { colors: { text: '#123456' } });
      const { jobId } = (await project.server.post('/brand-kit/apply')).body;
      // The worker stops after the first chunk, as one that is killed between two.
      expect(await runSlice(api.db, jobId, () => true)).to.include({ ended: false, processed: 20, total: 25 });
      expect(await runSlice(api.db, jobId, () => false)).to.include({ ended: true, processed: 25 });
      expect((await get(`/jobs/${jobId}`)).result).to.include({ rendered: 25, unchanged: 0 });
      for (const id of ids) expect((await get(`/templates/${id}/versions`)).total).to.equal(2);
    });
  });
});
