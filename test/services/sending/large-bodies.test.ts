import { expect } from 'chai';
import { sendCampaign } from '../../../services/campaigns/send.ts';
import { type ApiProject, startTestApi, type TestApi } from '../../support/api.ts';
import { addContacts, campaignWorker } from '../../support/campaigns.ts';
import { ExecutionDriver, insertWorkflow } from '../../support/executions.ts';
import { type TestSender, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';

const ROW = '<tr><td style="padding: 4px">Nine hundred lines of text, one of which you are reading.</td></tr>\n';
const END = '<p id="end">Hello {{ name }}</p>';
const body = `<table>\n${ROW.repeat(Math.floor(4_900_000 / ROW.length))}</table>${END}`;
const LARGE = 5_242_880;

describe('bodies of 4.9 MB', () => {
  let api: TestApi;
  let project: ApiProject;
  let smtp: SmtpStandIn;
  let sending: TestSender;

  before(async () => {
    api = await startTestApi();
    project = await api.project();
    smtp = await startSmtp();
    sending = testSender(api.databaseUrl, { url: smtp.url, connections: 2 });
  });
  after(async () => {
    await sending.close();
    await smtp.close();
    await api.stop();
  });
  beforeEach(() => {
    smtp.mails.length = 0;
  });

  const template = () => ({
    name: 'Large',
    subject: 'Large',
    body,
    type: 'TRANSACTIONAL',
    from: `a@${project.senderDomain}`,
  });
  const campaign = () => ({
    name: 'Large',
    subject: 'Large',
    body,
    from: `a@${project.senderDomain}`,
    audienceType: 'ALL',
  });

  async function expectWhole(name: string): Promise<void> {
    expect(smtp.mails).to.have.lengthOf(1);
    const mail = await smtp.mails[0]?.parsed();
    expect(mail?.html).to.have.length.above(4_800_000);
    expect(mail?.html).to.contain(`<p id="end">Hello ${name}</p>`);
    expect(mail?.text).to.contain('Nine hundred lines');
  }

  it('are stored in a template, returned, and sent by /v1/send', async () => {
    const saved = await project.server.post('/templates', template());
    expect(saved).to.have.status(201);
    const shown = await project.server.get(`/templates/${saved.body.id}`);
    expect(shown.body.body).to.have.lengthOf(body.length);
    expect(await project.server.patch(`/templates/${saved.body.id}`, { body: `${body} ` })).to.have.status(200);
    const mail = { to: 'large@example.com', template: saved.body.id, data: { name: 'Ann' } };
    expect(await project.server.post('/v1/send', mail)).to.have.status(200);
    await sending.send();
    await expectWhole('Ann');
  });

  it('are sent by a SEND_EMAIL step', async () => {
    const { body: saved } = await project.server.post('/templates', template());
    const driver = new ExecutionDriver(api.db, project);
    const workflow = await insertWorkflow(api.db, project, {
      steps: { send: ['SEND_EMAIL', { templateId: saved.id }] },
    });
    await driver.contact('step@example.com', { name: 'Bob' });
    const id = await driver.start(workflow, 'step@example.com');
    await driver.advance(id);
    expect(await driver.visits(id)).to.deep.equal(['send: COMPLETED']);
    await sending.send();
    await expectWhole('Bob');
  });

  it('are stored in a campaign, replaced, and sent', async () => {
    const other = await api.project();
    const whole = { ...campaign(), from: `a@${other.senderDomain}` };
    const created = await other.server.post('/campaigns', whole);
    expect(created).to.have.status(200);
    const { id } = created.body.data;
    expect(await other.server.put(`/campaigns/${id}`, whole)).to.have.status(200);
    await addContacts(api.db, other, 1);
    await sendCampaign(api.db, other.access, id, undefined);
    const worker = campaignWorker({ db: api.db, url: api.databaseUrl }, smtp.url);
    await worker.run(id);
    await worker.close();
    await expectWhole('Name 0');
  });

  it('are rejected with 413 in a list of more than 64 MB', async () => {
    const other = await api.project();
    const { body: first } = await other.server.post('/templates', { ...template(), from: `a@${other.senderDomain}` });
    for (let copy = 0; copy < 13; copy++)
      expect(await other.server.post(`/templates/${first.id}/duplicate`)).to.have.status(201);
    const answer = await other.server.get('/templates');
    expect(answer).to.have.status(413);
    expect(answer.body.error.code).to.equal('PAYLOAD_TOO_LARGE');
    const page = await other.server.get('/templates?pageSize=2&page=7');
    expect(page).to.have.status(200);
    expect(page.body.data).to.have.lengthOf(2);
  });

  it('are rejected with 413 above 5 MB for templates and campaigns, and above 1 MiB elsewhere', async () => {
    const tooLarge = 'x'.repeat(LARGE);
    for (const [path, given] of [
      ['/templates', { ...template(), body: tooLarge }],
      ['/campaigns', { ...campaign(), body: tooLarge }],
      ['/segments', { name: 'x'.repeat(1_048_576) }],
    ] as const) {
      const answer = await project.server.post(path, given);
      expect(answer, path).to.have.status(413);
      expect(answer.body.error.code, path).to.equal('PAYLOAD_TOO_LARGE');
    }
  });
});
