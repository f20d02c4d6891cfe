import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { languages } from '../../platform/languages.ts';
import { MailLinks } from '../../services/emails/links.ts';
import { preferencesTexts } from '../../web/preferences-texts.ts';
import { subscriptionTexts } from '../../web/subscription-texts.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { filledIn, formsIn, formWith, loadPage, type SentPage, sendForm } from '../support/page-forms.ts';
import { changeProject, readEventsOfContact } from '../support/reading.ts';
import { addMailRows } from '../support/rows/mails.ts';

const KEY = 'a key of sixteen or more';
const texts = { ...subscriptionTexts.en, ...preferencesTexts.en };

interface Recipient {
  id: string;
  emailId: string;
  token: string;
}

describeApi('pages of a contact with topics', { env: { SECRET_KEY: KEY } }, (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const createTopic = async (body: object): Promise<string> => {
    const answer = await project.server.post('/topics', body);
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body.id;
  };
  /** A contact that was sent an email of the topic. */
  const recipient = async (topicId: string | null = null, body: object = {}): Promise<Recipient> => {
    const answer = await project.server.post('/contacts', { email: 'anna@example.com', ...body });
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    const { id } = answer.body;
    const emailId = newId();
    await addMailRows(api.db, { id: emailId, projectId: project.id, contactId: id, status: 'SENT', topicId });
    const links = new MailLinks({ baseUrl: '', secretKeys: [KEY] }).contactLinks({ contactId: id, emailId });
    return { id, emailId, token: links.manageUrl.split('/')[2] ?? '' };
  };
  const load = (path: string) => loadPage(api.url + path);
  const send = (form: Parameters<typeof sendForm>[1]) => sendForm(api.url, form);
  const press = async (page: SentPage, button: string): Promise<SentPage> => send(formWith(page.body, button));
  const oneClick = (path: string, init: RequestInit = {}) => fetch(api.url + path, { method: 'POST', ...init });
  const read = async (id: string) => (await project.server.get(`/contacts/${id}/topics`)).body;
  const states = async (id: string): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await read(id)).data.map(({ key, state }: { key: string; state: string }) => [key, state] as const),
    );
  const records = async (id: string) => (await project.server.get(`/contacts/${id}/consents`)).body.data;
  const choose = (id: string, body: object) => project.server.patch(`/contacts/${id}/topics`, body);
  const fieldsOf = (page: SentPage, name: string): string[] =>
    formsIn(page.body).flatMap(({ fields }) => fields.filter(([field]) => field === name).map(([, value]) => value));
  const shownKeys = (page: SentPage): string[] => fieldsOf(page, 'shown').map((shown) => shown.split(':')[0] ?? '');
  const save = (page: SentPage, changes: Record<string, string | string[]>) =>
    send(filledIn(formWith(page.body, texts.save), changes));

  describe('/manage/:token', () => {
    it('shows public topics and what the contact gets, has chosen or came from, notifications apart', async () => {
      await createTopic({ name: 'News', description: 'Once a week', consentText: 'Yes, send me news.' });
      await createTopic({ name: 'Insiders', visibility: 'PRIVATE' });
      const source = await createTopic({ name: 'Source', visibility: 'PRIVATE' });
      await createTopic({ name: 'Default', visibility: 'PRIVATE', defaultState: 'SUBSCRIBED' });
      await createTopic({ name: 'Left', visibility: 'PRIVATE' });
      await createTopic({ name: 'Orders', kind: 'NOTIFICATION' });
      const archived = await createTopic({ name: 'Old' });
      await project.server.patch(`/topics/${archived}`, { archived: true });
      const { id, token } = await recipient(source);
      await choose(id, { topics: { left: 'UNSUBSCRIBED' } });
      const page = await load(`/manage/${token}`);
      expect(page.status).to.equal(200);
      expect(shownKeys(page)).to.deep.equal(['news', 'source', 'default', 'left', 'orders']);
      expect(fieldsOf(page, 'topic')).to.deep.equal(['default', 'orders']);
      expect(page.body)
        .to.contain('Once a week')
        .and.contain('Yes, send me news.')
        .and.contain('an…@example.com')
        .and.not.contain('anna@');
      expect(page.body.indexOf(texts.notificationsHint)).to.be.within(
        page.body.indexOf('Left'),
        page.body.indexOf('Orders'),
      );
      expect(await records(id)).to.have.length(1);
    });

    it('hides private topics that the service left in the name of the contact', async () => {
      await createTopic({ name: 'News' });
      await createTopic({ name: 'Insiders', visibility: 'PRIVATE' });
      const { token } = await recipient(null, { topics: { news: 'SUBSCRIBED' }, consent: { source: 'Form' } });
      expect(shownKeys(await load(`/manage/${token}`))).to.deep.equal(['news']);
    });

    it('changes exactly what was touched, records the wording, and leaves topics that it did not show', async () => {
      const news = await createTopic({ name: 'News', description: 'Once a week', consentText: 'Send me news.' });
      await createTopic({ name: 'Offers', defaultState: 'SUBSCRIBED' });
      await createTopic({ name: 'Orders', kind: 'NOTIFICATION' });
      const { id, emailId, token } = await recipient();
      const page = await load(`/manage/${token}`);
      await createTopic({ name: 'Added since', defaultState: 'SUBSCRIBED' });
      await choose(id, { topics: { orders: 'UNSUBSCRIBED' } });
      const saved = await save(page, { topic: ['news', 'orders'] });
      expect(saved.body).to.contain(texts.saved).and.contain('role="status"');
      expect(await states(id)).to.deep.equal({
        news: 'SUBSCRIBED',
        offers: 'UNSUBSCRIBED',
        orders: 'UNSUBSCRIBED',
        'added-since': 'SUBSCRIBED',
      });
      const [, joined] = await records(id);
      expect(joined).to.deep.include({
        topicId: news,
        action: 'GRANTED',
        method: 'PAGE',
        text: 'News\nOnce a week\nSend me news.',
        emailId,
        locale: 'en',
        userAgent: 'node',
        pageUrl: 'http://app.test/manage',
        actor: null,
      });
      expect(joined.ip).to.match(/127\.0\.0\.1$/);
      expect(joined.requestId).to.be.a('string');
      const untouched = await save(await load(`/manage/${token}`), {});
      expect(untouched.body).to.contain(texts.unchanged).and.not.contain(texts.undo);
      expect(await records(id)).to.have.length(3);
    });

    it('makes a topic with double opt-in SUBSCRIBED at once: the mailbox is proven', async () => {
      await project.owner.patch(`/projects/${project.id}/pages`, { from: `hello@${project.senderDomain}` });
      await createTopic({ name: 'News', doubleOptIn: true });
      const { id, token } = await recipient();
      await choose(id, { topics: { news: 'SUBSCRIBED' } });
      const page = await load(`/manage/${token}`);
      expect(page.body).to.contain(texts.pending);
      await save(page, { topic: 'news' });
      expect(await states(id)).to.deep.equal({ news: 'SUBSCRIBED' });
      expect((await records(id))[0]).to.include({ action: 'CONFIRMED', method: 'PAGE' });
    });

    it('asks again where the texts of a joined topic have changed since the page was shown', async () => {
      const news = await createTopic({ name: 'News', consentText: 'Once a month.' });
      const { id, token } = await recipient();
      const page = await load(`/manage/${token}`);
      await project.server.patch(`/topics/${news}`, { consentText: 'Five times a day.' });
      const again = await save(page, { topic: 'news' });
      expect(again.body).to.contain(texts.changedMeanwhile).and.contain('Five times a day.');
      expect(await states(id)).to.deep.equal({ news: 'UNSUBSCRIBED' });
      await save(again, { topic: 'news' });
      expect((await records(id))[0].text).to.equal('News\nFive times a day.');
    });

    it('takes a break and limits the number of emails, and ends both', async () => {
      const { id, token } = await recipient();
      const page = await load(`/manage/${token}`);
      await save(page, { snooze: '1m', frequency: 'WEEK' });
      const { snoozedUntil, frequency } = await read(id);
      const days = (Date.parse(snoozedUntil) - Date.now()) / 86_400_000;
      expect(days).to.be.within(27, 32);
      expect(frequency).to.deep.equal({ count: 1, per: 'WEEK' });
      expect((await records(id))[0]).to.include({ action: 'SNOOZED', method: 'PAGE', text: 'Take a break: 1 month' });
      const paused = await load(`/manage/${token}`);
      expect(paused.body).to.contain(texts.oncePer.WEEK).and.contain(texts.endPause);
      await save(paused, { snooze: 'end', frequency: 'none' });
      expect(await read(id)).to.include({ snoozedUntil: null, frequency: null });
      for (const [snooze, least] of [
        ['2w', 13],
        ['3m', 88],
        ['6m', 180],
      ] as const) {
        await save(page, { snooze });
        expect((Date.parse((await read(id)).snoozedUntil) - Date.now()) / 86_400_000).to.be.within(least, least + 7);
      }
    });

    it('has one button for all email, which keeps choices and notifications, and subscribes a joined topic again', async () => {
      await createTopic({ name: 'News' });
      await createTopic({ name: 'Offers' });
      await createTopic({ name: 'Fresh' });
      await createTopic({ name: 'Orders', kind: 'NOTIFICATION' });
      const { id, token } = await recipient();
      await choose(id, { topics: { news: 'SUBSCRIBED', offers: 'UNSUBSCRIBED' } });
      const left = await press(await load(`/manage/${token}`), texts.unsubscribeAll);
      expect(left.body).to.contain(texts.unsubscribed);
      expect(await read(id)).to.include({ subscribed: false });
      expect(await states(id)).to.include({ news: 'SUBSCRIBED', orders: 'SUBSCRIBED' });
      const page = await load(`/manage/${token}`);
      expect(page.body).to.contain(texts.leftAll);
      await save(page, { topic: ['news', 'offers', 'orders'] });
      expect(await read(id)).to.include({ subscribed: true });
      expect(await states(id)).to.deep.equal({
        news: 'SUBSCRIBED',
        offers: 'SUBSCRIBED',
        fresh: 'UNSUBSCRIBED',
        orders: 'SUBSCRIBED',
      });
    });

    it('shows topics in the language of the contact, else as they were written', async () => {
      const translations = { de: { name: 'Neues', consentText: 'Ja, Neues.' }, 'pt-BR': { name: 'Novidades' } };
      await createTopic({ name: 'News', description: 'Weekly', translations });
      const { id, token } = await recipient(null, { data: { locale: 'de-AT' } });
      expect((await load(`/manage/${token}`)).body)
        .to.contain('Neues')
        .and.contain('Ja, Neues.')
        .and.contain('Weekly');
      await project.server.patch(`/contacts/${id}`, { data: { locale: 'pt_br' } });
      expect((await load(`/manage/${token}`)).body).to.contain('Novidades');
      await project.server.patch(`/contacts/${id}`, { data: { locale: 'fr' } });
      expect((await load(`/manage/${token}`)).body).to.contain('>News<');
      await changeProject(project, { language: 'de' });
      expect((await load(`/manage/${token}`)).body).to.contain('Neues');
    });
  });

  describe('/unsubscribe/:token of an email with a topic', () => {
    it('has two buttons, and a GET changes nothing', async () => {
      const news = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
      const { id, token } = await recipient(news);
      const page = await load(`/unsubscribe/${token}`);
      expect(formsIn(page.body).map(({ button }) => button)).to.deep.equal([
        'Unsubscribe from “News”',
        texts.unsubscribeAll,
      ]);
      const all = await load(`/unsubscribe/${token}?all=1`);
      expect(formsIn(all.body).map(({ button }) => button)).to.deep.equal([texts.unsubscribeAll]);
      expect(await records(id)).to.deep.equal([]);
      await press(page, 'Unsubscribe from “News”');
      expect(await read(id)).to.include({ subscribed: true });
      expect(await states(id)).to.deep.equal({ news: 'UNSUBSCRIBED' });
      const [record] = await records(id);
      expect(record).to.include({ action: 'WITHDRAWN', method: 'PAGE', topicId: news });
      expect(record.text).to.contain('Unsubscribe from “News”').and.not.contain('example.com');
      await press(page, texts.unsubscribeAll);
      expect(await read(id)).to.include({ subscribed: false });
    });

    for (const [what, init] of [
      ['the one click of RFC 8058', { body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }],
      ['no body', {}],
      ['a body that is no form', { body: '{"x":', headers: { 'content-type': 'application/json' } }],
      ['a body that is too long', { body: 'x'.repeat(200_000), headers: { 'content-type': 'text/plain' } }],
      [
        'a form with what cannot be stored',
        { body: 'a=%00&__proto__=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      ],
      ['a body in an unknown encoding', { body: 'x', headers: { 'content-encoding': 'br' } }],
    ] as [string, RequestInit][])
      it(`leaves the topic with ${what}`, async () => {
        const news = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
        const { id, emailId, token } = await recipient(news);
        const answer = await oneClick(`/unsubscribe/${token}`, init);
        expect(answer.status).to.equal(200);
        expect(await answer.text())
          .to.contain(texts.undo)
          .and.contain('an…@example.com');
        expect(await read(id)).to.include({ subscribed: true });
        expect(await states(id)).to.deep.equal({ news: 'UNSUBSCRIBED' });
        expect((await records(id))[0]).to.include({ action: 'WITHDRAWN', method: 'ONE_CLICK', emailId, text: null });
        const [event] = await readEventsOfContact(project, id);
        expect(event).to.include({ name: 'topic.news.unsubscribed' });
        expect(event.data).to.include({ method: 'ONE_CLICK', userAgentClass: 'SCRIPT', emailId });
      });

    it('leaves all email with all=1 in the address, in a form or in a multipart form', async () => {
      const news = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
      const { id, token } = await recipient(news);
      const parts = new FormData();
      parts.set('List-Unsubscribe', 'One-Click');
      parts.set('all', '1');
      for (const [path, init] of [
        ['?all=1', {}],
        ['?x=2&all=1', {}],
        ['', { body: new URLSearchParams({ all: '1' }) }],
        ['', { body: parts }],
      ] as [string, RequestInit][]) {
        await project.server.patch(`/contacts/${id}`, { subscribed: true });
        const answer = await oneClick(`/unsubscribe/${token}${path}`, init);
        expect(answer.status, path).to.equal(200);
        expect(await read(id), path).to.include({ subscribed: false });
      }
      expect(await states(id)).to.deep.equal({ news: 'SUBSCRIBED' });
    });

    it('leaves an archived topic, and all email where the topic is deleted or the email never had one', async () => {
      const old = await createTopic({ name: 'Old', defaultState: 'SUBSCRIBED' });
      const { id, token } = await recipient(old);
      await project.server.patch(`/topics/${old}`, { archived: true });
      await oneClick(`/unsubscribe/${token}`);
      expect(await read(id)).to.include({ subscribed: true });
      expect((await records(id))[0]).to.include({ topicId: old, action: 'WITHDRAWN' });
      expect((await load(`/subscribe/${token}`)).body).to.contain('no longer sends “Old”');
      expect((await send({ path: `/subscribe/${token}`, fields: [] })).status).to.equal(200);
      expect(await records(id)).to.have.length(1);
      expect(await project.server.delete(`/topics/${old}`)).to.have.status(204);
      await oneClick(`/unsubscribe/${token}`);
      expect(await read(id)).to.include({ subscribed: false });
      expect((await records(id))[0]).to.include({ topicId: null, action: 'WITHDRAWN', method: 'ONE_CLICK' });
    });
  });

  describe('/subscribe/:token of an email with a topic', () => {
    it('joins it again, with all email where that was left, and not the other topics', async () => {
      const news = await createTopic({ name: 'News', consentText: 'Send me news.' });
      await createTopic({ name: 'Offers', defaultState: 'SUBSCRIBED' });
      const { id, token } = await recipient(news, { subscribed: false });
      const page = await load(`/subscribe/${token}`);
      expect(page.body).to.contain('Send me news.');
      const joined = await press(page, 'Subscribe to “News”');
      expect(joined.body).to.contain(texts.subscribed);
      expect(await read(id)).to.include({ subscribed: true });
      expect(await states(id)).to.deep.equal({ news: 'SUBSCRIBED', offers: 'UNSUBSCRIBED' });
      const mine = (await records(id)).filter(({ method }: { method: string }) => method === 'PAGE');
      expect(
        mine.map(({ action, topicId }: { action: string; topicId: string }) => [action, topicId]),
      ).to.have.deep.members([
        ['GRANTED', news],
        ['GRANTED', null],
      ]);
      for (const { text } of mine) expect(text).to.contain('Send me news.');
    });
  });

  describe('Undo', () => {
    const undo = (page: SentPage) => press(page, texts.undo);

    it('restores everything that a change has changed', async () => {
      await createTopic({ name: 'News' });
      await createTopic({ name: 'Offers', defaultState: 'SUBSCRIBED' });
      await createTopic({ name: 'Orders', kind: 'NOTIFICATION' });
      const { id, token } = await recipient();
      const until = new Date(Date.now() + 86_400_000).toISOString();
      await choose(id, { topics: { offers: 'SUBSCRIBED' }, snoozedUntil: until, frequency: { count: 3, per: 'DAY' } });
      const before = await read(id);
      const page = await load(`/manage/${token}`);
      const saved = await save(page, { topic: 'news', snooze: '6m', frequency: 'MONTH' });
      expect(await states(id)).to.deep.equal({ news: 'SUBSCRIBED', offers: 'UNSUBSCRIBED', orders: 'UNSUBSCRIBED' });
      const undone = await undo(saved);
      expect(undone.body).to.contain(texts.undone);
      const after = await read(id);
      expect(await states(id)).to.deep.equal({ news: 'UNSUBSCRIBED', offers: 'SUBSCRIBED', orders: 'SUBSCRIBED' });
      expect({ ...after, data: [] }).to.deep.equal({ ...before, data: [] });
      const count = (await records(id)).length;
      expect((await undo(saved)).status).to.equal(200);
      expect(await records(id)).to.have.length(count);
    });

    it('brings back a snooze that leaving all email has ended', async () => {
      const { id, token } = await recipient();
      const snoozedUntil = new Date(Date.now() + 86_400_000).toISOString();
      await choose(id, { snoozedUntil });
      const left = await press(await load(`/manage/${token}`), texts.unsubscribeAll);
      expect(await read(id)).to.include({ subscribed: false, snoozedUntil: null });
      await undo(left);
      expect(await read(id)).to.include({ subscribed: true, snoozedUntil });
    });

    it('leaves alone what was changed again since, even to the same value', async () => {
      await createTopic({ name: 'News' });
      await createTopic({ name: 'Offers' });
      const { id, token } = await recipient();
      const saved = await save(await load(`/manage/${token}`), { topic: ['news', 'offers'] });
      await choose(id, { topics: { news: 'UNSUBSCRIBED' } });
      await choose(id, { topics: { news: 'SUBSCRIBED' } });
      await undo(saved);
      expect(await states(id)).to.deep.equal({ news: 'SUBSCRIBED', offers: 'UNSUBSCRIBED' });
      const left = await press(await load(`/manage/${token}`), texts.unsubscribeAll);
      await project.server.patch(`/contacts/${id}`, { subscribed: true });
      await project.server.patch(`/contacts/${id}`, { subscribed: false });
      await undo(left);
      expect(await read(id)).to.include({ subscribed: false });
    });

    it('works for 24 hours, and only on the page of the contact', async () => {
      const news = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
      const { id, token } = await recipient(news);
      const left = await press(await load(`/unsubscribe/${token}`), 'Unsubscribe from “News”');
      const form = formWith(left.body, texts.undo);
      const other = await recipient(news, { email: 'eve@example.com' });
      const foreign = await send({ ...form, path: `/manage/${other.token}` });
      expect(foreign.body).to.contain(texts.undoTooLate);
      expect((await send({ ...form, fields: [['undo', 'x']] })).body).to.contain(texts.undoTooLate);
      await api
        .db('pageChanges')
        .where({ contactId: id })
        .update({ at: new Date(Date.now() - 86_400_001) });
      expect((await send(form)).body).to.contain(texts.undoTooLate);
      expect(await states(id)).to.deep.equal({ news: 'UNSUBSCRIBED' });
      await api
        .db('pageChanges')
        .where({ contactId: id })
        .update({ at: new Date(Date.now() - 86_000_000) });
      expect((await send(form)).body).to.contain(texts.undone);
      expect(await states(id)).to.deep.equal({ news: 'SUBSCRIBED' });
    });
  });

  it('record a one click and an API subscription of the same moment in one order', async () => {
    const news = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
    const { id, token } = await recipient(news);
    for (let round = 0; round < 5; round++) {
      await choose(id, { topics: { news: round % 2 === 0 ? 'SUBSCRIBED' : 'UNSUBSCRIBED' } });
      const earlier = (await records(id)).length;
      await Promise.all([
        oneClick(`/unsubscribe/${token}`),
        choose(id, { topics: { news: 'SUBSCRIBED' } }),
        oneClick(`/unsubscribe/${token}`),
      ]);
      const [last, ...rest] = await records(id);
      const { news: state } = await states(id);
      expect(last.action).to.equal(state === 'SUBSCRIBED' ? 'GRANTED' : 'WITHDRAWN');
      expect(rest.length + 1).to.be.greaterThan(earlier);
      const all = [last, ...rest].map(({ action }) => action);
      for (const [n, action] of all.entries()) expect(action).not.to.equal(all[n + 1]);
    }
  });

  it('count who leaves the topic of a campaign through it, once, apart from who leaves all email', async () => {
    const topicId = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
    const from = `news@${project.senderDomain}`;
    const draft = { name: 'c', subject: 's', body: 'b', from, audienceType: 'ALL', topicId };
    const { body } = await project.server.post('/campaigns', draft);
    const campaignId = body.data.id;
    const { id, emailId, token } = await recipient();
    await api.db('emails').where({ id: emailId }).update({ campaignId });
    for (let n = 0; n < 2; n++) {
      await oneClick(`/unsubscribe/${token}`);
      await send({ path: `/subscribe/${token}`, fields: [] });
    }
    const stats = async () => (await project.server.get(`/campaigns/${campaignId}/stats`)).body;
    expect(await stats()).to.include({ topicUnsubscribedCount: 1, unsubscribedCount: 0 });
    await oneClick(`/unsubscribe/${token}?all=1`);
    expect(await stats()).to.include({ topicUnsubscribedCount: 1, unsubscribedCount: 1 });
    expect(await read(id)).to.include({ subscribed: false });
  });

  for (const language of languages)
    it(`are available in ${language}`, async () => {
      const own = { ...subscriptionTexts[language], ...preferencesTexts[language] };
      const news = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
      await createTopic({ name: 'Orders', kind: 'NOTIFICATION' });
      const { id, token } = await recipient(news, { data: { locale: language } });
      const page = await load(`/unsubscribe/${token}`);
      expect(page.body).to.contain(`<html lang="${language}">`);
      const left = await press(page, own.unsubscribeTopic.replace('{topic}', 'News'));
      const undone = await press(left, own.undo);
      await send(filledIn(formWith(undone.body, own.save), { topic: [], snooze: '3m' }));
      expect(await states(id)).to.deep.equal({ news: 'UNSUBSCRIBED', orders: 'UNSUBSCRIBED' });
      await press(await load(`/manage/${token}`), own.unsubscribeAll);
      const joined = await press(await load(`/subscribe/${token}`), own.subscribeTopic.replace('{topic}', 'News'));
      expect(joined.body).to.not.match(/\{\w+\}/);
      expect(await read(id)).to.include({ subscribed: true });
    });
});
