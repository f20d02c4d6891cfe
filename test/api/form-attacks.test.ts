import { expect } from 'chai';
import { watchAttacks } from '../../services/forms/attack.ts';
import { type ApiProject, client, type TestApi } from '../support/api.ts';
import type { CampaignWorker } from '../support/campaigns.ts';
import { decideSubmissions, type GivenChallenge, solveChallenge } from '../support/forms.ts';
import { setForm, setSubmissions, storedForm, storedSubmissions } from '../support/rows/forms.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import { webhookEvents } from '../support/webhooks.ts';

const HOUR_MS = 3_600_000;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

describe('attacks on forms', () => {
  let sending: SendingApi;
  let api: TestApi;
  let worker: CampaignWorker;
  let project: ApiProject;
  let id: string;

  before(async () => {
    sending = await startSendingApi();
    ({ api, worker } = sending);
  });
  after(() => sending?.stop());
  beforeEach(async () => {
    project = await api.project();
    const from = `news@${project.senderDomain}`;
    const created = await project.server.post('/forms', { name: 'Newsletter', from });
    expect(created).to.have.status(201);
    id = created.body.id;
  });

  const addressOf = (name: string) => `${name}-${project.id.slice(-8)}@example.com`;
  const submit = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const answer = await project.server.post('/v1/subscribe', { form: id, email: addressOf(`p${n}`) });
      expect(answer.body.data).to.deep.equal({ status: 'RECEIVED' });
    }
  };
  const attackedSince = async (): Promise<string | null> =>
    (await project.server.get(`/forms/${id}`)).body.attackedSince;
  const attack = async () => {
    await submit(51);
    await watchAttacks(api.db);
    expect(await attackedSince()).to.be.a('string');
  };
  const challenge = async (): Promise<GivenChallenge> => (await client(api.url).get(`/f/${id}/challenge`)).body;
  const confirmSome = async (count: number) => {
    const rows = (await storedSubmissions(api.db, project.id)).slice(0, count);
    for (const row of rows) await api.db('formSubmissions').where({ id: row.id }).update({ status: 'CONFIRMED' });
  };

  it('begin with more than 50 submissions in an hour, of which under 5 % are confirmed', async () => {
    await submit(50);
    await watchAttacks(api.db);
    expect(await attackedSince()).to.equal(null);
    await submit(1);
    await confirmSome(3);
    await watchAttacks(api.db);
    expect(await attackedSince()).to.equal(null);
    await submit(10);
    await watchAttacks(api.db);
    expect(await attackedSince()).to.be.a('string');
  });

  it('begin when more than 10 of the latest 50 confirmations bounced', async () => {
    await submit(50);
    await decideSubmissions(api.db);
    await worker.send();
    const emails = await api.db('emails').where({ projectId: project.id }).orderBy('id').select('id');
    expect(emails).to.have.length(50);
    const bounce = (count: number) =>
      api
        .db('emails')
        .whereIn(
          'id',
          emails.slice(0, count).map((email) => email.id),
        )
        .update({ bouncedAt: new Date() });
    await bounce(10);
    await watchAttacks(api.db);
    expect(await attackedSince()).to.equal(null);
    await bounce(11);
    await watchAttacks(api.db);
    expect(await attackedSince()).to.be.a('string');
  });

  it('notify members and endpoints once', async () => {
    const endpoint = { url: 'https://hooks.example/forms', types: ['form.attacked'] };
    expect(await project.server.post('/webhook-endpoints', endpoint)).to.have.status(201);
    await attack();
    await watchAttacks(api.db);
    const since = await attackedSince();
    const queued = await webhookEvents(api.db, project.id);
    expect(queued.map(({ type, data: { position: _, ...data } }) => [type, data])).to.deep.equal([
      ['form.attacked', { formId: id, key: 'newsletter', since, projectId: project.id }],
    ]);
    const told = await api.db('notifications').where({ projectId: project.id }).select('type', 'data', 'mailDue');
    expect(told).to.deep.equal([
      { type: 'form.attacked', data: { formId: id, key: 'newsletter', name: 'Newsletter', since }, mailDue: true },
    ]);
  });

  it('make every visitor press one more button, with the most work', async () => {
    const before = await challenge();
    await attack();
    expect((await challenge()).difficulty).to.equal(19);
    const email = addressOf('ann');
    // A token keeps the difficulty that it was given.
    const body = { email, _token: before.token, _nonce: solveChallenge(before, id, email) };
    const answer = await client(api.url).post(`/f/${id}`, body);
    expect([answer.status, answer.body.status]).to.deep.equal([202, 'CONTINUE']);
    expect(await storedSubmissions(api.db, project.id)).to.have.length(51);
    const url = new URL(answer.body.url);
    expect(await client(api.url).get(url.pathname + url.search)).to.have.status(200);
    const pressed = new URLSearchParams({ _continue: url.searchParams.get('continue') ?? '' }).toString();
    expect(await client(api.url, FORM).post(`/f/${id}`, pressed)).to.have.status(200);
    expect(await storedSubmissions(api.db, project.id)).to.have.length(52);
  });

  it('refuse form posts without script with 429, those that began before too', async () => {
    const post = (fields: Record<string, string>) =>
      client(api.url, FORM).post(`/f/${id}`, new URLSearchParams(fields).toString());
    const email = addressOf('ann');
    const waiting = await post({ email });
    expect(waiting).to.have.status(200);
    const token = /name="_continue" value="([^"]+)"/.exec(String(waiting.body))?.[1] ?? '';
    expect(token).not.to.equal('');
    await attack();
    expect(await post({ email })).to.have.status(429);
    expect(await post({ _continue: token })).to.have.status(429);
    expect(await storedSubmissions(api.db, project.id)).to.have.length(51);
  });

  it('do not concern servers with the secret key', async () => {
    await attack();
    const answer = await project.server.post('/v1/subscribe', { form: id, email: addressOf('ann') });
    expect(answer.body).to.deep.equal({ success: true, data: { status: 'RECEIVED' } });
  });

  it('end after an hour without a sign of them', async () => {
    await attack();
    const past = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    await setSubmissions(api.db, project.id, { createdAt: new Date(Date.now() - HOUR_MS) });
    await setForm(api.db, id, { attackSeenAt: past(59) });
    await watchAttacks(api.db);
    expect(await attackedSince()).to.be.a('string');
    await setForm(api.db, id, { attackSeenAt: past(61) });
    await watchAttacks(api.db);
    expect(await attackedSince()).to.equal(null);
    expect((await storedForm(api.db, id)).attackSeenAt).to.equal(null);
  });

  it('go on while there are signs of them, however long the worker was down', async () => {
    await attack();
    await setForm(api.db, id, { attackSeenAt: new Date(Date.now() - 2 * HOUR_MS) });
    await watchAttacks(api.db);
    expect(await attackedSince()).to.be.a('string');
  });
});
