import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { WebhookEndpoint } from '../../../db/models/webhook-endpoint.ts';
import { LOCAL_TARGET_HINT } from '../../../platform/http/outbound-http.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { claimOutboxMessages } from '../../../services/outbox/claim.ts';
import { resolveOutboxMessages } from '../../../services/outbox/resolve.ts';
import { deleteContacts } from '../../../services/removal/contact.ts';
import {
  findDelivery,
  listDeliveries,
  recoverDeliveries,
  replayDelivery,
  testEndpoint,
} from '../../../services/webhooks/deliveries.ts';
import { rotateEndpointSecret, updateEndpoint } from '../../../services/webhooks/endpoints.ts';
import { signalWebhookEndpoints } from '../../../services/webhooks/expand.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { type HttpReceiver, type ReceivedRequest, startHttpReceiver } from '../../support/http-receiver.ts';
import { userById } from '../../support/rows/accounts.ts';
import { storedContents } from '../../support/rows/mails.ts';
import { emptyOutbox, outboxMessagesTo } from '../../support/rows/outbox.ts';
import { blockedConnections } from '../../support/rows/tables.ts';
import {
  queuedWebhookRows,
  setDeliveries,
  setEndpoints,
  storedDeliveries,
  storedWebhookEvents,
} from '../../support/rows/webhooks.ts';
import { eventually } from '../../support/waiting.ts';
import { driveWebhooks, relayWebhooks, type WebhookDriver } from '../../support/webhooks.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

