import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { newTemplate } from '../support/templates.ts';

const paragraph = (text: string) => ({ type: 'paragraph', content: [{ type: 'text', text }] });
const documentOf = (...content: object[]) => ({ version: 1, content });
const hello = documentOf(paragraph('Hello {{ firstName ?? "there" }}'));

describeApi('documents of templates and campaigns', (api) => {
  let project: ApiProject;

  before(async () => {
    project = await api.project();
  });

  const { body: _, ...withoutBody } = newTemplate;
  const createTemplate = async (more: object = {}) => {
    const answer = await project.server.post('/templates', { ...withoutBody, document: hello, ...more });
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body;
  };
  const campaignOf = (more: object) => ({
    name: 'News',
    subject: 'News',
    from: `news@${project.senderDomain}`,
    audienceType: 'ALL',
    ...more,
  });
  const createCampaign = async (more: object = { document: hello }) => {
    const answer = await project.server.post('/campaigns', campaignOf(more));
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
    return answer.body.data;
  };

  describe('a template', () => {
    it('stores the document and the body that is rendered from it', async () => {
      const template = await createTemplate();
      expect(template.editor).to.equal('VISUAL');
      expect(template.document.content[0].content).to.deep.equal([
        { type: 'text', text: 'Hello ' },
        { type: 'variable', attrs: { name: 'firstName', fallback: 'there', format: null } },
      ]);
      expect(template.body).to.include('Hello {{ firstName');
      expect((await project.server.get(`/templates/${template.id}`)).body).to.deep.equal(template);
    });

    it('leaves the document out of lists', async () => {
      await createTemplate();
      const [listed] = (await project.server.get('/templates')).body.data;
      expect(listed.editor).to.equal('VISUAL');
      expect(listed).not.to.have.property('document');
    });

    it('loses its document when the body is written, and keeps both when neither is', async () => {
      const { id, document, body } = await createTemplate();
      const renamed = (await project.server.patch(`/templates/${id}`, { name: 'Other', body: null, document: null }))
        .status;
      expect(renamed).to.equal(422);
      const kept = (await project.server.patch(`/templates/${id}`, { name: 'Other', body: null })).body;
      expect(kept).to.deep.include({ name: 'Other', document, body, editor: 'VISUAL' });
      const written = (await project.server.patch(`/templates/${id}`, { body: '<p>x</p>', document: null })).body;
      expect(written).to.deep.include({ document: null, body: '<p>x</p>', editor: 'HTML' });
    });

    it('accepts its own answer as a change', async () => {
      const template = await createTemplate();
      const answer = await project.server.patch(`/templates/${template.id}`, { ...template, name: 'Again' });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.include({ name: 'Again', document: template.document, body: template.body });
      const html = (await project.server.post('/templates', newTemplate)).body;
      expect((await project.server.patch(`/templates/${html.id}`, html)).body).to.include({ editor: 'HTML' });
    });

    it('is copied with its document', async () => {
      const { id, document, body } = await createTemplate();
      const copy = (await project.server.post(`/templates/${id}/duplicate`)).body;
      expect(copy).to.deep.include({ document, body, editor: 'VISUAL' });
    });

    it('gets document, body and subject back from a version', async () => {
      const { id, document, body, subject } = await createTemplate();
      await project.server.patch(`/templates/${id}`, { body: '<p>x</p>', subject: 'Other' });
      const version = (await project.server.get(`/templates/${id}/versions/1`)).body;
      expect(version).to.deep.include({ document, body, subject, editor: 'VISUAL' });
      const restored = await project.owner.post(`/templates/${id}/versions/1/restore`);
      expect(restored.body).to.deep.include({ document, body, subject });
      const [entry] = (await project.owner.get(`/projects/${project.id}/audit?action=template.restored`)).body.data;
      expect(entry.target.id).to.equal(id);
    });

    it('is not restored over a change that the caller has not seen', async () => {
      const { id } = await createTemplate();
      const { revision } = (await project.server.get(`/templates/${id}/draft`)).body;
      const restore = (expectedRevision: number) =>
        project.server.post(`/templates/${id}/versions/1/restore`, { expectedRevision });
      expect(await restore(revision)).to.have.status(200);
      const stale = await restore(revision);
      expect(stale).to.be.envelope(409, 'CONFLICT');
      expect(stale.body.error.details).to.deep.include({ revision: revision + 1, changed: false });
    });

    it("is restored over someone else's draft only by its revision", async () => {
      const { id } = await createTemplate();
      const { revision } = (await project.server.get(`/templates/${id}/draft`)).body;
      const draft = { subject: 'Not lost', expectedRevision: revision };
      const saved = (await project.owner.put(`/templates/${id}/draft`, draft)).body;
      const restore = `/templates/${id}/versions/1/restore`;
      const unseen = await project.server.post(restore);
      expect(unseen).to.be.envelope(409, 'CONFLICT');
      expect(unseen.body.error.details).to.deep.include({ subject: 'Not lost', revision: saved.revision });
      expect(await project.owner.post(restore)).to.have.status(200);
      expect(await project.server.post(restore, { expectedRevision: saved.revision + 1 })).to.have.status(200);
    });
  });

  describe('a campaign', () => {
    it('stores the document and the body that is rendered from it', async () => {
      const campaign = await createCampaign();
      expect(campaign).to.include({ editor: 'VISUAL', revision: 0 });
      expect(campaign.body).to.include('Hello {{ firstName');
      const shown = (await project.server.get(`/campaigns/${campaign.id}`)).body;
      expect(shown).to.deep.include({ document: campaign.document, body: campaign.body });
      const listed = (await project.server.get('/campaigns')).body.data.find(
        ({ id }: { id: string }) => id === campaign.id,
      );
      expect(listed).to.include({ editor: 'VISUAL', revision: 0 });
      expect(listed).not.to.have.property('document');
      const copy = (await project.server.post(`/campaigns/${campaign.id}/duplicate`)).body;
      expect(copy).to.deep.include({ document: campaign.document, body: campaign.body, editor: 'VISUAL' });
    });

    it('raises its revision, and refuses a stale one with the current campaign', async () => {
      const { id } = await createCampaign();
      const put = (more: object) => project.server.put(`/campaigns/${id}`, campaignOf(more));
      const first = await put({ document: hello, expectedRevision: 0, name: 'First' });
      expect(first.body).to.include({ revision: 1, name: 'First' });
      const stale = await put({ body: '<p>x</p>', expectedRevision: 0, name: 'Lost' });
      expect(stale).to.be.envelope(409, 'CONFLICT');
      expect(stale.body.error.details).to.deep.include({ revision: 1, name: 'First', document: first.body.document });
      const unchecked = await put({ body: '<p>x</p>' });
      expect(unchecked.body).to.deep.include({ revision: 2, document: null, editor: 'HTML' });
    });

    it('accepts its own answer as a replacement', async () => {
      const campaign = await createCampaign();
      const answer = await project.server.put(`/campaigns/${campaign.id}`, { ...campaign, name: 'Again' });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.include({ name: 'Again', document: campaign.document, body: campaign.body });
    });
  });

  describe('422', () => {
    const nested = (depth: number): object =>
      depth === 1 ? paragraph('deep') : { type: 'section', content: [nested(depth - 1)] };
    const wrong: [what: string, document: unknown, path: string][] = [
      ['no object', 'text', ''],
      ['an unknown block', documentOf({ type: 'video' }), '.content.0.type'],
      ['an unknown attribute', documentOf({ type: 'spacer', attrs: { width: 1 } }), '.content.0.attrs.width'],
      ['another version', { version: 2, content: [] }, '.version'],
      [
        'a forbidden scheme',
        documentOf(paragraph('x'), { type: 'button', attrs: { href: 'javascript:x' } }),
        '.content.1.attrs.href',
      ],
      ['a relative link', documentOf({ type: 'button', attrs: { href: '/x' } }), '.content.0.attrs.href'],
      [
        'an image that is no web address',
        documentOf({ type: 'image', attrs: { src: 'data:x' } }),
        '.content.0.attrs.src',
      ],
      ['a tag in text', documentOf(paragraph('{% if x %}')), '.content.0.content.0.text'],
      ['too many blocks', documentOf(...Array.from({ length: 501 }, () => ({ type: 'divider' }))), '.content.500'],
      ['nesting that is too deep', documentOf(nested(7)), `.content.0${'.content.0'.repeat(6)}`],
      ['more than 512 kB', documentOf(paragraph('x'.repeat(530_000))), ''],
      [
        'a saved block that does not exist',
        documentOf({ type: 'saved', attrs: { blockId: newId() } }),
        '.content.0.attrs.blockId',
      ],
    ];
    for (const [what, document, path] of wrong)
      it(`${what}, on every route`, async () => {
        const { id } = await createTemplate();
        const campaign = await createCampaign();
        const { revision: expectedRevision } = (await project.server.get(`/templates/${id}/draft`)).body;
        for (const [method, address, rest] of [
          ['POST', '/templates', withoutBody],
          ['PATCH', `/templates/${id}`, {}],
          ['PUT', `/templates/${id}/draft`, { expectedRevision }],
          ['POST', '/campaigns', campaignOf({})],
          ['PUT', `/campaigns/${campaign.id}`, campaignOf({})],
          ['POST', '/render', {}],
          ['POST', '/saved-blocks', { name: 'x', kind: 'SECTION' }],
        ] as const) {
          const answer = await project.server.request(method, address, { ...rest, document });
          expect(answer, `${method} ${address}`).to.be.envelope(422, 'VALIDATION_ERROR');
          const fields = answer.body.error.errors.map(({ field }: { field: string }) => field);
          const isSavedInBlock = address === '/saved-blocks' && what.startsWith('a saved block');
          expect(fields, `${method} ${address}`).to.include(isSavedInBlock ? 'document.content.0' : `document${path}`);
        }
      });

    it('body and document together, and neither', async () => {
      const { id } = await createTemplate();
      const both = { body: '<p>x</p>', document: hello };
      for (const [method, address, rest] of [
        ['POST', '/templates', withoutBody],
        ['PATCH', `/templates/${id}`, {}],
        ['POST', '/campaigns', campaignOf({})],
        ['POST', '/render', {}],
      ] as const)
        expect(await project.server.request(method, address, { ...rest, ...both }), address).to.have.validationError(
          'body',
          'custom',
        );
      for (const [method, address, rest] of [
        ['POST', '/templates', withoutBody],
        ['POST', '/campaigns', campaignOf({})],
        ['POST', '/render', {}],
      ] as const) {
        expect(await project.server.request(method, address, rest), address).to.have.validationError(
          'body',
          'required',
        );
        expect(await project.server.request(method, address, { ...rest, document: null })).to.have.status(422);
      }
      expect(await project.server.patch(`/templates/${id}`, { document: null })).to.have.validationError(
        'document',
        'invalid_type',
      );
    });
  });
});
