import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';
import { type ApiAnswer, type ApiProject, describeApi } from '../support/api.ts';
import { addEvents } from '../support/rows/events.ts';

describeApi('events', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const track = async (
    email: string,
    event: string,
    more: object = {},
  ): Promise<{ contact: string; event: string }> => {
    const answer = await project.browser.post('/v1/track', { email, event, ...more });
    expect(answer).to.have.status(200);
    return answer.body.data;
  };
  const namesOf = ({ body }: ApiAnswer): string[] => body.data.map(({ name }: { name: string }) => name);

  describe('GET /events', () => {
    it('lists recorded events, newest first, with every field', async () => {
      const first = await track('ann@example.com', 'signup', { data: { plan: 'pro' } });
      await track('ann@example.com', 'purchase', { subscribed: false });
      const answer = await project.server.get('/events');
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ hasMore: false, cursor: null, total: 3 });
      expect(namesOf(answer)).to.deep.equal(['purchase', 'contact.unsubscribed', 'signup']);
      const [, , signup] = answer.body.data;
      expect(signup).to.have.all.keys('id', 'name', 'data', 'contactId', 'emailId', 'createdAt');
      expect(signup).to.deep.include({
        id: first.event,
        name: 'signup',
        data: { plan: 'pro' },
        contactId: first.contact,
        emailId: null,
      });
    });

    it('pages through events, with the total on the first page only', async () => {
      for (let n = 0; n < 5; n++) await track('ann@example.com', `e${n}`);
      const pages: string[][] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const answer: ApiAnswer = await project.server.get(`/events?limit=2${cursor && `&cursor=${cursor}`}`);
        expect(answer.body.total).to.equal(cursor ? 0 : 5);
        pages.push(namesOf(answer));
        cursor = answer.body.cursor;
      }
      expect(pages).to.deep.equal([['e4', 'e3'], ['e2', 'e1'], ['e0']]);
    });

    it('filters and counts by the name of an event', async () => {
      for (const event of ['a', 'b', 'a']) await track('ann@example.com', event);
      const answer = await project.server.get('/events?eventName=a');
      expect(namesOf(answer)).to.deep.equal(['a', 'a']);
      expect(answer.body.total).to.equal(2);
      expect((await project.server.get('/events?eventName=none')).body).to.deep.include({ data: [], total: 0 });
    });

    it('filters by a range, before and after the deltas are aggregated', async () => {
      const { contact: contactId } = await track('ann@example.com', 'seed');
      const at = (time: string, name: string) => ({
        id: newId(),
        projectId: project.id,
        contactId,
        name,
        createdAt: `2024-03-${time}Z`,
      });
      await addEvents(api.db, [
        at('01T10:30:00', 'a'),
        at('02T00:00:00', 'b'),
        at('02T23:59:00', 'a'),
        at('03T00:00:00', 'b'),
      ]);
      for (const isFolded of [false, true]) {
        if (isFolded) await aggregateEventCounts(api.db);
        for (const [query, total] of [
          ['startDate=2024-03-02&endDate=2024-03-02', 2],
          ['endDate=2024-03-01', 1],
          ['startDate=2024-03-01T10:31:00Z&endDate=2024-03-02T23:59:30Z', 2],
          ['startDate=2024-03-03', 2],
        ] as const)
          for (const list of ['/events?', `/events/contact/${contactId}?`]) {
            const { body } = await project.server.get(list + query);
            expect([body.total, body.data.length], list + query).to.deep.equal([total, total]);
          }
        expect((await project.server.get('/events?eventName=a&endDate=2024-03-02')).body.total).to.equal(2);
      }
      for (const query of ['startDate=tomorrow', 'startDate=2024-03-02&endDate=2024-03-01'])
        expect(await project.server.get(`/events?${query}`)).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('answers 400 to a cursor of another list and to an invalid limit', async () => {
      for (const event of ['a', 'a']) await track('ann@example.com', event);
      const { cursor } = (await project.server.get('/events?limit=1')).body;
      expect(await project.server.get(`/events?limit=1&eventName=a&cursor=${cursor}`)).to.be.envelope(
        400,
        'BAD_REQUEST',
      );
      expect(await project.server.get('/events?cursor=made-up')).to.be.envelope(400, 'BAD_REQUEST');
      expect(await project.server.get('/events?limit=0')).to.be.envelope(400, 'BAD_REQUEST');
    });
  });

  describe('GET /events/contact/:contactId', () => {
    it('lists the events of the contact only', async () => {
      const { contact } = await track('ann@example.com', 'a');
      await track('bob@example.com', 'b');
      await track('ann@example.com', 'c');
      const answer = await project.server.get(`/events/contact/${contact}?limit=1`);
      expect(answer.body).to.include({ total: 2, hasMore: true });
      expect(namesOf(answer)).to.deep.equal(['c']);
      const next = await project.server.get(`/events/contact/${contact}?limit=1&cursor=${answer.body.cursor}`);
      expect(namesOf(next)).to.deep.equal(['a']);
    });

    it('answers 404 to an unknown contact, one of another project and an invalid id', async () => {
      const { contact } = await track('ann@example.com', 'a');
      const other = await api.project();
      expect(await other.server.get(`/events/contact/${contact}`)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      expect(await project.server.get(`/events/contact/${newId()}`)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      expect(await project.server.get('/events/contact/ann')).to.be.envelope(404, 'CONTACT_NOT_FOUND');
    });
  });

  describe('GET /events/names', () => {
    it('counts the names in use and always includes reserved names', async () => {
      for (const event of ['rare', 'often', 'often']) await track('ann@example.com', event);
      const { names } = (await project.server.get('/events/names')).body;
      expect(names.slice(0, 2)).to.deep.equal([
        { name: 'often', count: 2, reserved: false },
        { name: 'rare', count: 1, reserved: false },
      ]);
      const offered = names.slice(2);
      expect(offered.map(({ name }: { name: string }) => name)).to.include.members([
        'email.sent',
        'email.delivery',
        'email.open',
        'email.click',
        'email.bounce',
        'email.complaint',
        'email.failed',
        'contact.subscribed',
        'contact.unsubscribed',
      ]);
      for (const event of offered) expect(event).to.include({ count: 0, reserved: true });
    });

    it('includes entry and exit events of tracked segments', async () => {
      await project.server.post('/segments', { name: 'Big Spenders', type: 'STATIC', trackMembership: true });
      const { names } = (await project.server.get('/events/names')).body;
      expect(names).to.deep.include({ name: 'segment.big-spenders.entry', count: 0, reserved: true });
      expect(names).to.deep.include({ name: 'segment.big-spenders.exit', count: 0, reserved: true });
    });
  });

  describe('GET /events/stats', () => {
    it('returns the same counts and last time before and after the deltas are aggregated', async () => {
      const begun = Date.now();
      for (const [email, event] of [
        ['ann@example.com', 'a'],
        ['ann@example.com', 'a'],
        ['bob@example.com', 'a'],
        ['bob@example.com', 'b'],
      ] as const)
        await track(email, event);
      const before = await project.server.get('/events/stats');
      await aggregateEventCounts(api.db);
      const after = await project.server.get('/events/stats');
      await track('ann@example.com', 'a');
      await track('eve@example.com', 'a');
      const later = await project.server.get('/events/stats');
      expect(before.body.data).to.have.lengthOf(2);
      expect(before.body.data[0]).to.include({ name: 'a', count: 3, uniqueContacts: 2 });
      expect(before.body.data[1]).to.include({ name: 'b', count: 1, uniqueContacts: 1 });
      expect(Date.parse(before.body.data[0].lastSeenAt)).to.be.within(begun, Date.now());
      expect(after.body).to.deep.equal(before.body);
      expect(later.body.data[0]).to.include({ name: 'a', count: 5, uniqueContacts: 3 });
    });

    it('counts a contact once within a range', async () => {
      const { contact } = await track('ann@example.com', 'seed');
      const at = (day: string, contactId = contact) => ({
        id: newId(),
        projectId: project.id,
        contactId,
        name: 'visit',
        createdAt: `2024-${day}T10:00:00Z`,
      });
      const bob = (await track('bob@example.com', 'seed')).contact;
      await addEvents(api.db, [at('03-01'), at('03-02'), at('03-02', bob), at('03-05')]);
      const visits = async (query: string) => {
        const { data } = (await project.server.get(`/events/stats?${query}`)).body;
        return data.find(({ name }: { name: string }) => name === 'visit');
      };
      const all = { name: 'visit', count: 4, uniqueContacts: 2, lastSeenAt: '2024-03-05T10:00:00.000Z' };
      for (const isFolded of [false, true]) {
        if (isFolded) await aggregateEventCounts(api.db);
        expect(await visits('startDate=2024-03-01')).to.deep.equal(all);
        expect(await visits('startDate=2024-03-02&endDate=2024-03-02')).to.include({ count: 2, uniqueContacts: 2 });
        expect(await visits('startDate=2024-03-01&endDate=2024-03-01')).to.include({ count: 1, uniqueContacts: 1 });
        expect(await visits('startDate=2024-03-03')).to.include({ count: 1, uniqueContacts: 1 });
        expect(await visits('startDate=2024-03-05T10:30:00Z')).to.include({ count: 1 });
        expect(await visits('startDate=2024-03-05T11:00:00Z')).to.equal(undefined);
        expect(await visits('')).to.equal(undefined);
      }
    });

    it('answers 400 to an invalid date and to an end before the start', async () => {
      for (const query of ['startDate=soon', 'endDate=2024-02-30', 'startDate=2024-03-02&endDate=2024-03-01'])
        expect(await project.server.get(`/events/stats?${query}`)).to.be.envelope(400, 'BAD_REQUEST');
    });
  });

  describe('GET /events/:eventName/usage', () => {
    it('lists the segments, campaigns and workflows that use the event', async () => {
      await track('ann@example.com', 'bought');
      await track('bob@example.com', 'bought');
      await track('bob@example.com', 'bought');
      const condition = {
        logic: 'AND',
        groups: [{ filters: [{ field: 'event.bought', operator: 'triggered' }] }],
      };
      const segment = (await project.server.post('/segments', { name: 'Buyers', condition })).body;
      const campaign = await project.server.post('/campaigns', {
        name: 'Thanks',
        subject: 'Thanks',
        body: '<p>Thanks</p>',
        from: `hello@${project.senderDomain}`,
        audienceType: 'FILTERED',
        audienceCondition: condition,
      });
      const byTrigger = await project.server.post('/workflows', { name: 'After', eventName: 'bought' });
      const byStep = await project.server.post('/workflows', { name: 'Before', eventName: 'else' });
      const step = { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } };
      expect(await project.server.post(`/workflows/${byStep.body.id}/steps`, step)).to.have.status(201);
      const usage = await project.server.get('/events/bought/usage');
      expect(usage).to.have.status(200);
      expect(usage.body).to.deep.equal({
        usedInSegments: [{ id: segment.id, name: 'Buyers' }],
        usedInCampaigns: [{ id: campaign.body.data.id, name: 'Thanks' }],
        usedInWorkflows: [
          { id: byTrigger.body.id, name: 'After' },
          { id: byStep.body.id, name: 'Before' },
        ],
        totalCount: 3,
        uniqueContacts: 2,
        canDelete: false,
      });
    });

    it('is empty for an unknown name', async () => {
      expect((await project.server.get('/events/no%2Fsuch%20one/usage')).body).to.deep.equal({
        usedInSegments: [],
        usedInWorkflows: [],
        usedInCampaigns: [],
        totalCount: 0,
        uniqueContacts: 0,
        canDelete: true,
      });
    });
  });

  describe('DELETE /events/:eventName', () => {
    it('deletes all events of the name and their counts, in this project only', async () => {
      const other = await api.project();
      await other.browser.post('/v1/track', { email: 'ann@example.com', event: 'bought' });
      await track('ann@example.com', 'bought');
      await aggregateEventCounts(api.db);
      await track('bob@example.com', 'bought');
      await track('bob@example.com', 'kept');
      const deleted = await project.server.delete('/events/bought');
      expect(deleted).to.have.status(200);
      expect(deleted.body).to.deep.equal({ deleted: 2 });
      expect(namesOf(await project.server.get('/events'))).to.deep.equal(['kept']);
      expect((await project.server.get('/events')).body.total).to.equal(1);
      expect(namesOf(await project.server.get('/events/stats'))).to.deep.equal(['kept']);
      const { names } = (await project.server.get('/events/names')).body;
      expect(names.filter(({ reserved }: { reserved: boolean }) => !reserved)).to.deep.equal([
        { name: 'kept', count: 1, reserved: false },
      ]);
      expect((await project.server.get('/events/bought/usage')).body).to.include({ totalCount: 0, uniqueContacts: 0 });
      expect((await other.server.get('/events?eventName=bought')).body.total).to.equal(1);
      await track('ann@example.com', 'bought');
      const [again] = (await project.server.get('/events/stats')).body.data;
      expect(again).to.include({ name: 'bought', count: 1, uniqueContacts: 1 });
    });

    it('deletes none for a name that was never recorded', async () => {
      expect((await project.server.delete('/events/never')).body).to.deep.equal({ deleted: 0 });
    });
  });

  describe('POST /events/track', () => {
    it('accepts the body of /v1/track with the secret key or a session, and answers with the ids', async () => {
      for (const client of [project.server, project.owner]) {
        const answer = await client.post('/events/track', { email: 'ann@example.com', event: 'a', data: { n: 1 } });
        expect(answer).to.have.status(200);
        expect(answer.body).to.have.all.keys('contact', 'event', 'timestamp');
      }
      expect((await project.server.get('/events?eventName=a')).body.total).to.equal(2);
    });

    it('accepts a contact id and changes the data as /v1/track does', async () => {
      const { contact } = await track('ann@example.com', 'a', { data: { keep: 1, drop: 2 } });
      const data = { drop: null, tier: 'gold', code: { value: 7, persistent: false } };
      const answer = await project.server.post('/events/track', { name: 'b', contactId: contact, data });
      expect(answer.body).to.include({ contact });
      const { body } = await project.server.get(`/contacts/${contact}`);
      expect(body.data).to.deep.equal({ keep: 1, tier: 'gold' });
      const [event] = (await project.server.get('/events')).body.data;
      expect(event).to.deep.include({ id: answer.body.event, name: 'b', data: { tier: 'gold', code: 7 } });
    });

    it('answers 404 to a contact of another project and records nothing', async () => {
      const { contact } = await track('ann@example.com', 'a');
      const other = await api.project();
      for (const contactId of [contact, newId()])
        expect(await other.server.post('/events/track', { name: 'b', contactId })).to.be.envelope(
          404,
          'CONTACT_NOT_FOUND',
        );
      expect((await other.server.get('/events')).body.total).to.equal(0);
    });

    it('answers 422 to reserved names and invalid bodies', async () => {
      const { contact } = await track('ann@example.com', 'a');
      const post = (body: object) => project.server.post('/events/track', body);
      expect(await post({ name: 'email.sent', contactId: contact })).to.have.validationError('name', 'reserved_event');
      expect(await post({ event: 'contact.subscribed', email: 'a@example.com' })).to.have.validationError(
        'event',
        'reserved_event',
      );
      expect(await post({ name: 'a', contactId: 'ann' })).to.have.validationError('contactId', 'invalid_string');
      expect(await post({ event: 'a' })).to.have.validationError('email', 'required');
    });

    it('records one event per Idempotency-Key', async () => {
      const { contact } = await track('ann@example.com', 'a');
      const post = () =>
        project.server.post('/events/track', { name: 'b', contactId: contact }, { 'idempotency-key': 'once' });
      expect(await post()).to.have.status(200);
      expect(await post()).to.be.envelope(409, 'IDEMPOTENCY_KEY_REUSED');
      expect((await project.server.get('/events?eventName=b')).body.total).to.equal(1);
    });

    it('answers 401 to the public key', async () => {
      expect(await project.browser.post('/events/track', { email: 'a@example.com', event: 'a' })).to.be.envelope(
        401,
        'INVALID_API_KEY',
      );
    });
  });
});