describe('deliveries of webhooks', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let receiver: HttpReceiver;
  let driver: WebhookDriver;

  before(async () => {
    [database, receiver] = await Promise.all([connectTestDatabase(), startHttpReceiver()]);
  });
  after(async () => {
    await receiver?.stop();
    await database?.close();
  });
  beforeEach(async () => {
    project = await makeProject(database.db);
    driver = driveWebhooks(database.db, [receiver.host]);
    receiver.requests.splice(0);
    receiver.answer({});
  });
  afterEach(() => driver.stop());

  const track = (event = 'bought', email = 'ann@example.com', data: object = {}) =>
    trackEvent(database.db, project.access, { email, event, data: data as never });
  const deliveries = async (endpointId: string) =>
    (await listDeliveries(database.db, project.id, endpointId, driver.settings.secretKeys, { limit: 100 })).data;
  const lastRequest = () => receiver.requests.at(-1) as ReceivedRequest;
  const row = async (id: string) => (await WebhookEndpoint.query(database.db).findById(id)) as WebhookEndpoint;
  /** Lets the clock of deliveries stand still ahead of the real one: how long a call takes does not count. */
  const stopClock = () => {
    driver.now = new Date(Date.now() + HOUR);
  };
  /** Moves the clock to the next attempt. */
  const toNextAttempt = async (endpointId: string) => {
    const [{ nextAttemptAt } = {}] = await deliveries(endpointId);
    driver.now = new Date((nextAttemptAt?.getTime() ?? 0) + 1);
  };

  it('posts a tracked event, signed, and logs the attempt', async () => {
    const endpoint = await driver.endpoint(project, { url: `${receiver.url}/hook`, headers: { 'X-Token': 'abc' } });
    const { eventId, contactId } = await track('bought', 'ann@example.com', { plan: 'pro' });
    receiver.answer({ status: 201, body: 'thanks' });
    await driver.deliver(endpoint.id);
    const request = receiver.requests.find(({ body }) => body.includes('event.bought'));
    expect(request).to.include({ method: 'POST', path: '/hook' });
    expect(request?.headers).to.include({
      'content-type': 'application/json',
      'user-agent': 'Everpost/0.1.0',
      'webhook-id': eventId,
      'x-token': 'abc',
    });
    const verified = new Webhook(endpoint.plainSecret).verify(request?.body ?? '', request?.headers as never);
    expect(verified).to.deep.include({ type: 'event.bought' });
    expect((verified as { data: object }).data).to.deep.include({
      eventId,
      contactId,
      email: 'ann@example.com',
      name: 'bought',
      projectId: project.id,
      data: { plan: 'pro' },
    });
    const [delivery] = (await deliveries(endpoint.id)).filter(({ type }) => type === 'event.bought');
    expect(delivery).to.deep.include({
      status: 'DELIVERED',
      attempts: 1,
      eventId,
      lastStatusCode: 201,
      lastError: null,
    });
    const { attemptLog, payload } = await findDelivery(database.db, project.id, delivery?.id ?? '');
    expect(attemptLog).to.have.length(1);
    expect(attemptLog[0]).to.deep.include({ number: 1, statusCode: 201, error: null, answer: 'thanks' });
    expect(payload).to.deep.equal(verified);
  });

  it('expands an event once for each endpoint that wants it', async () => {
    const wants = await driver.endpoint(project, { url: receiver.url, types: ['event.bought', 'event.*'] });
    const other = await driver.endpoint(project, { url: receiver.url, types: ['contact.created'] });
    await Promise.all([track(), track('sold')]);
    await Promise.all([relayWebhooks(database.db), relayWebhooks(database.db)]);
    expect((await deliveries(wants.id)).map(({ type }) => type)).to.have.members(['event.bought', 'event.sold']);
    expect((await deliveries(other.id)).map(({ type }) => type)).to.deep.equal(['contact.created']);
    expect(await queuedWebhookRows(database.db, project.id)).to.deep.equal([]);
  });

  it('signs with both secrets during a rotation, and with the new one after it', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    const { secret } = await rotateEndpointSecret(
      database.db,
      project.access,
      endpoint.id,
      24,
      driver.settings.secretKeys,
    );
    await track();
    await driver.deliver(endpoint.id);
    const [during] = receiver.requests;
    for (const known of [endpoint.plainSecret, secret])
      expect(new Webhook(known).verify(during?.body ?? '', during?.headers as never)).to.have.property('type');
    await rotateEndpointSecret(database.db, project.access, endpoint.id, 0, driver.settings.secretKeys);
    await track();
    await driver.deliver(endpoint.id);
    const after = receiver.requests[1];
    expect(() => new Webhook(secret).verify(after?.body ?? '', after?.headers as never)).to.throw();
  });

  it('signs with every secret that is within its overlap', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    const rotate = async (hours: number) =>
      (await rotateEndpointSecret(database.db, project.access, endpoint.id, hours, driver.settings.secretKeys)).secret;
    const secrets = [endpoint.plainSecret, await rotate(24), await rotate(1), await rotate(48)];
    const signing = async () => {
      await track();
      await driver.deliver(endpoint.id);
      const { body, headers } = lastRequest();
      const signatures = String(headers['webhook-signature']).split(' ');
      const at = new Date(Number(headers['webhook-timestamp']) * SECOND);
      const sign = (secret: string) => new Webhook(secret).sign(String(headers['webhook-id']), at, body);
      return secrets.map((secret) => signatures.includes(sign(secret)));
    };
    expect(await signing()).to.deep.equal([true, true, true, true]);
    driver.now = new Date(Date.now() + 2 * HOUR);
    expect(await signing()).to.deep.equal([true, false, true, true]);
    secrets.push(await rotate(0));
    expect(await signing()).to.deep.equal([true, false, true, false, true]);
  });

  it('applies changes of URL, headers, secret and rate while it calls', async () => {
    const input = { url: `${receiver.url}/old`, types: ['event.*'], ratePerSecond: 1, headers: { 'X-Token': 'old' } };
    const endpoint = await driver.endpoint(project, input);
    for (let n = 0; n < 12; n++) await track();
    const delivering = driver.deliver(endpoint.id);
    await receiver.received(1);
    const changes = { url: `${receiver.url}/new`, ratePerSecond: null, headers: { 'X-Token': 'new' } };
    await updateEndpoint(database.db, project.access, endpoint.id, changes, driver.settings);
    const { secretKeys } = driver.settings;
    const { secret } = await rotateEndpointSecret(database.db, project.access, endpoint.id, 0, secretKeys);
    await delivering;
    expect(receiver.requests).to.have.length(12);
    const { path, body, headers } = lastRequest();
    expect(path).to.equal('/new');
    expect(headers['x-token']).to.equal('new');
    expect(new Webhook(secret).verify(body, headers as never)).to.have.property('type');
  });

  it('stops calling an endpoint that is disabled meanwhile', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'], ratePerSecond: 1 });
    for (let n = 0; n < 12; n++) await track();
    const delivering = driver.deliver(endpoint.id);
    await receiver.received(1);
    await updateEndpoint(database.db, project.access, endpoint.id, { enabled: false }, driver.settings);
    await delivering;
    expect((await deliveries(endpoint.id)).filter(({ status }) => status === 'PENDING')).to.not.have.length(0);
  });

  it('retries by the schedule with a constant webhook-id, then ends FAILED', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    receiver.answer({ status: 500, body: 'broken' });
    stopClock();
    await track();
    const delays = [5, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400, 86_400, 86_400].map(
      (seconds) => seconds * SECOND,
    );
    for (const delay of delays) {
      await driver.deliver(endpoint.id);
      const [{ status, nextAttemptAt, lastError } = {}] = await deliveries(endpoint.id);
      const { attemptLog } = await findDelivery(database.db, project.id, (await deliveries(endpoint.id))[0]?.id ?? '');
      const waited = (nextAttemptAt?.getTime() ?? 0) - Date.parse(attemptLog.at(-1)?.startedAt ?? '');
      expect(status).to.equal('PENDING');
      expect(lastError).to.equal('The endpoint responded with 500.');
      expect(waited).to.be.within(delay * 0.8, delay * 1.2);
      await toNextAttempt(endpoint.id);
      // Longer than the pause after failed rounds.
      driver.now = new Date(driver.now.getTime() + 61 * SECOND);
    }
    await driver.deliver(endpoint.id);
    const [delivery] = await deliveries(endpoint.id);
    expect(delivery).to.include({ status: 'FAILED', attempts: 11, nextAttemptAt: null, lastStatusCode: 500 });
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
  });

  it('waits at least as long as Retry-After says, up to a day', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    receiver.answer({ status: 429, headers: { 'retry-after': '3600' } });
    stopClock();
    await track();
    await driver.deliver(endpoint.id);
    const [{ nextAttemptAt } = {}] = await deliveries(endpoint.id);
    expect((nextAttemptAt?.getTime() ?? 0) - driver.now.getTime()).to.equal(3_600 * SECOND);
  });

  it('counts redirects, refused addresses and closed connections as failures', async () => {
    receiver.redirect('/moved', `${receiver.url}/other`, 307);
    receiver.answer({ instead: 'drop' }, '/drop');
    const redirected = await driver.endpoint(project, { url: `${receiver.url}/moved`, types: ['event.*'] });
    const dropped = await driver.endpoint(project, { url: `${receiver.url}/drop`, types: ['event.*'] });
    const refused = await driver.endpoint(project, { url: 'http://localhost:1/', types: ['event.*'] });
    await track();
    for (const { id } of [redirected, dropped, refused]) await driver.deliver(id);
    const errors = await Promise.all(
      [redirected, dropped, refused].map(async ({ id }) => (await deliveries(id))[0]?.lastError),
    );
    expect(errors).to.deep.equal([
      'The endpoint responded with 307; redirects are not followed.',
      'No response: the connection was reset.',
      `The request was not sent: localhost resolves to an address that is not public. ${LOCAL_TARGET_HINT}`,
    ]);
    expect(receiver.requests.map(({ path }) => path)).to.not.include('/other');
  });

  it('disables an endpoint that answers 410, mails the members and keeps its deliveries', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    receiver.answer({ status: 410 });
    await track();
    await driver.deliver(endpoint.id);
    expect(await row(endpoint.id)).to.include({ enabled: false, disabledReason: 'gone' });
    const owner = await userById(database.db, project.userId);
    const [{ systemMail }] = await storedContents(database.db, { toEmail: owner.email }).pluck('variables');
    expect(systemMail.paragraphs[0]).to.match(/answered 410 \(Gone\) and was disabled/);
    await track('sold');
    await driver.deliver(endpoint.id);
    expect(receiver.requests).to.have.length(1);
    const kept = await deliveries(endpoint.id);
    expect(kept.map(({ type, status, nextAttemptAt }) => [type, status, nextAttemptAt === null])).to.deep.equal([
      ['event.sold', 'PENDING', true],
      ['event.bought', 'PENDING', false],
    ]);
  });

  it('mails the members after an hour of failures, once, and at disabling after five days', async () => {
    const owner = await userById(database.db, project.userId);
    const subjects = async () =>
      (await storedContents(database.db, { toEmail: owner.email }).pluck('variables')).map(
        ({ systemMail }) => systemMail.subject,
      );
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    receiver.answer({ status: 503 });
    await track();
    const first = await driver.deliver(endpoint.id);
    const failingSince = (await row(endpoint.id)).failingSince?.getTime() ?? 0;
    expect(first).to.have.property('kind', 'rest');
    expect(await subjects()).to.deep.equal([]);
    driver.now = new Date(failingSince + HOUR + 1);
    await driver.deliver(endpoint.id);
    await driver.deliver(endpoint.id);
    expect(await subjects()).to.deep.equal(['A webhook endpoint is failing']);
    driver.now = new Date(failingSince + 4 * DAY);
    await driver.deliver(endpoint.id);
    expect((await row(endpoint.id)).enabled).to.equal(true);
    driver.now = new Date(failingSince + 5 * DAY + 1);
    await driver.deliver(endpoint.id);
    expect(await row(endpoint.id)).to.include({ enabled: false, disabledReason: 'failing' });
    expect(await subjects()).to.deep.equal(['A webhook endpoint is failing', 'A webhook endpoint was disabled']);
  });

  it('forgets failures after a success', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    receiver.answer({ status: 503 });
    await track();
    await driver.deliver(endpoint.id);
    expect((await row(endpoint.id)).failingSince).to.be.instanceOf(Date);
    receiver.answer({});
    await toNextAttempt(endpoint.id);
    await driver.deliver(endpoint.id);
    expect(await row(endpoint.id)).to.include({ failingSince: null, failedRounds: 0, pausedUntil: null });
    expect((await deliveries(endpoint.id))[0]).to.include({ status: 'DELIVERED', attempts: 2 });
  });

  it('stops a round after ten failures in a row and lengthens the pause', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    receiver.answer({ status: 500 });
    stopClock();
    for (let n = 0; n < 40; n++) await track(`e${n}`);
    await driver.deliver(endpoint.id);
    expect(receiver.requests.length).to.be.within(10, 19);
    expect(await row(endpoint.id)).to.include({ failedRounds: 1, pausedUntil: null });
    await driver.deliver(endpoint.id);
    const { pausedUntil } = await row(endpoint.id);
    expect(pausedUntil).to.be.instanceOf(Date);
    const calls = receiver.requests.length;
    const next = await driver.deliver(endpoint.id);
    expect(receiver.requests.length).to.equal(calls);
    expect(next).to.deep.equal({ kind: 'rest', until: pausedUntil?.getTime() });
  });

  it('continues what was queued when it is enabled, and sends what it missed on request', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    const since = new Date();
    await track('queued');
    await relayWebhooks(database.db);
    await updateEndpoint(database.db, project.access, endpoint.id, { enabled: false }, driver.settings);
    await track('missed');
    await driver.deliver(endpoint.id);
    expect(receiver.requests).to.deep.equal([]);
    await updateEndpoint(database.db, project.access, endpoint.id, { enabled: true }, driver.settings);
    await driver.deliver(endpoint.id);
    expect(receiver.requests.map(({ json }) => (json() as { type: string }).type)).to.deep.equal(['event.queued']);
    expect(await recoverDeliveries(database.db, project.access, endpoint.id, { since })).to.equal(1);
    await driver.deliver(endpoint.id);
    expect(receiver.requests.map(({ json }) => (json() as { type: string }).type)).to.deep.equal([
      'event.queued',
      'event.missed',
    ]);
    expect(await recoverDeliveries(database.db, project.access, endpoint.id, { since })).to.equal(0);
  });

  it('recovers failed deliveries of a range with a new schedule', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    await track();
    await relayWebhooks(database.db);
    await setDeliveries(
      database.db,
      { endpointId: endpoint.id },
      { status: 'FAILED', attempts: 11, nextAttemptAt: null },
    );
    expect(
      await recoverDeliveries(database.db, project.access, endpoint.id, { since: new Date(Date.now() + HOUR) }),
    ).to.equal(0);
    expect(
      await recoverDeliveries(database.db, project.access, endpoint.id, { since: new Date(Date.now() - HOUR) }),
    ).to.equal(1);
    receiver.answer({ status: 500 });
    await driver.deliver(endpoint.id);
    expect((await deliveries(endpoint.id))[0]).to.include({ status: 'PENDING', attempts: 12 });
    receiver.answer({});
    await toNextAttempt(endpoint.id);
    await driver.deliver(endpoint.id);
    expect((await deliveries(endpoint.id))[0]).to.include({ status: 'DELIVERED', attempts: 13 });
  });

  it('replays a delivery with the same webhook-id and body', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    await track();
    await driver.deliver(endpoint.id);
    const [first] = await deliveries(endpoint.id);
    const replayed = await replayDelivery(database.db, project.access, first?.id ?? '');
    await driver.deliver(endpoint.id);
    const [one, two] = receiver.requests;
    expect(two?.headers['webhook-id']).to.equal(one?.headers['webhook-id']);
    expect(two?.body).to.equal(one?.body);
    expect(await findDelivery(database.db, project.id, replayed)).to.include({
      status: 'DELIVERED',
      eventId: first?.eventId,
    });
  });

  it('sends webhook.test whatever the types of the endpoint are', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['email.sent'] });
    const deliveryId = await testEndpoint(database.db, project.access, endpoint.id);
    await driver.deliver(endpoint.id);
    expect(receiver.requests.map(({ json }) => (json() as { type: string }).type)).to.deep.equal(['webhook.test']);
    expect(await findDelivery(database.db, project.id, deliveryId)).to.include({
      status: 'DELIVERED',
      type: 'webhook.test',
    });
  });

  it('keeps to the rate of the endpoint, and makes no call after the slice is over', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'], ratePerSecond: 1 });
    for (let n = 0; n < 8; n++) await track(`e${n}`);
    // Without the rate all eight would be called at once.
    const startedAt = performance.now();
    await driver.deliver(endpoint.id, () => receiver.requests.length > 0);
    const seconds = (performance.now() - startedAt) / 1_000;
    expect(receiver.requests.length).to.be.within(1, 1 + Math.ceil(seconds));
    expect((await deliveries(endpoint.id)).filter(({ status }) => status === 'PENDING').length).to.equal(
      8 - receiver.requests.length,
    );
  });

  it('keeps one signal of an endpoint in the outbox, and none is lost to one that is being sent', async () => {
    const { db } = database;
    const { id } = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    // Those of other tests.
    await signalWebhookEndpoints(db);
    await emptyOutbox(db);
    /** Lets the second pass that lies between two signals. */
    const signalAfterEvent = async () => {
      await setEndpoints(db, { id }, { signalledAt: new Date(0) });
      await track();
      await relayWebhooks(db);
      return signalWebhookEndpoints(db);
    };
    expect(await signalAfterEvent(), 'the first event').to.equal(1);
    for (let n = 0; n < 3; n++) expect(await signalAfterEvent(), 'while Temporal is slow').to.equal(0);
    expect(await outboxMessagesTo(db, id)).to.have.length(1);
    const [message] = await claimOutboxMessages(db, 'control', 10, HOUR);
    expect(await signalAfterEvent(), 'while the first is being sent').to.equal(0);
    await resolveOutboxMessages(db, { done: [message?.id ?? ''], failed: [], unreachable: [] });
    expect(await signalWebhookEndpoints(db), 'after it was sent').to.equal(1);
    expect(await outboxMessagesTo(db, id)).to.have.length(1);
  });

  it('signals an endpoint whose delivery ends while new ones are made', async () => {
    const { db } = database;
    const { id } = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    await signalWebhookEndpoints(db);
    await emptyOutbox(db);
    await setEndpoints(db, { id }, { deliveringUntil: new Date(Date.now() + HOUR), signalledAt: new Date(0) });
    await track();
    let relayed: Promise<void> | undefined;
    await db.transaction(async (delivery) => {
      await setEndpoints(delivery, { id }, { deliveringUntil: new Date(0) });
      relayed = relayWebhooks(db);
      await eventually(async () => (await blockedConnections(db)).length > 0, { what: 'the wait for the endpoint' });
    });
    await relayed;
    expect(await signalWebhookEndpoints(db)).to.equal(1);
  });

  it('erases a deleted contact from waiting and logged payloads', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url });
    const { contactId } = await track('bought', 'ann@example.com', { street: 'Secret Lane' });
    receiver.answer({ body: 'hello ann@example.com' });
    await driver.deliver(endpoint.id);
    await track('waiting', 'ann@example.com', { street: 'Secret Lane' });
    await deleteContacts(database.db, project.id, [contactId]);
    const stored = JSON.stringify([
      await storedWebhookEvents(database.db, { projectId: project.id }),
      await storedDeliveries(database.db, { projectId: project.id }),
    ]);
    expect(stored).to.not.match(/ann@example|Secret Lane/);
    receiver.requests.splice(0);
    await driver.deliver(endpoint.id);
    const bodies = receiver.requests.map(({ json }) => json() as { type: string; data: Record<string, unknown> });
    expect(bodies.map(({ type }) => type)).to.have.members(['event.waiting', 'contact.deleted']);
    expect(bodies.find(({ type }) => type === 'contact.deleted')?.data).to.deep.equal({ id: contactId });
    expect(bodies.find(({ type }) => type === 'event.waiting')?.data).to.include({ contactId, name: 'waiting' });
    expect(JSON.stringify(bodies)).to.not.match(/ann@example|Secret Lane/);
  });

  it('cuts a payload over 20 kB and says so', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    const { eventId } = await track('big', 'ann@example.com', {
      text: { value: 'x'.repeat(30_000), persistent: false },
    });
    await driver.deliver(endpoint.id);
    const [request] = receiver.requests;
    expect(Buffer.byteLength(request?.body ?? '')).to.be.below(20_000);
    expect(request?.json()).to.deep.include({ type: 'event.big', truncated: true });
    expect((request?.json() as { data: object }).data).to.deep.include({
      eventId,
      name: 'big',
      data: {},
      truncated: true,
    });
  });

  it('delivers many in one visit, a page at a time', async () => {
    const endpoint = await driver.endpoint(project, { url: receiver.url, types: ['event.*'] });
    await database.db.raw(
      `insert into events (id, project_id, contact_id, name) select uuidv7(), ?, uuidv7(), 'many' from generate_series(1, 950)`,
      [project.id],
    );
    await driver.deliver(endpoint.id);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).to.equal(950);
    expect(receiver.requests).to.have.length(950);
    const { total } = await listDeliveries(database.db, project.id, endpoint.id, driver.settings.secretKeys, {
      limit: 1,
      status: 'DELIVERED',
    });
    expect(total).to.equal(950);
  });
});
