import { expect } from 'chai';
import { languages } from '../../platform/languages.ts';
import { sendPreferenceLinks } from '../../services/forms/preferences-link.ts';
import { preferencesRequestTexts } from '../../web/preferences-request-texts.ts';
import type { ApiProject, TestApi } from '../support/api.ts';
import type { CampaignWorker } from '../support/campaigns.ts';
import { formsIn, loadPage, type SentPage } from '../support/page-forms.ts';
import { blockProject } from '../support/rows/projects.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import { statementsAbout } from '../support/sent-statements.ts';
import type { SmtpStandIn } from '../support/smtp.ts';

const LIMITS = { forms: { confirmationsPerAddressPerDay: 3, submissionsPerIpPerHour: 20 } };
const texts = preferencesRequestTexts.en;

describe('the page of /preferences', () => {
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
    await api.db('authAttempts').del();
    smtp.mails.length = 0;
    project = await projectWithSender();
  });

  const projectWithSender = async (): Promise<ApiProject> => {
    const made = await api.project();
    const answer = await made.owner.patch(`/projects/${made.id}/pages`, {
      from: `hello@${made.senderDomain}`,
      senderName: 'Acme',
    });
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
    return made;
  };
  const address = (name: string) => `${name}-${project.id.slice(-8)}@example.com`;
  const addContact = (name: string, body: object = {}, to = project) =>
    to.server.post('/contacts', { email: address(name), ...body });
  const path = (of = project) => `/preferences/${of.id}`;
  const ask = async (email: string, of = project): Promise<SentPage> => {
    const response = await fetch(api.url + path(of), { method: 'POST', body: new URLSearchParams({ email }) });
    return { status: response.status, body: await response.text(), headers: response.headers };
  };
  /** How many emails to this address were accepted and sent. */
  const mailsTo = async (name: string): Promise<number> => {
    await sendPreferenceLinks(api.db, LIMITS);
    await worker.send();
    return smtp.mailsTo(address(name)).length;
  };
  const withoutNonce = ({ body }: SentPage) => body.replace(/nonce="[^"]*"/, '');

  it('mails the link to a contact, in its language, and to nobody else, with the same answer', async () => {
    await addContact('ann', { data: { locale: 'de' } });
    await addContact('sue', {});
    const suppressed = await project.server.post('/suppressions', { email: address('sue') });
    expect(suppressed.status).to.be.oneOf([200, 201]);
    const page = await loadPage(api.url + path());
    expect(page.status).to.equal(200);
    const [form] = formsIn(page.body);
    expect(form).to.deep.include({ button: texts.send });
    const answers = [];
    for (const name of ['ann', 'eve', 'sue']) answers.push(await ask(` ${address(name).toUpperCase()} `));
    for (const answer of answers) {
      expect(answer.status).to.equal(200);
      expect(withoutNonce(answer)).to.equal(withoutNonce(answers[0] as SentPage));
      expect(answer.body).to.contain(texts.sentTitle);
    }
    expect(await mailsTo('ann')).to.equal(1);
    expect(smtp.mails).to.have.length(1);
    const mail = await smtp.mailsTo(address('ann'))[0]?.parsed();
    expect(mail?.subject).to.equal('Ihre E-Mail-Einstellungen: Acme');
    expect(mail?.from).to.deep.include({ address: `hello@${project.senderDomain}`, name: 'Acme' });
    expect(mail?.headers.find(({ key }) => key === 'auto-submitted')?.value).to.equal('auto-generated');
    const link = /http:\/\/[^\s"]+(\/manage\/[\w-]+)/.exec(mail?.html ?? '')?.[1] ?? '';
    const manage = await loadPage(api.url + link);
    expect(manage.status).to.equal(200);
    expect(manage.body).to.contain('lang="de"');
    expect(await api.db('preferenceRequests').where({ projectId: project.id })).to.deep.equal([]);
  });

  it('asks Postgres the same for every address, so that the time of the answer says nothing either', async () => {
    await addContact('ann');
    await project.server.post('/suppressions', { email: address('sue'), reason: 'MANUAL' });
    const askFor = async (name: string) => expect((await ask(address(name))).status).to.equal(200);
    const unknown = await statementsAbout(project.id, () => askFor('eve'));
    expect(unknown).not.to.deep.equal([]);
    for (const name of ['ann', 'sue', 'eve'])
      expect(await statementsAbout(project.id, () => askFor(name)), name).to.deep.equal(unknown);
  });

  it('mails an address once an hour, and within the limit of confirmations over all projects', async () => {
    await addContact('ann');
    for (let n = 0; n < 3; n++) await ask(address('ann'));
    expect(await mailsTo('ann')).to.equal(1);
    for (let n = 0; n < 3; n++) {
      const other = await projectWithSender();
      await addContact('ann', {}, other);
      await ask(address('ann'), other);
    }
    expect(await mailsTo('ann')).to.equal(3);
  });

  it('answers 429 above the limit of a client, for every address alike, and stores nothing', async () => {
    await addContact('ann');
    for (let n = 0; n < 20; n++) expect((await ask(address(`x${n}`))).status).to.equal(200);
    for (const name of ['ann', 'eve']) {
      const answer = await ask(address(name));
      expect(answer.status).to.equal(429);
      expect(answer.body).to.contain(texts.tooMany);
      expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 3_600);
    }
    expect(await mailsTo('ann')).to.equal(0);
  });

  it('shows what is wrong with an address, 404 without a sender or project, and mails nothing of a disabled project', async () => {
    for (const bad of ['', 'nobody', 'a@b@c', `${'x'.repeat(70)}@example.com`]) {
      const answer = await ask(bad);
      expect(answer.status, bad).to.equal(422);
      expect(answer.body).to.contain(texts.badAddress).and.contain('role="alert"');
    }
    const bare = await api.project();
    for (const unknown of [path(bare), '/preferences/none', '/preferences/0195f1f0-0000-7000-8000-000000000000'])
      for (const method of ['GET', 'POST'])
        expect((await fetch(api.url + unknown, { method })).status, unknown).to.equal(404);
    await addContact('ann');
    await blockProject(api.db, project.id);
    expect((await ask(address('ann'))).status).to.equal(200);
    expect(await mailsTo('ann')).to.equal(0);
  });

  for (const language of languages)
    it(`is available in ${language}`, async () => {
      const own = preferencesRequestTexts[language];
      const page = await loadPage(api.url + path(), { 'accept-language': `${language}-XX` });
      expect(page.body).to.contain(`<html lang="${language}">`).and.contain(`>${own.send}<`);
    });
});
