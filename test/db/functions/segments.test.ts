import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';

describe('database functions of segments', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const changes = () =>
    database
      .db('contactChanges')
      .where({ projectId: database.projectId })
      .orderBy('id')
      .select('contactId', 'dependencies');

  describe('queue_added_contact', () => {
    it('queues a new contact without dependencies: all segments must be evaluated', async () => {
      await database.addDependency('subscribed');
      const contactId = await database.addContact();
      expect(await changes()).to.deep.equal([{ contactId, dependencies: null }]);
    });

    it('queues nothing while the project tracks no segment', async () => {
      await database.addDependency('subscribed');
      await database.renew();
      await database.addContact();
      expect(await changes()).to.deep.equal([]);
    });
  });

  describe('queue_changed_contact', () => {
    const queuedBy = async (before: object, change: object) => {
      const id = await database.addContact(before);
      await database.db('contactChanges').where({ projectId: database.projectId }).delete();
      await database.db('contacts').where({ id }).update(change);
      return (await changes()).map(({ dependencies }) => (dependencies as string[]).sort());
    };

    it('queues the dependencies that have changed', async () => {
      for (const dependency of ['email', 'subscribed', 'createdAt', 'updatedAt', 'data.plan', 'data.city', 'event.x'])
        await database.addDependency(dependency);
      expect(await queuedBy({}, { email: 'other@example.com' })).to.deep.equal([['email']]);
      expect(await queuedBy({}, { subscribed: false })).to.deep.equal([['subscribed']]);
      expect(await queuedBy({}, { createdAt: new Date(0), updatedAt: new Date(0) })).to.deep.equal([
        ['createdAt', 'updatedAt'],
      ]);
      expect(await queuedBy({ data: { plan: 'a', city: 'b' } }, { data: { plan: 'a' } })).to.deep.equal([
        ['data.city'],
      ]);
      expect(await queuedBy({ data: { plan: 1 } }, { data: { plan: null } })).to.deep.equal([['data.plan']]);
    });

    it('names a dependency once when two segments have it', async () => {
      await database.addDependency('subscribed');
      await database.addDependency('subscribed');
      expect(await queuedBy({}, { subscribed: false })).to.deep.equal([['subscribed']]);
    });

    it('queues nothing for changes that no segment depends on', async () => {
      await database.addDependency('data.plan');
      expect(await queuedBy({ data: { plan: 1 } }, { data: { plan: 1, city: 'x' }, subscribed: false })).to.deep.equal(
        [],
      );
    });
  });

  describe('set_counted_at', () => {
    it('says when the members were counted, and only then', async () => {
      const { db, projectId } = database;
      const segment = { id: newId(), projectId, name: 'VIPs', slug: 'vips', type: 'STATIC' };
      await db('segments').insert(segment);
      const countedAt = async () => (await db('segments').where({ id: segment.id }).first('countedAt')).countedAt;
      await db('segments').where({ id: segment.id }).update({ name: 'Others' });
      expect(await countedAt()).to.equal(null);
      await db('segments').where({ id: segment.id }).update({ memberCount: 0 });
      expect(await countedAt()).to.be.an.instanceOf(Date);
    });
  });

  describe('remove_deleted_members', () => {
    it('removes the memberships of deleted contacts and queues each segment once for a recount', async () => {
      const first = await database.addSegment();
      const second = await database.addSegment();
      const untouched = await database.addSegment();
      const contacts = [await database.addContact(), await database.addContact(), await database.addContact()];
      const members = [
        [first, contacts[0]],
        [first, contacts[1]],
        [second, contacts[1]],
        [second, contacts[2]],
        [untouched, contacts[2]],
      ];
      await database.db('segmentMembers').insert(members.map(([segmentId, contactId]) => ({ segmentId, contactId })));
      await database
        .db('contacts')
        .whereIn('id', [contacts[0] ?? '', contacts[1] ?? ''])
        .delete();
      const segments = [first, second, untouched];
      expect(
        await database
          .db('segmentMembers')
          .whereIn('segmentId', segments)
          .orderBy('segmentId')
          .select('segmentId', 'contactId'),
      ).to.deep.equal([
        { segmentId: second, contactId: contacts[2] },
        { segmentId: untouched, contactId: contacts[2] },
      ]);
      expect(await database.db('segmentRecounts').whereIn('segmentId', segments).pluck('segment_id')).to.have.members([
        first,
        second,
      ]);
    });

    it('queues no recount for a contact without memberships', async () => {
      const id = await database.addContact();
      const before = await database.value('select count(*)::integer from segment_recounts');
      await database.db('contacts').where({ id }).delete();
      expect(await database.value('select count(*)::integer from segment_recounts')).to.equal(before);
    });
  });

  describe('email_dependencies', () => {
    const of = (...ids: (string | null)[]) =>
      database.value('select array_remove(email_dependencies(?::uuid, ?::uuid, ?::uuid), null)', ids);

    it('names campaign, template and step of an email, as far as it has them', async () => {
      const [campaign, template, step] = [newId(), newId(), newId()];
      expect(await of(campaign, template, null)).to.deep.equal([
        'campaigns',
        `campaign.${campaign}`,
        `template.${template}`,
      ]);
      expect(await of(null, null, step)).to.deep.equal([`step.${step}`]);
      expect(await of(null, null, null)).to.deep.equal([]);
    });
  });

  /** A contact without queued changes, in a project whose segments depend on these. */
  async function addQuietContact(...dependencies: string[]): Promise<string> {
    for (const dependency of dependencies) await database.addDependency(dependency);
    const contactId = await database.addContact();
    await database.db('contactChanges').where({ projectId: database.projectId }).delete();
    return contactId;
  }

  describe('queue_email_results', () => {
    it('queues the contact of an email whose result has changed, where a segment depends on it', async () => {
      const campaignId = await database.addCampaign();
      const contactId = await addQuietContact('emails', `campaign.${campaignId}`);
      const id = await database.addEmail({ contactId, campaignId });
      const other = await database.addEmail({ contactId });
      await database.db('emails').where({ id }).update({ dueAt: new Date() });
      await database.db('emails').where({ id: other }).update({ status: 'SENT', sentAt: new Date() });
      expect(await changes()).to.deep.equal([]);
      await database.db('emails').where({ id }).update({ status: 'SENT', sentAt: new Date() });
      expect(await changes()).to.deep.equal([{ contactId, dependencies: [`campaign.${campaignId}`] }]);
    });
  });

  describe('queue_added_email', () => {
    it('queues the contact of an email that is written with its result, and not of a pending one', async () => {
      const campaignId = await database.addCampaign();
      const contactId = await addQuietContact(`campaign.${campaignId}`);
      await database.addEmail({ contactId, campaignId });
      expect(await changes()).to.deep.equal([]);
      const reached = await database.addContact();
      await database.db('contactChanges').where({ projectId: database.projectId }).delete();
      await database.addEmail({ contactId: reached, campaignId, status: 'SENT' });
      expect(await changes()).to.deep.equal([{ contactId: reached, dependencies: [`campaign.${campaignId}`] }]);
    });
  });

  describe('queue_clicked_link', () => {
    const click = async (contactId: string, campaignId: string) => {
      const emailId = await database.addEmail({ contactId, campaignId });
      const { projectId } = database;
      await database.db('campaignLinkClicks').insert({ projectId, campaignId, linkId: newId(), emailId });
    };

    it('queues the contact of a clicked link, where a segment depends on links of the email', async () => {
      const campaignId = await database.addCampaign();
      const contactId = await addQuietContact('links', `campaign.${campaignId}`);
      await click(contactId, campaignId);
      expect(await changes()).to.deep.equal([{ contactId, dependencies: [`campaign.${campaignId}`] }]);
    });

    it('queues nothing while no segment depends on links', async () => {
      const campaignId = await database.addCampaign();
      await click(await addQuietContact(`campaign.${campaignId}`), campaignId);
      expect(await changes()).to.deep.equal([]);
    });
  });
});
