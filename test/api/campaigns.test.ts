import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiAnswer, type ApiProject, describeApi } from '../support/api.ts';
import { setCampaigns, storedCampaigns } from '../support/rows/campaigns.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const FIELDS = [
  'id',
  'name',
  'description',
  'subject',
  'body',
  'document',
  'editor',
  'revision',
  'from',
  'fromName',
  'replyTo',
  'topicId',
  'followUpOf',
  'type',
  'status',
  'paused',
  'pauseReason',
  'pausedBy',
  'audienceType',
  'segmentId',
  'audienceCondition',
  'templateId',
  'ratePerMinute',
  'sendUntil',
  'localTime',
  'late',
  'scheduledFor',
  'totalRecipients',
  'pendingCount',
  'sentCount',
  'failedCount',
  'skippedCount',
  'cancelledCount',
  'unknownCount',
  'deliveredCount',
  'openedCount',
  'clickedCount',
  'bouncedCount',
  'complainedCount',
  'unsubscribedCount',
  'topicUnsubscribedCount',
  'humanOpenedCount',
  'humanClickedCount',
  'peopleOpenedCount',
  'estimatedSecondsLeft',
  'slowedDomains',
  'projectId',
  'sentAt',
  'createdAt',
  'updatedAt',
];
const tree = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
const isPro = tree({ field: 'data.plan', operator: 'equals', value: 'pro' });

