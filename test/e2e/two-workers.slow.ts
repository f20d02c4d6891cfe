// Two workers send at the sum of their rates where the relay allows it: neither campaigns nor single mails bind one of them.
import { expect } from 'chai';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

/** The sink answers each mail after this time, so a connection sends five a second whatever the machine does. */
const ANSWER_MS = 200;
const CONNECTIONS = 4;
/** More than two senders lease ahead (services/sending/queue.ts): with less, one of them could lease most of it. */
const MAILS = 640;

describe('two workers on a throttled relay', () => {
  let temporal: OwnNamespace;
  let stack: Stack;

  before(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal, { SMTP_MAX_CONNECTIONS: String(CONNECTIONS), RATE_LIMIT_PER_MINUTE: '0' });
    stack.smtp.misbehave({ at: 'accepted', do: { delayMs: ANSWER_MS } });
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  /** Mails a second between the first and the last tenth, without starting and ending. */
  async function rateOf(start: () => Promise<void>): Promise<number> {
    const before = stack.smtp.mails.length;
    await start();
    await stack.smtp.received(before + MAILS);
    const times = stack.smtp.mails.slice(before).map(({ receivedAt }) => receivedAt.getTime());
    const first = times[MAILS / 10] ?? 0;
    const last = times[MAILS - MAILS / 10 - 1] ?? 0;
    return ((MAILS * 0.8) / (last - first)) * 1_000;
  }

  async function campaign(): Promise<void> {
    const { server, project } = stack;
    const draft = { name: 'News', subject: 'News', body: '<p>News</p>', audienceType: 'ALL' };
    const { body } = await server.post('/campaigns', { ...draft, from: `shop@${project.senderDomain}` });
    expect((await server.post(`/campaigns/${body.data.id}/send`, {})).status).to.be.oneOf([200, 202]);
  }

  let addresses = 0;
  /** Few requests, so that mail waits for the workers and not for the API. */
  async function singleMails(): Promise<void> {
    const { server, project } = stack;
    const mail = { from: `shop@${project.senderDomain}`, subject: 'Hello', body: '<p>Hello</p>' };
    const batch = () => Array.from({ length: 40 }, () => `single${addresses++}@example.com`);
    for (let n = 0; n < MAILS; n += 40)
      expect(await server.post('/v1/send', { ...mail, to: batch() })).to.have.status(200);
  }

  it('send campaigns and single mails at 1.6 times the rate of one, or more', async () => {
    const { db } = stack.database;
    const rows = Array.from({ length: MAILS }, (_, n) => ({ email: `reader${n}@example.com`, subscribed: true }));
    for (const row of rows) expect((await stack.server.post('/contacts', row)).status).to.equal(201);
    const first = await stack.startWorker();
    const one = { campaign: await rateOf(campaign), single: await rateOf(singleMails) };
    // The contacts of single mails get no campaign: they are not subscribed.
    expect(await db('contacts').where({ subscribed: true })).to.have.lengthOf(MAILS);
    const second = await stack.startWorker();
    await eventually(async () => (await db('senders').where('leaseUntil', '>', db.fn.now())).length === 2, {
      what: 'a sender in each worker',
    });
    const two = { campaign: await rateOf(campaign), single: await rateOf(singleMails) };
    console.log(`      mails a second: one worker ${JSON.stringify(one)}, two ${JSON.stringify(two)}`);
    expect(two.campaign / one.campaign).to.be.at.least(1.6);
    expect(two.single / one.single).to.be.at.least(1.6);
    await Promise.all([first.stop(), second.stop()]);
  });
});
