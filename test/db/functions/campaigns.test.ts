import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';

describe('database functions of campaigns', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const changeProject = (change: object) => database.db('projects').where({ id: database.projectId }).update(change);

  describe('campaign_block_reason', () => {
    const reason = (id: string) => database.value('select campaign_block_reason(?)', [id]);

    it('is null for a campaign from a verified domain, and null for an unknown one', async () => {
      expect(await reason(await database.addCampaign())).to.equal(null);
      expect(await reason(newId())).to.equal(null);
    });

    it('prefers the stored domain over that of the address', async () => {
      const other = { fromEmail: 'news@other.example' };
      expect(await reason(await database.addCampaign(other))).to.equal('domain not verified');
      expect(await reason(await database.addCampaign({ ...other, fromDomain: database.senderDomain }))).to.equal(null);
    });

    it('applies the billing limit of campaigns', async () => {
      const id = await database.addCampaign();
      await changeProject({ cappedSources: ['WORKFLOW'] });
      expect(await reason(id)).to.equal(null);
      await changeProject({ cappedSources: ['CAMPAIGN'] });
      expect(await reason(id)).to.equal('billing cap reached');
    });
  });

  describe('template_links', () => {
    const linksOf = async (body: string) =>
      (await database.db.raw('select * from template_links(?) order by href', [body])).rows;

    it('finds each address once, as the body has it', async () => {
      const body = `<a href="https://a.example/?x=1&amp;y=2">a</a><a href='https://a.example/?x=1&y=2'>b</a>`;
      expect(await linksOf(body)).to.deep.equal([{ href: 'https://a.example/?x=1&y=2', pattern: null }]);
    });

    it('gives a pattern of the addresses that variables make', async () => {
      const [link] = await linksOf('<a href="https://a.example/shop?c={{ id }}">a</a>');
      expect('https://a.example/shop?c=7').to.match(new RegExp(link.pattern));
      expect('https://aXexample/shop?c=7').to.not.match(new RegExp(link.pattern));
    });

    it('ignores what is no web address', async () => {
      expect(await linksOf('<a href="mailto:a@b.co">a</a><a href="#top">b</a>')).to.deep.equal([]);
    });
  });

  describe('campaign_lock', () => {
    const lock = (id: string) => database.value('select campaign_lock(?)', [id]);

    it('returns the same key for the same campaign and another for another one', async () => {
      const one = newId();
      const other = newId();
      expect(await lock(one)).to.equal(await lock(one));
      expect(await lock(one)).to.not.equal(await lock(other));
    });
  });
});