describeApi('campaigns', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const body = (more: object = {}) => ({
    name: 'Spring',
    subject: 'Hi {{ name }}',
    body: '<p>{{ name }}</p>',
    from: `news@${project.senderDomain}`,
    audienceType: 'ALL',
    ...more,
  });
  const post = (more: object = {}) => project.server.post('/campaigns', body(more));
  const create = async (more: object = {}): Promise<ApiAnswer['body']> => {
    const answer = await post(more);
    expect(answer).to.have.status(200);
    return answer.body.data;
  };
  const get = async (id: string) => (await project.server.get(`/campaigns/${id}`)).body;
  const put = (id: string, more: object = {}) => project.server.put(`/campaigns/${id}`, body(more));
  const stored = () => storedCampaigns(api.db, { projectId: project.id });
  const setStatus = (id: string, columns: object) => setCampaigns(api.db, { id }, columns);
  const contact = async (email: string, more: object = {}) =>
    (await project.server.post('/contacts', { email, ...more })).body as { id: string };
  const segment = async (more: object = {}) =>
    (await project.server.post('/segments', { name: 'Pro', condition: isPro, ...more })).body as { id: string };
  const violationsOf = (answer: ApiAnswer) =>
    answer.body.error.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);

  describe('POST /campaigns', () => {
    it('answers 200 with the draft in the envelope', async () => {
      const answer = await post();
      expect(answer).to.have.status(200);
      expect(answer.body).to.have.all.keys('success', 'data');
      expect(answer.body.success).to.equal(true);
      const { data } = answer.body;
      expect(data).to.have.all.keys(FIELDS);
      expect(data).to.include({ ...body(), status: 'DRAFT', type: 'MARKETING', paused: false, projectId: project.id });
      expect(data).to.include({ description: null, fromName: null, replyTo: null, segmentId: null, templateId: null });
      expect(data).to.include({ audienceCondition: null, scheduledFor: null, sentAt: null, ratePerMinute: null });
      expect(data.id).to.match(UUID);
      expect(await get(data.id)).to.deep.equal({ ...data, followUps: [], combined: null });
    });

    it('stores every field of a campaign', async () => {
      const template = await project.server.post('/templates', {
        name: 'T',
        subject: 'S',
        body: '<p>B</p>',
        type: 'MARKETING',
      });
      const all = {
        description: 'What is new',
        fromName: 'News',
        replyTo: 'help@example.com',
        type: 'HEADLESS',
        templateId: template.body.id,
        ratePerMinute: 600,
      };
      expect(await create(all)).to.include(all);
      const usage = await project.server.get(`/templates/${template.body.id}/usage`);
      expect(usage.body.campaigns.map(({ name, status }: ApiAnswer['body']) => [name, status])).to.deep.equal([
        ['Spring', 'DRAFT'],
      ]);
      expect(usage.body.canDelete).to.equal(true);
    });

    it('counts the recipients by the subscription rule of its type', async () => {
      await contact('ann@example.com');
      await contact('bob@example.com', { subscribed: false });
      await contact('cid@example.com', { data: { plan: 'pro' } });
      const { id: segmentId } = await segment();
      const count = async (more: object) => (await create(more)).totalRecipients;
      expect(await count({})).to.equal(2);
      expect(await count({ type: 'HEADLESS' })).to.equal(2);
      expect(await count({ type: 'TRANSACTIONAL' })).to.equal(3);
      expect(await count({ audienceType: 'SEGMENT', segmentId })).to.equal(1);
      expect(await count({ audienceType: 'FILTERED', audienceCondition: isPro })).to.equal(1);
      const gmail = tree({ field: 'email', operator: 'startsWith', value: 'bob' });
      expect(await count({ audienceType: 'FILTERED', audienceCondition: gmail })).to.equal(0);
      expect(await count({ audienceType: 'FILTERED', audienceCondition: gmail, type: 'TRANSACTIONAL' })).to.equal(1);
    });

    it('counts the audience again on GET', async () => {
      const { id, totalRecipients } = await create();
      expect(totalRecipients).to.equal(0);
      await contact('ann@example.com');
      expect((await get(id)).totalRecipients).to.equal(1);
    });

    it('ignores fields that its audience type does not use', async () => {
      const draft = await create({ segmentId: 'nonsense', audienceCondition: { logic: 'XOR' } });
      expect(draft).to.include({ segmentId: null, audienceCondition: null });
      const { id: segmentId } = await segment();
      expect(await create({ segmentId: 5 })).to.include({ segmentId: null });
      const bySegment = { audienceType: 'SEGMENT', segmentId, audienceCondition: 'nonsense' };
      expect(await create(bySegment)).to.include({ segmentId, audienceCondition: null });
    });

    describe('403', () => {
      it('when the sender domain is not verified, with the documented code', async () => {
        const answer = await post({ from: 'news@elsewhere.example' });
        expect(answer).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
        expect(answer.body.error.suggestion).to.contain('POST /domains');
        expect(answer.body.error.details).to.deep.equal({ code: 'DOMAIN_NOT_VERIFIED', domain: 'elsewhere.example' });
        expect(await stored()).to.deep.equal([]);
      });
    });

    describe('404', () => {
      it('when the segment or template does not exist in the project', async () => {
        expect(await post({ audienceType: 'SEGMENT', segmentId: newId() })).to.be.envelope(404, 'SEGMENT_NOT_FOUND');
        expect(await post({ templateId: newId() })).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
        const other = await api.project();
        const { body: foreign } = await other.server.post('/segments', { name: 'x', condition: isPro });
        const answer = await post({ audienceType: 'SEGMENT', segmentId: foreign.id });
        expect(answer).to.be.envelope(404, 'SEGMENT_NOT_FOUND');
        expect(await stored()).to.deep.equal([]);
      });
    });

    describe('422', () => {
      const refused = async (more: object, ...violations: string[]) => {
        const answer = await post(more);
        expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
        expect(violationsOf(answer)).to.include.members(violations);
        expect(await stored()).to.deep.equal([]);
      };

      for (const field of ['name', 'subject', 'body', 'from', 'audienceType'])
        it(`without ${field}`, () => refused({ [field]: undefined }, `${field} required`));

      it('with an invalid or missing segment id', async () => {
        await refused({ audienceType: 'SEGMENT' }, 'segmentId required');
        await refused({ audienceType: 'SEGMENT', segmentId: 'x' }, 'segmentId invalid_string');
      });

      it('with an invalid condition, with the path of the error', async () => {
        await refused({ audienceType: 'FILTERED' }, 'audienceCondition required');
        const audienceCondition = {
          logic: 'AND',
          groups: [{ filters: [{ field: 'email', operator: 'like', value: 'x' }] }],
        };
        await refused(
          { audienceType: 'FILTERED', audienceCondition },
          'audienceCondition.groups.0.filters.0.operator invalid_enum',
        );
        const unknown = tree({ field: `segment.${newId()}`, operator: 'memberOfSegment' });
        await refused(
          { audienceType: 'FILTERED', audienceCondition: unknown },
          'audienceCondition.groups.0.filters.0.field custom',
        );
      });

      it('with a body that does not parse, with line and column', async () => {
        const answer = await post({ body: '<p>\n{{ name | shout }}</p>' });
        expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
        expect(answer.body.error.message).to.contain('Line 2, column 11 of "body": unknown filter "shout"');
        expect(answer.body.error.details.faults[0]).to.include({ field: 'body', line: 2, column: 11 });
      });

      it('with values of the wrong type', async () => {
        await refused({ subject: 'a\nb' }, 'subject invalid_string');
        await refused({ from: 'nobody' }, 'from invalid_string');
        await refused({ type: 'SPAM' }, 'type invalid_enum');
        await refused({ audienceType: 'SOME' }, 'audienceType invalid_enum');
        await refused({ ratePerMinute: 0 }, 'ratePerMinute too_small');
      });
    });
  });

  describe('GET /campaigns/:id', () => {
    it('answers 404 to a campaign of another project or an unknown id', async () => {
      const other = await api.project();
      const { id } = await create();
      expect(await other.server.get(`/campaigns/${id}`)).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
      expect(await project.server.get('/campaigns/nonsense')).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
    });
  });

  describe('PUT /campaigns/:id', () => {
    it('replaces the campaign and resets omitted fields to their defaults', async () => {
      const { id } = await create({ description: 'x', fromName: 'y', type: 'TRANSACTIONAL', ratePerMinute: 5 });
      const answer = await put(id, { name: 'Summer' });
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ id, name: 'Summer', description: null, fromName: null, type: 'MARKETING' });
      expect(answer.body).to.include({ ratePerMinute: null, status: 'DRAFT' });
      expect(await get(id)).to.deep.equal({ ...answer.body, followUps: [], combined: null });
    });

    it('keeps the time of a scheduled campaign and counts its audience again', async () => {
      const { id } = await create();
      const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
      await project.server.post(`/campaigns/${id}/send`, { scheduledFor });
      await contact('ann@example.com');
      const answer = await put(id, { scheduledFor: '2001-01-01T00:00:00Z' });
      expect(answer.body).to.include({ status: 'SCHEDULED', scheduledFor, totalRecipients: 1 });
    });

    it('accepts the answer of GET as its body, also after the source template is deleted', async () => {
      const { body: template } = await project.server.post('/templates', {
        name: 'T',
        subject: 'Hi',
        body: '<p>x</p>',
        type: 'MARKETING',
      });
      const draft = await create({ templateId: template.id });
      expect(await project.server.delete(`/templates/${template.id}`)).to.have.status(204);
      const { body: shown } = await project.server.get(`/campaigns/${draft.id}`);
      const answer = await project.server.put(`/campaigns/${draft.id}`, { ...shown, name: 'Later' });
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ name: 'Later', templateId: shown.templateId });
    });

    it('answers 403, 404 and 422 in the same cases as POST', async () => {
      const { id } = await create();
      expect(await put(id, { from: 'a@elsewhere.example' })).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
      expect(await put(id, { audienceType: 'SEGMENT' })).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await put(id, { body: '{% if %}' })).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await put(newId())).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
      expect((await get(id)).updatedAt).to.equal((await get(id)).createdAt);
    });

    it('answers 409 once the campaign is SENDING', async () => {
      const { id } = await create();
      for (const status of ['SENDING', 'SENT', 'CANCELLED']) {
        await setStatus(id, { status });
        expect(await put(id), status).to.be.envelope(409, 'CONFLICT');
      }
    });
  });

  describe('PATCH /campaigns/:id', () => {
    it('sets and clears the throttle in any state', async () => {
      const { id } = await create();
      const patch = (ratePerMinute: unknown) => project.server.patch(`/campaigns/${id}`, { ratePerMinute });
      expect((await patch(120)).body).to.include({ ratePerMinute: 120 });
      await setStatus(id, { status: 'SENDING' });
      expect((await patch(null)).body).to.include({ ratePerMinute: null });
      expect(await patch(0)).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await patch('many')).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await project.server.patch(`/campaigns/${newId()}`, { ratePerMinute: 1 })).to.have.status(404);
    });
  });

  describe('DELETE /campaigns/:id', () => {
    it('answers 204, then 404', async () => {
      const { id } = await create();
      expect(await project.server.delete(`/campaigns/${id}`)).to.have.status(204);
      expect(await project.server.delete(`/campaigns/${id}`)).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
      expect(await project.server.get(`/campaigns/${id}`)).to.have.status(404);
    });

    it('answers 409 while the campaign is SCHEDULED or SENDING', async () => {
      const { id } = await create();
      for (const columns of [{ status: 'SCHEDULED', scheduledFor: new Date() }, { status: 'SENDING' }]) {
        await setStatus(id, columns);
        expect(await project.server.delete(`/campaigns/${id}`)).to.be.envelope(409, 'CONFLICT');
      }
      await setStatus(id, { status: 'CANCELLED' });
      expect(await project.server.delete(`/campaigns/${id}`)).to.have.status(204);
    });
  });

  describe('POST /campaigns/:id/duplicate', () => {
    it('answers 201 with a draft, whatever the state of the original', async () => {
      const original = await create({ audienceType: 'FILTERED', audienceCondition: isPro, description: 'x' });
      await setStatus(original.id, { status: 'SENT', sentAt: new Date(), generation: 3, frozenAt: new Date() });
      const answer = await project.server.post(`/campaigns/${original.id}/duplicate`);
      expect(answer).to.have.status(201);
      const { id, createdAt, updatedAt, ...copy } = answer.body;
      expect(id).not.to.equal(original.id);
      const { id: _, createdAt: __, updatedAt: ___, ...expected } = { ...original, name: 'Spring (Copy)' };
      expect(copy).to.deep.equal(expected);
      expect(await project.server.post(`/campaigns/${newId()}/duplicate`)).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
    });
  });

  describe('GET /campaigns', () => {
    const names = async (query: string) => {
      const answer = await project.server.get(`/campaigns${query}`);
      expect(answer).to.have.status(200);
      return answer.body.data.map(({ name }: { name: string }) => name);
    };

    it('pages through campaigns, newest first', async () => {
      for (const name of ['a', 'b', 'c']) await create({ name });
      const answer = await project.server.get('/campaigns?page=2&pageSize=2');
      expect(answer.body).to.include({ total: 3, page: 2, pageSize: 2, totalPages: 2 });
      expect(answer.body.data[0]).to.have.all.keys(FIELDS.filter((field) => field !== 'document'));
      expect(await names('?pageSize=2')).to.deep.equal(['c', 'b']);
      expect(await names('?page=2&pageSize=2')).to.deep.equal(['a']);
      expect(await names('?sort=name&dir=asc')).to.deep.equal(['a', 'b', 'c']);
      expect(await names('?sort=nonsense')).to.deep.equal(['c', 'b', 'a']);
    });

    it('filters by status, and answers 400 to an unknown one', async () => {
      const { id } = await create({ name: 'sent' });
      await create({ name: 'draft' });
      await setStatus(id, { status: 'SENT' });
      expect(await names('?status=SENT')).to.deep.equal(['sent']);
      expect(await names('?status=CANCELLED')).to.deep.equal([]);
      expect(await project.server.get('/campaigns?status=PAUSED')).to.be.envelope(400, 'BAD_REQUEST');
      expect(await project.server.get('/campaigns?page=0')).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('searches name, subject and sender, ignoring case', async () => {
      await create({ name: 'Easter Sale' });
      await create({ name: 'b', subject: 'easter eggs' });
      await create({ name: 'c', from: `easter@${project.senderDomain}` });
      await create({ name: 'd', description: 'easter' });
      expect(await names('?search=EASTER&sort=name&dir=asc')).to.deep.equal(['Easter Sale', 'b', 'c']);
      expect(await names('?search=%25')).to.deep.equal([]);
    });
  });

  describe('resources that campaigns use', () => {
    it('rejects deleting a segment that an unfinished campaign uses directly or in a condition', async () => {
      const { id: segmentId } = await segment();
      const condition = tree({ field: `segment.${segmentId}`, operator: 'memberOfSegment' });
      for (const audience of [
        { audienceType: 'SEGMENT', segmentId },
        { audienceType: 'FILTERED', audienceCondition: condition },
      ]) {
        const { id } = await create(audience);
        for (const columns of [{}, { status: 'SCHEDULED', scheduledFor: new Date() }, { status: 'SENDING' }]) {
          if (Object.keys(columns).length > 0) await setStatus(id, columns);
          expect(await project.server.delete(`/segments/${segmentId}`)).to.be.envelope(409, 'CONFLICT');
        }
        await setStatus(id, { status: 'SENT' });
      }
      expect(await project.server.delete(`/segments/${segmentId}`)).to.have.status(204);
    });

    it('lists the campaigns whose audience depends on a field', async () => {
      await contact('ann@example.com', { data: { plan: 'pro' } });
      const { id } = await create({ audienceType: 'FILTERED', audienceCondition: isPro });
      const usage = await project.server.get('/contacts/fields/data.plan/usage');
      expect(usage.body.usedInCampaigns).to.deep.equal([{ id, name: 'Spring' }]);
      expect(usage.body.canDelete).to.equal(false);
    });
  });
});
