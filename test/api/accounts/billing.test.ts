import { expect } from 'chai';
import { pino } from 'pino';
import { newId } from '../../../platform/ids.ts';
import { createStripe } from '../../../platform/integrations/stripe.ts';
import { readSettings } from '../../../platform/settings.ts';
import { regenerateKeys } from '../../../services/access/keys.ts';
import { requireCampaignBelowLimit } from '../../../services/billing/limits.ts';
import { maintainBilling, watchBillingLimits } from '../../../services/billing/maintenance.ts';
import { recordUsage } from '../../../services/billing/usage.ts';
import { publishResults } from '../../../services/emails/publish-results.ts';
import { deleteProject } from '../../../services/removal/project.ts';
import { SYSTEM_PROJECT_ID } from '../../../services/system/project.ts';
import { person, systemMails } from '../../support/accounts.ts';
import { type ApiProject, client, startTestApi, type TestApi } from '../../support/api.ts';
import { addUnpublishedResults } from '../../support/ledger.ts';
import { readCampaign, readMail, readMails } from '../../support/reading.ts';
import { billingDeltas, billingOf, releaseReports, setBilling, unsentReports } from '../../support/rows/billing.ts';
import { setCampaigns } from '../../support/rows/campaigns.ts';
import { addMailRows, addSentMails, markFailed, setMails } from '../../support/rows/mails.ts';
import { sendingBlockReason, storedProject } from '../../support/rows/projects.ts';
import { type StripeStandIn, startStripe, stripeSignature } from '../../support/stripe.ts';
import { eventually } from '../../support/waiting.ts';

const WEBHOOK_SECRET = 'whsec_ours';
const log = pino({ level: 'silent' });

