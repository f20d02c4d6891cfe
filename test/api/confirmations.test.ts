import { expect } from 'chai';
import { type ApiProject, client, type TestApi } from '../support/api.ts';
import type { CampaignWorker } from '../support/campaigns.ts';
import { carryOutSubmissions, decideSubmissions } from '../support/forms.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import type { ReceivedMail, SmtpStandIn } from '../support/smtp.ts';
import { eventually } from '../support/waiting.ts';

/** With the header, and without the line breaks of quoted-printable. */
const textOf = (mail: ReceivedMail | undefined): string =>
  (mail?.raw.toString('utf8') ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=');

describe('confirmations of forms', () => {
  let sending: SendingApi;
  let api: TestApi;
  let smtp: SmtpStandIn;
  let worker: CampaignWorker;
  let project: ApiProject;

  before(async () => {
    sending = await startSendingApi();
    ({ api, smtp, worker } = sending);
  });
  after(() => sending?.stop());
  beforeEach(async () => {
    project = await api.project();
    smtp.mails.length = 0;
  });

  const addressOf = (name: string) => `${name}-${project.id.slice(-8)}@example.com`;
  const createForm = async (body: object = {}) => {
    const from = `news@${project.senderDomain}`;
    const answer = await project.server.post('/forms', { name: 'Newsletter', from, ...body });
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body;
  };
  const createTopic = async (body: object): Promise<string> => {
    const answer = await project.server.post('/topics', body);
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body.id;
  };
  const subscribe = async (name: string, more: object = {}) => {
    const answer = await project.server.post('/v1/subscribe', { form: 'newsletter', email: addressOf(name), ...more });
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
    expect(answer.body).to.deep.equal({ success: true, data: { status: 'RECEIVED' } });
  };
  /** Decides about what was received, and sends the email. */
  const work = async () => {
    await decideSubmissions(api.db);
    await worker.send();
  };
  const timePasses = () => carryOutSubmissions(api.db);
  const mailsTo = (name: string) => smtp.mails.filter(({ to }) => to.includes(addressOf(name)));
  const linkIn = (name: string, kind: 'confirm' | 'decline', n = -1): string => {
    return new RegExp(`/${kind}/[\\w-]+`).exec(textOf(mailsTo(name).at(n)))?.[0] ?? 'none';
  };
  const visitor = () => client(api.url, { 'content-type': 'application/x-www-form-urlencoded' });
  const press = (path: string, body = '') => visitor().post(path, body);
  const contactOf = async (name: string) =>
    (await project.server.get(`/contacts?search=${addressOf(name)}`)).body.data[0];
  const consentsOf = async (name: string): Promise<{ action: string; method: string; topicId: string | null }[]> =>
    (await project.server.get(`/consents?email=${addressOf(name)}`)).body.data.toReversed();
  const submissions = () =>
    api.db('form_submissions').where({ projectId: project.id }).orderBy('id').select('status', 'reason', 'email');
  const statuses = async () => (await submissions()).map(({ status, reason }) => reason ?? status);

  it('create a contact with its fields once confirmed, and nothing before', async () => {
    await createForm({ fields: [{ key: 'firstName', label: 'First name' }], consentText: 'I agree' });
    await subscribe('ann', { data: { firstName: 'Ann', other: 'x' }, lang: 'de', timezone: 'Europe/Berlin' });
    await work();
    expect(await statuses()).to.deep.equal(['PENDING']);
    expect(await contactOf('ann')).to.equal(undefined);
    expect(await consentsOf('ann')).to.deep.equal([]);
    const [mail] = mailsTo('ann');
    expect(textOf(mail)).to.include('Auto-Submitted: auto-generated').and.not.include('Ann');

    const link = linkIn('ann', 'confirm');
    expect(await visitor().get(link)).to.have.status(200);
    expect(await statuses()).to.deep.equal(['PENDING']);
    expect(await press(link)).to.have.status(200);
    expect(await contactOf('ann')).to.deep.include({
      subscribed: true,
      data: { firstName: 'Ann', timezone: 'Europe/Berlin', locale: 'de' },
    });
    const consents = await consentsOf('ann');
    expect(consents.map(({ action, method }) => [action, method])).to.deep.equal([
      ['REQUESTED', 'FORM'],
      ['CONFIRMED', 'FORM'],
    ]);
    for (const consent of consents) expect(consent).to.deep.include({ topicId: null, text: 'I agree', formVersion: 1 });
    const [event] = await api.db('events').where({ projectId: project.id, name: 'form.newsletter.confirmed' });
    expect(event.data).to.deep.include({ key: 'newsletter', email: addressOf('ann'), fields: { firstName: 'Ann' } });
    // A later visit shows the same page.
    expect(await press(link)).to.have.status(200);
    expect(await visitor().get(link)).to.have.status(200);
    expect((await consentsOf('ann')).length).to.equal(2);
  });

  it('show in the email log without a contact, publish no events and count as usage', async () => {
    await createForm();
    await subscribe('ann');
    await work();
    const { data } = (await project.server.get('/emails')).body;
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ contactId: null, to: addressOf('ann'), sourceType: 'TRANSACTIONAL' });
    await eventually(async () => (await project.server.get(`/emails/${data[0].id}`)).body.status === 'SENT', {
      what: 'the result',
    });
    expect(await api.db('events').where({ projectId: project.id })).to.deep.equal([]);
  });

  it('of a template render nothing that the visitor has typed', async () => {
    const from = `news@${project.senderDomain}`;
    const body = '<p>[{{ email }}{{ firstName }}{{ data.firstName }}] {{ formName }} {{ confirmUrl }}</p>';
    const template = { name: 't', subject: 'Hi {{ firstName }}{{ email }}!', body, type: 'TRANSACTIONAL', from };
    const id = (await project.server.post('/templates', template)).body.id;
    await createForm({ confirmationTemplateId: id, fields: [{ key: 'firstName', label: '' }] });
    await subscribe('ann', { data: { firstName: 'buy-now' } });
    await work();
    const [mail] = mailsTo('ann');
    expect(textOf(mail)).to.include('[] Newsletter').and.not.include('buy-now');
    expect(textOf(mail)).to.include('Subject: Hi !');
  });

  it('join topics, and no other marketing topic', async () => {
    const news = await createTopic({ name: 'News' });
    await createTopic({ name: 'Offers', defaultState: 'SUBSCRIBED' });
    await createForm({ topicIds: [news] });
    await subscribe('ann');
    await work();
    await press(linkIn('ann', 'confirm'));
    const contact = await contactOf('ann');
    expect(contact).to.include({ subscribed: true });
    const { data } = (await project.server.get(`/contacts/${contact.id}/topics`)).body;
    expect(data.map(({ key, state }: { key: string; state: string }) => [key, state])).to.deep.equal([
      ['news', 'SUBSCRIBED'],
      ['offers', 'UNSUBSCRIBED'],
    ]);
  });

  it('ask a subscriber of one topic for the other alone, and who has all gets a link to manage it', async () => {
    const [a, b] = [await createTopic({ name: 'A' }), await createTopic({ name: 'B' })];
    await createForm({ topicIds: [a, b] });
    const email = addressOf('ann');
    await project.server.post('/contacts', { email, subscribed: true, topics: { a: 'SUBSCRIBED' }, consent: {} });
    await subscribe('ann');
    await work();
    const [{ topicIds }] = await api.db('form_submissions').where({ projectId: project.id });
    expect(topicIds).to.deep.equal([b]);
    await press(linkIn('ann', 'confirm'));
    await api.db('form_submissions').where({ projectId: project.id }).update({ lastSentAt: null });
    await subscribe('ann');
    await work();
    expect(await statuses()).to.deep.equal(['CONFIRMED', 'ALREADY']);
    expect(textOf(mailsTo('ann').at(-1))).to.include('/manage/');
  });

  it('of two submissions of one address at once are one email', async () => {
    await createForm();
    await Promise.all([subscribe('ann'), subscribe('ann')]);
    await Promise.all([work(), work(), work()]);
    expect(mailsTo('ann')).to.have.length(1);
    expect((await statuses()).sort()).to.deep.equal(['PENDING', 'throttled']);
  });

  it('reach an address at most three times a day over all projects', async () => {
    const email = `shared-${Date.now()}@example.com`;
    for (let n = 0; n < 5; n++) {
      project = await api.project();
      await createForm();
      const answer = await project.server.post('/v1/subscribe', { form: 'newsletter', email });
      expect(answer.body).to.deep.equal({ success: true, data: { status: 'RECEIVED' } });
    }
    await work();
    expect(smtp.mails.filter(({ to }) => to.includes(email))).to.have.length(3);
    expect(await statuses()).to.deep.equal(['throttled']);
  });

  it('refuse suppressed, declined and disposable addresses with the same answer', async () => {
    await createForm({ blockDisposable: true });
    await project.server.post('/suppressions', { email: addressOf('sam'), reason: 'MANUAL' });
    await subscribe('sam');
    await subscribe('dan');
    await subscribe('tmp', { email: `x${Date.now()}@mailinator.com` });
    await work();
    expect(await statuses()).to.deep.equal(['suppressed', 'PENDING', 'disposable']);
    const link = linkIn('dan', 'decline');
    expect(await visitor().get(link)).to.have.status(200);
    expect(await press(link)).to.have.status(200);
    expect(await visitor().get(linkIn('dan', 'confirm'))).to.have.status(410);
    expect(await press(linkIn('dan', 'confirm'))).to.have.status(410);
    await subscribe('dan');
    await work();
    expect((await statuses()).at(-1)).to.equal('declined before');
    expect(mailsTo('dan')).to.have.length(1);
    expect(await contactOf('dan')).to.equal(undefined);
  });

  it('remind once, expire, and erase the address after seven days', async () => {
    await createForm({ reminderAfterHours: 0.001, expiresAfterHours: 1 });
    await subscribe('ann');
    await work();
    await eventually(async () => (await timePasses()) > 0, { what: 'the reminder' });
    await timePasses();
    await worker.send();
    expect(mailsTo('ann')).to.have.length(2);
    const link = linkIn('ann', 'confirm', 0);
    const past = { expiresAt: new Date(Date.now() - 1), dueAt: new Date(Date.now() - 1) };
    await api.db('form_submissions').where({ projectId: project.id }).update(past);
    expect(await visitor().get(link)).to.have.status(410);
    await timePasses();
    expect(await press(link)).to.have.status(410);
    expect(await statuses()).to.deep.equal(['EXPIRED']);
    await api.db('form_submissions').where({ projectId: project.id }).update({ dueAt: past.dueAt });
    await timePasses();
    expect((await submissions())[0]).to.deep.include({ email: null });
    expect((await project.server.get('/emails')).body.data.map(({ to }: { to: string }) => to)).to.deep.equal([
      null,
      null,
    ]);
  });

  it('end once where confirmation and expiry come at the same moment', async () => {
    await createForm({ reminderAfterHours: null, expiresAfterHours: 0.001 });
    for (const name of ['a', 'b', 'c', 'd']) await subscribe(name);
    await work();
    const links = ['a', 'b', 'c', 'd'].map((name) => linkIn(name, 'confirm'));
    await api
      .db('form_submissions')
      .where({ projectId: project.id })
      .update({ dueAt: new Date(Date.now() - 1) });
    await Promise.all([...links.map((link) => press(link)), timePasses(), timePasses()]);
    await eventually(
      async () => {
        await timePasses();
        return (await statuses()).every((status) => status === 'CONFIRMED' || status === 'EXPIRED');
      },
      { what: 'the end of all' },
    );
    const confirmed = (await statuses()).filter((status) => status === 'CONFIRMED').length;
    const contacts = (await project.server.get('/contacts')).body.data.length;
    expect(contacts).to.equal(confirmed);
    const consents = (await project.server.get('/consents?action=CONFIRMED')).body.data;
    expect(consents).to.have.length(confirmed);
  });

  it('keep working after the form is paused and deleted', async () => {
    const { id } = await createForm();
    await subscribe('ann');
    await work();
    await project.server.patch(`/forms/${id}`, { status: 'PAUSED' });
    await project.server.delete(`/forms/${id}`);
    expect(await press(linkIn('ann', 'confirm'))).to.have.status(200);
    expect(await contactOf('ann')).to.include({ subscribed: true });
  });

  it('subscribe again who had unsubscribed, with both in the history', async () => {
    await createForm({ doubleOptIn: false });
    await project.server.post('/contacts', { email: addressOf('ann'), subscribed: true });
    const { id } = await contactOf('ann');
    await project.server.patch(`/contacts/${id}`, { subscribed: false });
    await subscribe('ann');
    await subscribe('new');
    await work();
    // A new address becomes a contact at once, a known one is asked all the same.
    expect(await statuses()).to.deep.equal(['PENDING', 'CONFIRMED']);
    expect(await contactOf('new')).to.include({ subscribed: true });
    expect((await consentsOf('new')).map(({ action }) => action)).to.deep.equal(['GRANTED']);
    await press(linkIn('ann', 'confirm'));
    expect(await contactOf('ann')).to.include({ subscribed: true });
    expect((await consentsOf('ann')).map(({ action }) => action)).to.deep.equal([
      'WITHDRAWN',
      'REQUESTED',
      'CONFIRMED',
    ]);
  });

  it('redirect as the form says', async () => {
    const redirects = { confirmed: 'https://shop.example/ok', declined: 'https://shop.example/no' };
    await createForm({ redirects });
    for (const name of ['ann', 'bob']) await subscribe(name);
    await work();
    const post = (path: string) => fetch(`${api.url}${path}`, { method: 'POST', redirect: 'manual' });
    const confirmed = await post(linkIn('ann', 'confirm'));
    expect([confirmed.status, confirmed.headers.get('location')]).to.deep.equal([303, redirects.confirmed]);
    const declined = await post(linkIn('bob', 'decline'));
    expect([declined.status, declined.headers.get('location')]).to.deep.equal([303, redirects.declined]);
    // A later visit leads there too.
    for (const [path, to] of [
      [linkIn('ann', 'confirm'), redirects.confirmed],
      [linkIn('bob', 'decline'), redirects.declined],
    ]) {
      const later = await fetch(`${api.url}${path}`, { redirect: 'manual' });
      expect([later.status, later.headers.get('location')]).to.deep.equal([303, to]);
    }
    // Who has confirmed cannot decline any more.
    const late = await post(linkIn('ann', 'decline'));
    expect([late.status, (await late.text()).includes('/manage/')]).to.deep.equal([200, true]);
    expect(await statuses()).to.deep.equal(['CONFIRMED', 'DECLINED']);
  });

  it('erase what a contact has submitted when it is deleted', async () => {
    await createForm();
    await subscribe('ann');
    await work();
    await press(linkIn('ann', 'confirm'));
    await project.server.delete(`/contacts/${(await contactOf('ann')).id}`);
    expect((await submissions())[0]).to.include({ email: null });
  });

  describe('of topics with doubleOptIn', () => {
    const confirmation = () => ({ from: `news@${project.senderDomain}` });
    const choose = async (name: string, body: object) => {
      const answer = await project.server.post('/contacts', { email: addressOf(name), ...body });
      expect(answer.status, JSON.stringify(answer.body)).to.be.below(300);
    };
    const stateOf = async (name: string) => {
      const { id } = await contactOf(name);
      return (await project.server.get(`/contacts/${id}/topics`)).body.data[0].state;
    };

    it('turn PENDING into SUBSCRIBED', async () => {
      await createTopic({ name: 'News', doubleOptIn: true, confirmation: confirmation() });
      await choose('ann', { topics: { news: 'SUBSCRIBED' } });
      expect(await stateOf('ann')).to.equal('PENDING');
      await work();
      expect(await press(linkIn('ann', 'confirm'))).to.have.status(200);
      expect(await stateOf('ann')).to.equal('SUBSCRIBED');
      expect((await consentsOf('ann')).map(({ action, method }) => [action, method])).to.deep.include.members([
        ['REQUESTED', 'API'],
        ['CONFIRMED', 'PAGE'],
      ]);
    });

    it('send none with SKIP, and leave the state as it was after expiry', async () => {
      await createTopic({ name: 'News', doubleOptIn: true, confirmation: confirmation() });
      const consent = { at: new Date(0).toISOString(), source: 'shop' };
      await choose('skip', { topics: { news: 'SUBSCRIBED' }, confirmation: 'SKIP', consent });
      expect(await stateOf('skip')).to.equal('SUBSCRIBED');
      await choose('ann', { topics: { news: 'UNSUBSCRIBED' } });
      await choose('ann', { topics: { news: 'SUBSCRIBED' } });
      await work();
      expect(mailsTo('skip')).to.deep.equal([]);
      const past = new Date(Date.now() - 1);
      await api.db('form_submissions').where({ projectId: project.id }).update({ expiresAt: past, dueAt: past });
      await timePasses();
      expect(await stateOf('ann')).to.equal('UNSUBSCRIBED');
      expect((await consentsOf('ann')).map(({ action }) => action)).to.deep.equal([
        'WITHDRAWN',
        'REQUESTED',
        'EXPIRED',
      ]);
    });

    it('ask the new mailbox after a change of the address', async () => {
      await createTopic({ name: 'News', doubleOptIn: true, confirmation: confirmation() });
      await choose('old', { topics: { news: 'SUBSCRIBED' } });
      await work();
      const { id } = await contactOf('old');
      await project.server.patch(`/contacts/${id}`, { email: addressOf('new') });
      await work();
      expect(await press(linkIn('old', 'confirm'))).to.have.status(410);
      expect(await stateOf('new')).to.equal('PENDING');
      await press(linkIn('new', 'confirm'));
      expect(await stateOf('new')).to.equal('SUBSCRIBED');
    });
  });
});
