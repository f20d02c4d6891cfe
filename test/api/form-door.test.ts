// The public door of forms: proofs of work, one more button, limits and origins.
import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { MailReachCache } from '../../services/addresses/mail-reach.ts';
import { acceptAll } from '../../services/forms/accept.ts';
import { createChallenge, sweepChallenges } from '../../services/forms/challenges.ts';
import { sweepConfirmations } from '../../services/forms/confirmation-limits.ts';
import { honeypotOf } from '../../services/forms/public.ts';
import { type ApiAnswer, type ApiProject, client, startTestApi, type TestApi } from '../support/api.ts';
import { decideSubmissions, formSettings, solveChallenge } from '../support/forms.ts';
import { testLinkSettings } from '../support/links.ts';
import { RawHttp } from '../support/raw-http.ts';
import { statementsAbout } from '../support/sent-statements.ts';

const { secretKeys } = testLinkSettings;

describe('the public door of forms', () => {
  let api: TestApi;
  let project: ApiProject;

  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.stop());
  beforeEach(async () => {
    project = await api.project();
  });

  const addressOf = (name: string) => `${name}-${project.id.slice(-8)}@example.com`;
  const createForm = async (body: object = {}) => {
    const from = `news@${project.senderDomain}`;
    const answer = await project.server.post('/forms', { name: 'Newsletter', from, ...body });
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body;
  };
  const bySite = () => client(api.url);
  const challenge = async (id: string) => (await bySite().get(`/f/${id}/challenge`)).body;
  const send = (id: string, fields: Record<string, string>) =>
    fetch(`${api.url}/f/${id}`, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
  const continuationIn = (page: string): string => /name="_continue" value="([^"]+)"/.exec(page)?.[1] ?? 'none';
  const submissions = () => api.db('form_submissions').where({ projectId: project.id }).orderBy('id');
  const statuses = async (): Promise<string[]> => (await submissions()).map(({ status, reason }) => reason ?? status);
  const errorOf = ({ body }: ApiAnswer) => [body.error.errors[0].field, body.error.errors[0].code];

  /** A visitor needs two seconds at least. */
  const pause = () => new Promise((resolve) => setTimeout(resolve, 2_100));

  /** Of a page that is rendered a moment from now, so that its visitor is too fast however slow this machine is. */
  const tooFast = (formId: string, email: string) => {
    const issued = createChallenge(secretKeys, formId, 1, Date.now() + 900);
    return { email, _token: issued.token, _nonce: solveChallenge(issued, formId, email) };
  };

  it('stores a submission with its proof, once, and answers alike for every address', async () => {
    const { id } = await createForm();
    await project.server.post('/contacts', { email: addressOf('known'), subscribed: true });
    await project.server.post('/suppressions', { email: addressOf('suppressed'), reason: 'MANUAL' });
    const answers = [];
    for (const name of ['known', 'unknown', 'suppressed', 'unknown']) {
      const email = addressOf(name);
      const issued = await challenge(id);
      const body = { email, _token: issued.token, _nonce: solveChallenge(issued, id, email) };
      await pause();
      const answer = await bySite().post(`/f/${id}`, body);
      const headers = [...answer.headers].filter(([header]) => !['date', 'x-request-id'].includes(header));
      answers.push(JSON.stringify([answer.status, answer.body, headers]));
      expect(errorOf(await bySite().post(`/f/${id}`, body))).to.deep.equal(['_token', 'custom']);
    }
    expect(answers[0]).to.contain('[202,{"status":"RECEIVED"}');
    expect([...new Set(answers)], 'byte by byte').to.have.length(1);
    await decideSubmissions(api.db);
    expect(await statuses()).to.deep.equal(['ALREADY', 'PENDING', 'suppressed', 'throttled']);
  });

  it('asks Postgres the same for every address, so that the time of the answer says nothing either', async () => {
    const { id } = await createForm();
    await project.server.post('/contacts', { email: addressOf('known'), subscribed: true });
    await project.server.post('/contacts', { email: addressOf('left'), subscribed: false });
    await project.server.post('/suppressions', { email: addressOf('suppressed'), reason: 'MANUAL' });
    const submit = async (name: string) => {
      const email = addressOf(name);
      const issued = createChallenge(secretKeys, id, 1, Date.now() - 3_000);
      const body = { email, _token: issued.token, _nonce: solveChallenge(issued, id, email) };
      expect(await bySite().post(`/f/${id}`, body)).to.have.status(202);
    };
    await submit('first');
    const unknown = await statementsAbout(project.id, () => submit('unknown'));
    expect(unknown).not.to.deep.equal([]);
    for (const name of ['known', 'left', 'suppressed', 'unknown'])
      expect(await statementsAbout(project.id, () => submit(name)), name).to.deep.equal(unknown);
  });

  it('rejects a proof that is missing, or of another address, form or difficulty with 422', async () => {
    const { id } = await createForm();
    const other = await createForm({ name: 'Other' });
    const issued = await challenge(id);
    const { token } = issued;
    const email = addressOf('ann');
    const nonce = solveChallenge(issued, id, email);
    expect(errorOf(await bySite().post(`/f/${id}`, { email }))).to.deep.equal(['_token', 'required']);
    for (const [form, body] of [
      [id, { email: addressOf('bob'), _token: token, _nonce: nonce }],
      [other.id, { email, _token: token, _nonce: nonce }],
      [id, { email, _token: `${token}x`, _nonce: nonce }],
      [id, { email, _token: token, _nonce: 'x' }],
    ] as const)
      expect(errorOf(await bySite().post(`/f/${form}`, body))).to.deep.equal(['_token', 'custom']);
    expect(await statuses()).to.deep.equal([]);
  });

  it('refuses an address without a mail server, but no test name outside production', async () => {
    const { id } = await createForm();
    const absent = async () => ({ kind: 'absent' as const, nameExists: false });
    const mailReach = new MailReachCache({ mx: absent, addresses: absent });
    const decide = async (email: string, production: boolean, dnsServers: string[] = []) => {
      expect(await project.server.post('/v1/subscribe', { form: id, email })).to.have.status(200);
      await acceptAll({ db: api.db, settings: { ...formSettings, production, dnsServers }, mailReach });
    };
    await decide(addressOf('ann'), true);
    await decide(addressOf('bob'), false, ['127.0.0.1:9']);
    await decide(`cem-${project.id}@shop.invalid`, false);
    await decide(addressOf('dan'), false);
    const refused = 'no mail server';
    expect(await statuses()).to.deep.equal([refused, refused, refused, 'PENDING']);
  });

  it('asks who is too fast for one more button', async () => {
    const { id } = await createForm();
    const answer = await bySite().post(`/f/${id}`, tooFast(id, addressOf('ann')));
    expect([answer.status, answer.body.status]).to.deep.equal([202, 'CONTINUE']);
    expect(await statuses()).to.deep.equal([]);
    const url = new URL(answer.body.url);
    expect(await bySite().get(url.pathname + url.search)).to.have.status(200);
    const pressed = await send(id, { _continue: url.searchParams.get('continue') ?? '' });
    expect(pressed.status).to.equal(200);
    expect(await statuses()).to.deep.equal(['RECEIVED']);
  });

  it('asks who fills in the field that people do not see for one more button', async () => {
    const form = await createForm();
    const email = addressOf('ann');
    const issued = await challenge(form.id);
    const body = { email, _token: issued.token, _nonce: solveChallenge(issued, form.id, email) };
    await pause();
    const answer = await bySite().post(`/f/${form.id}`, { ...body, [honeypotOf(secretKeys, form)]: 'x' });
    expect([answer.status, answer.body.status]).to.deep.equal([202, 'CONTINUE']);
    expect(await statuses()).to.deep.equal([]);
  });

  it('waits five seconds without script, and stores nothing before', async () => {
    const { id } = await createForm();
    const first = await (await send(id, { email: addressOf('ann') })).text();
    const early = await send(id, { _continue: continuationIn(first) });
    expect(early.status).to.equal(200);
    expect(continuationIn(await early.text())).to.equal(continuationIn(first));
    expect(await statuses()).to.deep.equal([]);
  });

  it('leads to the redirect of the form, and from a stale page back to the form', async () => {
    const submitted = 'https://shop.example/thanks';
    const { id, urls } = await createForm({ redirects: { submitted } });
    const { url } = (await bySite().post(`/f/${id}`, tooFast(id, addressOf('ann')))).body;
    const pressed = await send(id, { _continue: new URL(url).searchParams.get('continue') ?? '' });
    expect([pressed.status, pressed.headers.get('location')]).to.deep.equal([303, submitted]);
    const stale = await send(id, { _continue: 'x' });
    expect([stale.status, stale.headers.get('location')]).to.deep.equal([303, urls.page]);
    expect(await statuses()).to.have.length(1);
  });

  it('refuses the 4th form post without script of a client with 429', async () => {
    const { id } = await createForm();
    const answers: number[] = [];
    for (let n = 0; n < 4; n++) answers.push((await send(id, { email: addressOf(`p${n}`) })).status);
    expect(answers.at(-1)).to.equal(429);
  });

  it('shows the form, and its script, to the origins that it allows', async () => {
    const { id } = await createForm({
      allowedOrigins: ['https://shop.example'],
      fields: [{ key: 'a', label: '<b>' }],
    });
    const page = await fetch(`${api.url}/f/${id}`);
    expect(page.headers.get('content-security-policy')).to.include('frame-ancestors https://shop.example');
    expect(await page.text())
      .to.include('name="email"')
      .and.include('&lt;b&gt;');
    const script = await fetch(`${api.url}/f/${id}.js`, { headers: { origin: 'https://shop.example' } });
    expect(script.headers.get('access-control-allow-origin')).to.equal('https://shop.example');
    const elsewhere = await fetch(`${api.url}/f/${id}/challenge`, { headers: { origin: 'https://elsewhere.example' } });
    expect(elsewhere.headers.get('access-control-allow-origin')).to.equal(null);
  });

  it('is closed with 404 while the form is PAUSED', async () => {
    const { id } = await createForm({ status: 'PAUSED' });
    for (const path of ['', '.js', '/challenge'])
      expect((await fetch(`${api.url}/f/${id}${path}`)).status, path).to.equal(404);
    expect((await send(id, { email: addressOf('ann') })).status).to.equal(404);
  });

  it('shows a browser what is wrong as a page in the language of the visitor', async () => {
    const { id } = await createForm();
    // `fetch` would add that it is no navigation.
    const navigate = async (line: string, body = '') => {
      const raw = await RawHttp.open(api.url);
      const type = body ? 'Content-Type: application/x-www-form-urlencoded\r\n' : '';
      raw.write(
        `${line} HTTP/1.1\r\nHost: x\r\nAccept: text/html,application/xhtml+xml\r\nAccept-Language: nl\r\n${type}Content-Length: ${body.length}\r\n\r\n${body}`,
      );
      const answer = await raw.answer();
      raw.destroy();
      return answer;
    };
    const unknown = await navigate(`GET /f/${newId()}`);
    expect(unknown.status).to.equal(404);
    expect(unknown.body).to.contain('<html lang="nl">').and.to.contain('Dit formulier is niet beschikbaar');
    expect(unknown.body).not.to.contain('/app/');
    const wrong = await navigate(`POST /f/${id}`, 'email=nowhere');
    expect(wrong.status).to.equal(422);
    expect(wrong.body).to.contain('Controleer uw invoer.').and.to.contain('email');
  });

  it('rejects what the visitor can correct with 422', async () => {
    await createForm({
      consentRequired: true,
      consentText: 'x',
      fields: [
        { key: 'n', label: 'N', type: 'NUMBER', required: true },
        { key: 's', label: 'S', type: 'SELECT', options: ['a'] },
      ],
    });
    const post = (body: object) => project.server.post('/v1/subscribe', { form: 'newsletter', ...body });
    const email = addressOf('ann');
    const good = { email, consent: true, data: { n: '4' } };
    expect(errorOf(await post({ ...good, email: 'x' }))[0]).to.equal('email');
    expect(errorOf(await post({ ...good, consent: false }))).to.deep.equal(['consent', 'required']);
    expect(errorOf(await post({ ...good, data: {} }))).to.deep.equal(['data.n', 'required']);
    expect(errorOf(await post({ ...good, data: { n: 'x' } }))[0]).to.equal('data.n');
    expect(errorOf(await post({ ...good, data: { n: 1, s: 'b' } }))[0]).to.equal('data.s');
    expect(errorOf(await post({ ...good, topics: ['none'] }))[0]).to.equal('topics');
    expect(await post(good)).to.have.status(200);
    expect(await project.browser.post('/v1/subscribe', { form: 'newsletter', ...good })).to.have.status(422);
    expect(await post({ ...good, form: 'unknown' })).to.have.status(404);
  });

  it('takes no unchecked boxes for all topics', async () => {
    const topic = async (name: string) => (await project.server.post('/topics', { name })).body.id;
    const { id } = await createForm({ topicIds: [await topic('News'), await topic('Offers')] });
    const page = await (await fetch(`${api.url}/f/${id}`)).text();
    expect(page).to.include('name="_boxes" value="1"');
    const email = addressOf('ann');
    const { token } = createChallenge(secretKeys, id, 1, Date.now() - 3_000);
    const body = { email, _token: token, _nonce: solveChallenge({ token, difficulty: 1 }, id, email) };
    expect(errorOf(await bySite().post(`/f/${id}`, { ...body, _boxes: '1' }))).to.deep.equal(['topic', 'required']);
    expect(await bySite().post(`/f/${id}`, { ...body, _boxes: '1', topic: ['news'] })).to.have.status(202);
    expect((await submissions())[0]?.topicIds).to.have.length(1);
  });

  it('rejects a body over 64 kB with 413', async () => {
    const { id } = await createForm();
    const email = `${'x'.repeat(70_000)}@example.com`;
    expect((await send(id, { email })).status).to.equal(413);
    expect(await bySite().post(`/f/${id}`, { email })).to.have.status(413);
  });

  it('forgets used tokens and confirmations once no limit counts them', async () => {
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    const [kept, gone] = [Buffer.from(`kept ${project.id}`), Buffer.from(`gone ${project.id}`)];
    await api.db('form_challenges_used').insert([
      { hash: kept, expiresAt: hoursAgo(-1) },
      { hash: gone, expiresAt: hoursAgo(1) },
    ]);
    await api.db('confirmations_sent').insert([
      { addressHash: kept, at: hoursAgo(23) },
      { addressHash: gone, at: hoursAgo(25) },
    ]);
    await sweepChallenges(api.db);
    await sweepConfirmations(api.db);
    for (const [hash, count] of [
      [kept, 1],
      [gone, 0],
    ] as const) {
      expect(await api.db('form_challenges_used').where({ hash })).to.have.length(count);
      expect(await api.db('confirmations_sent').where({ addressHash: hash })).to.have.length(count);
    }
  });

  it('with the public key needs an origin that its policy allows, and keeps its limits', async () => {
    await createForm();
    const origin = { origin: 'https://elsewhere.example' };
    const policy = { publicKeyPolicy: { origins: ['https://shop.example'] } };
    const changed = await project.owner.patch(`/users/@me/projects/${project.id}`, policy);
    expect(changed, JSON.stringify(changed.body)).to.have.status(200);
    const body = { form: 'newsletter', email: addressOf('ann') };
    expect(await project.browser.post('/v1/subscribe', body, origin)).to.have.status(403);
    expect(await project.browser.post('/v1/subscribe', body, { origin: 'https://shop.example' })).to.have.status(422);
  });
});