describe('billing', () => {
  let api: TestApi;
  let stripe: StripeStandIn;
  let project: ApiProject;
  let path: string;
  let env: Record<string, string>;

  before(async () => {
    stripe = await startStripe();
    env = {
      STRIPE_SECRET_KEY: 'sk_test_ours',
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      STRIPE_API_BASE: stripe.url,
      STRIPE_PRICE_ID: 'price_1',
    };
    api = await startTestApi({ env });
  });
  after(async () => {
    await api.stop();
    await stripe.close();
  });
  beforeEach(async () => {
    project = await api.project();
    path = `/users/@me/projects/${project.id}`;
    stripe.fault = undefined;
    stripe.calls.length = 0;
    stripe.meterEvents.length = 0;
  });

  const tend = async () => {
    const settings = readSettings(env);
    return maintainBilling({ db: api.db, stripe: await createStripe(settings.stripe), settings, log });
  };
  const send = (count = 1, server = project.server) =>
    server.post('/v1/send', {
      to: Array.from({ length: count }, (_, n) => `r${n}@example.com`),
      from: `x@${project.senderDomain}`,
      subject: 's',
      body: 'b',
    });
  const sent = async (count: number, sourceType = 'TRANSACTIONAL', projectId = project.id) => {
    await recordUsage(api.db, await addSentMails(api.db, projectId, count, sourceType));
  };
  const used = async () => (await project.owner.get(`${path}/billing-consumption`)).body;
  const account = () => billingOf(api.db, project.id);
  const notify = (type: string, object: object, created = Math.floor(Date.now() / 1000)) => {
    const body = JSON.stringify({ id: 'evt_1', object: 'event', type, created, data: { object } });
    return api.post('/webhooks/incoming/stripe', body, { 'stripe-signature': stripeSignature(body, WEBHOOK_SECRET) });
  };

  describe('POST checkout and billing-portal', () => {
    it('returns pages of Stripe and creates one customer for repeated calls', async () => {
      expect(await project.owner.post(`${path}/billing-portal`)).to.be.envelope(409, 'CONFLICT');
      const answers = await Promise.all([1, 2, 3].map(() => project.owner.post(`${path}/checkout`)));
      for (const answer of answers) expect(answer).to.have.status(200);
      const { customerId } = await account();
      expect(answers[0]?.body).to.deep.equal({ url: `https://checkout.test/${customerId}` });
      const portal = await project.owner.post(`${path}/billing-portal`);
      expect(portal.body).to.deep.equal({ url: `https://portal.test/${customerId}` });
      const [call] = stripe.callsTo('/v1/checkout/sessions');
      expect(call?.form).to.include({
        mode: 'subscription',
        client_reference_id: project.id,
        'line_items[0][price]': 'price_1',
      });
    });

    it('rejects a project with a subscription with 409', async () => {
      await project.owner.post(`${path}/checkout`);
      await setBilling(api.db, { projectId: project.id }, { subscriptionStatus: 'active' });
      expect(await project.owner.post(`${path}/checkout`)).to.be.envelope(409, 'CONFLICT');
    });

    it('answers 502 EXTERNAL_SERVICE_ERROR when Stripe is down and stores nothing', async () => {
      stripe.fault = 'down';
      expect(await project.owner.post(`${path}/checkout`)).to.be.envelope(502, 'EXTERNAL_SERVICE_ERROR');
      expect(await account()).to.equal(undefined);
    });

    it('answers 502 for the portal and the invoices of a customer when Stripe is down', async () => {
      expect(await project.owner.post(`${path}/checkout`)).to.have.status(200);
      stripe.fault = 'down';
      expect(await project.owner.post(`${path}/billing-portal`)).to.be.envelope(502, 'EXTERNAL_SERVICE_ERROR');
      expect(await project.owner.get(`${path}/billing-invoices`)).to.be.envelope(502, 'EXTERNAL_SERVICE_ERROR');
    });
  });

  it('GET billing-invoices lists invoices, and none without an account', async () => {
    expect((await project.owner.get(`${path}/billing-invoices`)).body).to.deep.equal([]);
    await project.owner.post(`${path}/checkout`);
    const { body } = await project.owner.get(`${path}/billing-invoices`);
    expect(body).to.have.length(1);
    expect(body[0]).to.include({ id: 'in_1', number: 'A-1', status: 'paid', amountDue: 1200, currency: 'eur' });
  });

  describe('PUT billing-limits', () => {
    const put = (limits: object) => project.owner.put(`${path}/billing-limits`, limits);

    it('sets a billing limit per category, and none for omitted ones', async () => {
      expect((await project.owner.get(`${path}/billing-limits`)).body).to.deep.equal({
        transactional: null,
        campaigns: null,
        workflows: null,
      });
      const answer = await put({ transactional: 10, campaigns: null });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({ transactional: 10, campaigns: null, workflows: null });
      expect((await put({ workflows: 5 })).body).to.deep.equal({ transactional: null, campaigns: null, workflows: 5 });
    });

    it('rejects billing limits that are not numbers of mails with 422', async () => {
      for (const transactional of [-1, 1.5, '10', 3_000_000_000, {}])
        expect(await put({ transactional }), String(transactional)).to.have.status(422);
    });

    it('accepts transactional mail up to the billing limit and rejects the next with 402', async () => {
      await put({ transactional: 3 });
      expect(await send(2)).to.have.status(200);
      const over = await send(2);
      expect(over).to.be.envelope(402, 'BILLING_LIMIT_EXCEEDED');
      expect(await send(1)).to.have.status(200);
      expect(await send(1)).to.be.envelope(402, 'BILLING_LIMIT_EXCEEDED');
      expect((await used()).transactional).to.deep.equal({ used: 3, limit: 3, remaining: 0 });
      await put({ transactional: 4 });
      expect(await send(1)).to.have.status(200);
      await put({});
      expect(await send(5)).to.have.status(200);
    });

    it('accepts exactly the billing limit of concurrent requests', async () => {
      await put({ transactional: 5 });
      const answers = await Promise.all(Array.from({ length: 12 }, () => send(1)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(5);
      expect(answers.filter(({ status }) => status === 402)).to.have.length(7);
      expect(await readMails(project)).to.have.length(5);
    });

    it('does not count rejected mail', async () => {
      await put({ transactional: 1 });
      const mail = { to: 'a@b.co', from: 'x@elsewhere.example', subject: 's', body: 'b' };
      expect(await project.server.post('/v1/send', mail)).to.have.status(403);
      expect(await send(1)).to.have.status(200);
    });

    it('counts mail that was sent or pending before the billing limit was set', async () => {
      await sent(3);
      await send(2);
      await put({ transactional: 6 });
      expect((await used()).transactional).to.include({ used: 5, remaining: 1 });
      // A key that no process has cached from before the billing limit: the invalidation may be milliseconds late.
      const { secretKey } = await regenerateKeys(api.db, project.id);
      const server = client(api.url, { authorization: `Bearer ${secretKey}` });
      expect(await send(1, server)).to.have.status(200);
      expect(await send(1, server)).to.have.status(402);
    });

    const fail = (where: object) => markFailed(api.db, where);
    const campaign = async () => {
      const content = { name: 'c', subject: 's', body: 'b', from: `x@${project.senderDomain}`, audienceType: 'ALL' };
      return (await project.server.post('/campaigns', content)).body.data.id as string;
    };

    it('counts a resend, and rejects it above the billing limit with 402 without changing the mail', async () => {
      await put({ transactional: 2 });
      const { email: id } = (await send(1)).body.data.emails[0];
      await fail({ id });
      expect(await project.server.post(`/emails/${id}/resend`)).to.have.status(200);
      expect((await used()).transactional).to.include({ used: 2, remaining: 0 });
      await fail({ id });
      expect(await project.server.post(`/emails/${id}/resend`)).to.be.envelope(402, 'BILLING_LIMIT_EXCEEDED');
      expect(await readMail(project, id)).to.include({ status: 'FAILED' });
    });

    it('rejects the resend of a campaign mail at the billing limit with 402', async () => {
      const campaignId = await campaign();
      const id = newId();
      await setCampaigns(api.db, { id: campaignId }, { status: 'SENT' });
      const mail = { id, projectId: project.id, contactId: newId(), campaignId, sourceType: 'CAMPAIGN' };
      await addMailRows(api.db, { ...mail, status: 'FAILED' });
      await sent(2, 'CAMPAIGN');
      await put({ campaigns: 2 });
      expect(await project.server.post(`/emails/${id}/resend`)).to.be.envelope(402, 'BILLING_LIMIT_EXCEEDED');
      expect(await readMail(project, id)).to.include({ status: 'FAILED' });
      expect(await readCampaign(project, campaignId)).to.include({ status: 'SENT' });
      await put({ campaigns: 3 });
      expect(await project.server.post(`/emails/${id}/resend`)).to.have.status(200);
    });

    it('rejects the resend of unknown outcomes at the billing limit with 402', async () => {
      const campaignId = await campaign();
      const id = newId();
      await setCampaigns(api.db, { id: campaignId }, { status: 'SENT' });
      const mail = { id, projectId: project.id, contactId: newId(), campaignId, sourceType: 'CAMPAIGN' };
      await addMailRows(api.db, { ...mail, status: 'UNKNOWN' });
      await sent(2, 'CAMPAIGN');
      await put({ campaigns: 2 });
      const resolve = () => project.server.post(`/campaigns/${campaignId}/resolve`, { action: 'resend' });
      expect(await resolve()).to.be.envelope(402, 'BILLING_LIMIT_EXCEEDED');
      expect(await readMail(project, id)).to.include({ status: 'UNKNOWN' });
    });

    it('rejects the resend to failed recipients of a campaign above the cap with 402', async () => {
      const campaignId = await campaign();
      const { id: contactId } = (await project.server.post('/contacts', { email: 'ann@example.com' })).body;
      await setCampaigns(api.db, { id: campaignId }, { status: 'SENT' });
      const mail = { id: newId(), projectId: project.id, contactId, campaignId, sourceType: 'CAMPAIGN' };
      await addMailRows(api.db, { ...mail, status: 'FAILED' });
      await sent(2, 'CAMPAIGN');
      await put({ campaigns: 2 });
      const resend = () => project.server.post(`/campaigns/${campaignId}/recipients/resend`, { status: 'FAILED' });
      expect(await resend()).to.be.envelope(402, 'BILLING_LIMIT_EXCEEDED');
      await put({ campaigns: 3 });
      expect(await resend()).to.have.status(202);
    });

    it('counts test mails of templates', async () => {
      await put({ transactional: 1 });
      const from = `x@${project.senderDomain}`;
      const content = { name: 't', subject: 's', body: 'b', type: 'TRANSACTIONAL', from };
      const { id } = (await project.server.post('/templates', content)).body;
      const test = () => project.server.post(`/templates/${id}/test`, { email: 'a@b.co' });
      expect(await test()).to.have.status(200);
      expect(await test()).to.be.envelope(402, 'BILLING_LIMIT_EXCEEDED');
    });

    it('counts test mails of campaigns', async () => {
      await put({ transactional: 1 });
      const id = await campaign();
      const test = () => project.server.post(`/campaigns/${id}/test`, { email: 'a@b.co' });
      expect(await test()).to.have.status(200);
      expect(await test()).to.be.envelope(402, 'BILLING_LIMIT_EXCEEDED');
    });

    it('starts from zero in a new period', async () => {
      await put({ transactional: 1 });
      expect(await send(1)).to.have.status(200);
      expect(await send(1)).to.have.status(402);
      await setBilling(api.db, { projectId: project.id }, { reservedPeriod: new Date(0) });
      expect(await send(1)).to.have.status(200);
    });

    it('blocks workflow and campaign mail at the billing limit and releases it when the billing limit is raised', async () => {
      await sent(2, 'WORKFLOW');
      await sent(1, 'CAMPAIGN');
      await put({ workflows: 2, campaigns: 2 });
      const blockReason = (source: string) => sendingBlockReason(api.db, project.id, source);
      expect(await blockReason('WORKFLOW')).to.equal('billing cap reached');
      expect(await blockReason('CAMPAIGN')).to.equal(null);
      expect(await blockReason('TRANSACTIONAL')).to.equal(null);
      expect(await send(1)).to.have.status(200);
      await sent(1, 'CAMPAIGN');
      await tend();
      expect(await blockReason('CAMPAIGN')).to.equal('billing cap reached');
      await put({ workflows: 3, campaigns: 2 });
      expect(await blockReason('WORKFLOW')).to.equal(null);
    });

    it('rejects a campaign with more recipients than the billing limit allows with 402', async () => {
      for (const email of ['a@b.co', 'c@d.co', 'e@f.co']) await project.server.post('/contacts', { email });
      const { body } = await project.server.post('/campaigns', {
        name: 'c',
        subject: 's',
        body: 'b',
        from: `x@${project.senderDomain}`,
        audienceType: 'ALL',
      });
      await put({ campaigns: 2 });
      const answer = await project.server.post(`/campaigns/${body.data.id}/send`);
      expect(answer).to.be.envelope(402, 'BILLING_LIMIT_EXCEEDED');
      await put({ campaigns: 3 });
      expect(await project.server.post(`/campaigns/${body.data.id}/send`)).to.have.status(200);
    });

    it('rejects a campaign whose audience has outgrown the billing limit since it was saved with 402', async () => {
      await project.server.post('/contacts', { email: 'a@b.co' });
      const id = await campaign();
      for (const email of ['c@d.co', 'e@f.co']) await project.server.post('/contacts', { email });
      await put({ campaigns: 2 });
      expect(await project.server.post(`/campaigns/${id}/send`)).to.be.envelope(402, 'BILLING_LIMIT_EXCEEDED');
      expect(await readCampaign(project, id)).to.include({ status: 'DRAFT' });
      await put({ campaigns: 3 });
      expect(await project.server.post(`/campaigns/${id}/send`)).to.have.status(200);
    });

    it('mails the managers at 80 % and at the billing limit, once each per period', async () => {
      const admin = await person(api, { project: project.id, role: 'ADMIN' });
      const member = await person(api, { project: project.id, role: 'MEMBER' });
      const subjects = async (email: string) => (await systemMails(api.db, email)).map(({ subject }) => subject);
      await put({ transactional: 10 });
      await send(7);
      await watchBillingLimits(api.db, readSettings({}));
      expect(await subjects(admin.email)).to.have.length(0);
      await send(1);
      for (let n = 0; n < 2; n++) await watchBillingLimits(api.db, readSettings({}));
      expect(await subjects(admin.email)).to.have.length(1);
      expect((await subjects(admin.email))[0]).to.match(/80 %/);
      await send(2);
      for (let n = 0; n < 2; n++) await watchBillingLimits(api.db, readSettings({}));
      expect(await subjects(admin.email)).to.have.length(2);
      expect(await subjects(member.email)).to.have.length(0);
    });
  });

  describe('usage', () => {
    it('counts each sent mail once and no system mail', async () => {
      await send(2);
      await setMails(api.db, { projectId: project.id }, { status: 'SENT', sentAt: new Date() });
      await addUnpublishedResults(api.db);
      while ((await publishResults(api.db, 1, { billing: true })) > 0);
      await sent(1, 'TRANSACTIONAL', SYSTEM_PROJECT_ID);
      expect(await used()).to.deep.include({ transactional: { used: 2, limit: null, remaining: null }, total: 2 });
      expect(await billingDeltas(api.db, SYSTEM_PROJECT_ID)).to.have.length(0);
    });

    it('reports all usage once to the meter of the price', async () => {
      await project.owner.post(`${path}/checkout`);
      const { customerId } = await account();
      await sent(3);
      await sent(2, 'CAMPAIGN');
      await tend();
      await tend();
      const events = stripe.meterEvents.filter(({ customer }) => customer === customerId);
      expect(events.map(({ event_name }) => event_name)).to.deep.equal(['everpost_mails']);
      expect(events[0]?.value).to.equal(5);
      expect(await used()).to.deep.include({ total: 5 });
    });

    it('reports usage once when a response is lost and when several workers report', async () => {
      await project.owner.post(`${path}/checkout`);
      const { customerId } = await account();
      await sent(4);
      stripe.fault = 'lost answer';
      await tend();
      expect(await unsentReports(api.db, customerId)).to.have.length(1);
      stripe.fault = undefined;
      await releaseReports(api.db);
      await Promise.all([tend(), tend(), tend()]);
      expect(await unsentReports(api.db, customerId)).to.have.length(0);
      const events = stripe.meterEvents.filter(({ customer }) => customer === customerId);
      expect(events.map(({ value }) => value)).to.deep.equal([4]);
    });

    it('reports usage of a deleted project, then cancels its subscription and deletes its rows', async () => {
      await project.owner.post(`${path}/checkout`);
      const { customerId } = await account();
      await setBilling(api.db, { customerId }, { subscriptionId: 'sub_gone' });
      await sent(2);
      await deleteProject(api.db, project.id);
      await tend();
      expect(stripe.meterEvents.filter(({ customer }) => customer === customerId)).to.have.length(1);
      expect(stripe.callsTo('/v1/subscriptions/sub_gone').map(({ method }) => method)).to.deep.equal(['DELETE']);
      expect(await account()).to.equal(undefined);
    });
  });

  describe('POST /webhooks/incoming/stripe', () => {
    const subscription = (customer: string, status: string, start = Date.now() / 1000 - 1000) => ({
      id: 'sub_1',
      object: 'subscription',
      customer,
      status,
      items: { data: [{ current_period_start: Math.floor(start), current_period_end: Math.floor(start) + 2_600_000 }] },
    });

    it('applies subscription events in any order and repeatedly', async () => {
      await project.owner.post(`${path}/checkout`);
      const { customerId } = await account();
      const now = Math.floor(Date.now() / 1000);
      const done = { client_reference_id: project.id, customer: customerId, subscription: 'sub_1' };
      expect(await notify('checkout.session.completed', done)).to.have.status(200);
      for (let n = 0; n < 2; n++)
        expect(await notify('customer.subscription.updated', subscription(customerId, 'active'), now)).to.have.status(
          200,
        );
      await notify('customer.subscription.created', subscription(customerId, 'incomplete'), now - 60);
      expect(await account()).to.include({ subscriptionId: 'sub_1', subscriptionStatus: 'active' });
      const { periodStart, periodEnd } = await used();
      expect(new Date(periodEnd).getTime() - new Date(periodStart).getTime()).to.equal(2_600_000_000);
      await notify('customer.subscription.deleted', subscription(customerId, 'canceled'), now + 1);
      expect(await account()).to.include({ subscriptionStatus: 'canceled' });
    });

    it('rejects a wrong, old, missing or mismatched signature with 400', async () => {
      await project.owner.post(`${path}/checkout`);
      const { customerId } = await account();
      const object = subscription(customerId, 'active');
      const body = JSON.stringify({
        id: 'evt_2',
        object: 'event',
        type: 'customer.subscription.updated',
        created: 1,
        data: { object },
      });
      const old = Math.floor(Date.now() / 1000) - 3600;
      for (const signature of [
        stripeSignature(body, 'whsec_other'),
        stripeSignature(body, WEBHOOK_SECRET, old),
        stripeSignature(`${body} `, WEBHOOK_SECRET),
        'garbage',
        '',
      ]) {
        const answer = await api.post('/webhooks/incoming/stripe', body, { 'stripe-signature': signature });
        expect(answer, signature).to.be.envelope(400, 'BAD_REQUEST');
      }
      expect(await api.post('/webhooks/incoming/stripe', body)).to.be.envelope(400, 'BAD_REQUEST');
      expect((await account()).subscriptionStatus).to.equal(null);
    });

    it('accepts unknown events and events about unknown customers', async () => {
      expect(await notify('charge.refunded', { id: 'ch_1' })).to.have.status(200);
      expect(await notify('customer.subscription.updated', subscription('cus_unknown', 'active'))).to.have.status(200);
      const stranger = { client_reference_id: "'; drop table users", customer: 'cus_x', subscription: 'sub_x' };
      expect(await notify('checkout.session.completed', stranger)).to.have.status(200);
    });
  });

  it('answers 404 on every route while billing is off', async () => {
    const free = await startTestApi({ database: { db: api.db, url: api.databaseUrl, close: async () => {} } });
    const { cookie } = project;
    for (const [method, end] of [
      ['POST', 'checkout'],
      ['POST', 'billing-portal'],
      ['GET', 'billing-limits'],
      ['PUT', 'billing-limits'],
      ['GET', 'billing-consumption'],
      ['GET', 'billing-invoices'],
    ] as const) {
      const answer = await free.request(method, `${path}/${end}`, method === 'PUT' ? {} : undefined, { cookie });
      expect(answer, end).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect(answer.body.error.message).to.match(/turned off/);
    }
    expect(await free.post('/webhooks/incoming/stripe', '{}')).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    await free.stop();
  });

  it('lifts all billing limits when billing is turned off', async () => {
    await project.owner.put(`${path}/billing-limits`, { transactional: 0, campaigns: 0, workflows: 0 });
    expect(await send(1)).to.have.status(402);
    await maintainBilling({ db: api.db, stripe: undefined, settings: readSettings({}), log });
    const row = await storedProject(api.db, project.id);
    expect(row).to.deep.include({ billingCapped: false, cappedSources: [] });
    expect(await send(1)).to.have.status(200);
    await requireCampaignBelowLimit(api.db, project.id, 5);
    await tend();
    await eventually(async () => (await send(1)).status === 402, { what: 'the billing limit to be in force again' });
    const refused = await requireCampaignBelowLimit(api.db, project.id, 5).catch((error) => error);
    expect(refused).to.include({ status: 402 });
  });
});
