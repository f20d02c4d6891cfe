import { expect } from 'chai';
import { noCampaignCounts } from '../../../db/models/campaign-counts.ts';
import { autoPauseReason } from '../../../services/campaigns/auto-pause.ts';
import { secondsLeft } from '../../../services/campaigns/rates.ts';
import { changeSending } from '../../../services/campaigns/save.ts';
import { pauseCampaign, resumeCampaign } from '../../../services/campaigns/steer.ts';
import { showCampaign } from '../../../services/campaigns/view.ts';
import {
  addContacts,
  type CampaignWorker,
  campaignWorker,
  limits,
  standing,
  startCampaign,
} from '../../support/campaigns.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { campaignRow } from '../../support/rows/campaigns.ts';
import { bounceSentMails, outgoingMails } from '../../support/rows/mails.ts';
import { setDomains } from '../../support/rows/projects.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

describe('limits on a running campaign', () => {
  let database: ConnectedDatabase;
  let smtp: SmtpStandIn;
  let worker: CampaignWorker;
  let project: TestProject;

  before(async () => {
    [database, smtp] = await Promise.all([connectTestDatabase(), startSmtp()]);
    worker = campaignWorker(database, smtp.url);
  });
  after(async () => {
    await worker?.close();
    await smtp?.close();
    await database?.close();
  });
  beforeEach(async () => {
    project = await makeProject(database.db);
    smtp.behave();
    smtp.mails.length = 0;
  });

  const stored = (id: string) => campaignRow(database.db, id);

  describe('the auto-pause', () => {
    const forgiven = { baselineSent: 0, baselineRefused: 0, baselineBounced: 0, baselineComplained: 0 };
    const reason = (counts: object, before = forgiven) =>
      autoPauseReason(before, { ...noCampaignCounts(), ...counts }, limits);

    it('triggers when bounces or complaints exceed the limit, once 200 mails are sent', () => {
      expect(reason({ sent: 199, hardBounced: 100 })).to.equal(undefined);
      expect(reason({ sent: 200, hardBounced: 20 })).to.equal(undefined);
      expect(reason({ sent: 200, hardBounced: 21 })).to.equal('21 of 200 emails bounced (10.5 %; the limit is 10 %)');
      expect(reason({ sent: 200, complained: 1 })).to.equal(undefined);
      expect(reason({ sent: 200, complained: 2 })).to.contain('2 of 200 emails drew complaints');
    });

    it('counts refused recipients as bounces of sent plus refused mail, and complaints of sent mail', () => {
      expect(reason({ sent: 179, refused: 20, hardBounced: 20 })).to.equal(undefined);
      expect(reason({ sent: 0, refused: 200, hardBounced: 200 })).to.contain('200 of 200 emails bounced');
      expect(reason({ sent: 200, refused: 20, hardBounced: 22 })).to.equal(undefined);
      expect(reason({ sent: 199, refused: 20, complained: 5 })).to.equal(undefined);
    });

    it('compares with the baseline of the last resume', () => {
      const before = { baselineSent: 300, baselineRefused: 10, baselineBounced: 60, baselineComplained: 5 };
      expect(reason({ sent: 300, refused: 10, hardBounced: 60, complained: 5 }, before)).to.equal(undefined);
      expect(reason({ sent: 499, refused: 10, hardBounced: 160, complained: 5 }, before)).to.equal(undefined);
      expect(reason({ sent: 490, refused: 20, hardBounced: 81, complained: 5 }, before)).to.contain(
        '21 of 200 emails bounced',
      );
    });

    it('pauses a running campaign with the reason, and a resume sends the rest', async () => {
      await addContacts(database.db, project, 300);
      smtp.holdAfter(220);
      const { id } = await startCampaign(database.db, project);
      await worker.advance(id);
      const stop = new AbortController();
      const sending = worker.send({ stop: stop.signal });
      await smtp.received(220);
      stop.abort();
      smtp.behave();
      await sending;
      const { sent } = await standing(database.db, project, id);
      expect(sent).to.be.within(220, 299);
      await bounceSentMails(database.db, id, 40);
      expect(await worker.run(id)).to.include({ kind: 'wait' });
      expect(await stored(id)).to.include({ status: 'SENDING', paused: true, pausedBy: 'AUTO_PAUSE' });
      const { campaign } = await showCampaign(database.db, project.id, id);
      expect(campaign.pauseReason).to.equal(
        `40 of ${sent} emails bounced (${Number(((40 / sent) * 100).toFixed(2))} %; the limit is 10 %)`,
      );
      expect(smtp.mails).to.have.lengthOf(sent);
      await resumeCampaign(database.db, project.access, id);
      expect(await worker.run(id)).to.include({ kind: 'end' });
      expect(await standing(database.db, project, id)).to.include({ sent: 300, bounced: 40, pending: 0 });
      expect(smtp.mails).to.have.lengthOf(300);
    });
  });

  describe('blocked sending', () => {
    it("pauses a campaign whose domain is no longer verified and resumes it later, but never ends a user's pause", async () => {
      await addContacts(database.db, project, 3);
      const { id } = await startCampaign(database.db, project);
      const setDomain = (status: string) => setDomains(database.db, { projectId: project.id }, { status });
      await setDomain('PENDING');
      expect(await worker.run(id)).to.include({ kind: 'wait' });
      expect(await stored(id)).to.include({
        paused: true,
        pausedBy: 'BLOCKED',
        pauseReason: 'domain not verified',
      });
      expect(smtp.mails).to.deep.equal([]);
      await pauseCampaign(database.db, project.access, id);
      await setDomain('VERIFIED');
      expect(await worker.run(id)).to.include({ kind: 'wait' });
      await setDomain('PENDING');
      await resumeCampaign(database.db, project.access, id);
      expect(await worker.run(id)).to.include({ kind: 'wait' });
      expect(await stored(id)).to.include({ pausedBy: 'BLOCKED' });
      await setDomain('VERIFIED');
      expect(await worker.run(id)).to.include({ kind: 'end' });
      expect(await standing(database.db, project, id)).to.include({ sent: 3 });
    });
  });

  describe('the throttle', () => {
    it('limits the mails of a minute, and ends at once when it is removed', async () => {
      await addContacts(database.db, project, 4);
      const { id } = await startCampaign(database.db, project, { ratePerMinute: 1 });
      await worker.advance(id);
      await worker.send({ stop: new AbortController().signal });
      expect(smtp.mails).to.have.lengthOf(1);
      // A throttled campaign is not leased before its time.
      expect(await outgoingMails(database.db)).to.deep.equal([]);
      await worker.send({ stop: new AbortController().signal });
      expect(smtp.mails).to.have.lengthOf(1);
      const { nextAt } = await database.db('campaignRates').where({ campaignId: id }).first();
      expect(nextAt).to.be.greaterThan(new Date(Date.now() + 30_000));
      // Without a measured rate, which depends on how long the first mail took.
      await database.db('campaignRates').where({ campaignId: id }).update({ perSecond: null });
      expect((await showCampaign(database.db, project.id, id)).secondsLeft).to.equal(180);
      await changeSending(database.db, project.access, id, { ratePerMinute: null });
      expect(await worker.run(id)).to.include({ kind: 'end' });
      expect(smtp.mails).to.have.lengthOf(4);
    });

    it('allows no further mail after a pause and a resume, or when it is set to the same rate', async () => {
      await addContacts(database.db, project, 4);
      const { id } = await startCampaign(database.db, project, { ratePerMinute: 1 });
      await worker.advance(id);
      await worker.send({ stop: new AbortController().signal });
      await pauseCampaign(database.db, project.access, id);
      await resumeCampaign(database.db, project.access, id);
      await changeSending(database.db, project.access, id, { ratePerMinute: 1 });
      await worker.send({ stop: new AbortController().signal });
      expect(smtp.mails).to.have.lengthOf(1);
      expect(await standing(database.db, project, id)).to.include({ sent: 1, pending: 3 });
    });

    it('can be changed while mail is being sent', async () => {
      await addContacts(database.db, project, 600);
      smtp.holdAfter(20);
      const { id } = await startCampaign(database.db, project);
      await worker.advance(id);
      const stop = new AbortController();
      const sending = worker.send({ stop: stop.signal });
      await smtp.received(20);
      await changeSending(database.db, project.access, id, { ratePerMinute: 1 });
      worker.sender.wake('campaigns');
      smtp.behave();
      await sending;
      expect(smtp.mails.length).to.be.lessThan(600);
      expect(await worker.advance(id)).to.include({ kind: 'wait' });
    });
  });

  it('shares the connections between campaigns of different projects', async () => {
    const other = await makeProject(database.db);
    const ids: string[] = [];
    // The first is larger than what is leased ahead, so that the second finds room before the first is finished.
    for (const [owner, prefix, count] of [
      [project, 'a', 500],
      [other, 'b', 200],
    ] as const) {
      await addContacts(database.db, owner, count, { prefix });
      ids.push((await startCampaign(database.db, owner)).id);
    }
    const [first = '', second = ''] = ids;
    await worker.advance(first);
    smtp.holdAfter(10);
    const running = worker.send();
    await smtp.received(10);
    await worker.advance(second);
    worker.sender.wake('campaigns');
    smtp.behave();
    // So many that the mails leased ahead are replaced by a hundred of the first, and then by a hundred of the second.
    smtp.holdAfter(220);
    // All that is leased ahead is ready to be sent, with mails of both.
    const leased = (campaignId: string) => outgoingMails(database.db, { campaignId, startedAt: null });
    await eventually(
      async () => {
        const [a, b] = await Promise.all([leased(first), leased(second)]);
        return Math.min(a.length, b.length) >= 50 && worker.sender.readyCount === a.length + b.length;
      },
      { what: 'mails of both campaigns' },
    );
    const before = smtp.mails.length;
    smtp.behave();
    await running;
    const share = smtp.mails.slice(before, before + 100).filter(({ to }) => to[0]?.startsWith('b')).length;
    expect(share).to.be.within(25, 75);
    expect(smtp.mails).to.have.lengthOf(700);
  });

  it('estimates the remaining time from the send rate, and at least from the throttle', () => {
    const counts = { ...noCampaignCounts(), pending: 600 };
    const sending = { status: 'SENDING' as const, paused: false, ratePerMinute: null, localTime: null };
    expect(secondsLeft(sending, counts, { perSecond: 20 })).to.equal(30);
    expect(secondsLeft({ ...sending, ratePerMinute: 60 }, counts, { perSecond: 20 })).to.equal(600);
    expect(secondsLeft(sending, counts, undefined)).to.equal(null);
    expect(secondsLeft({ ...sending, paused: true }, counts, { perSecond: 20 })).to.equal(null);
    expect(secondsLeft({ ...sending, localTime: '2026-12-01T09:00' }, counts, { perSecond: 20 })).to.equal(null);
    expect(secondsLeft({ ...sending, status: 'SENT' }, counts, { perSecond: 20 })).to.equal(null);
  });
});
