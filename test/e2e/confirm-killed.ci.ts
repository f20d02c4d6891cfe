import { expect } from 'chai';
import { MailLinks } from '../../services/emails/links.ts';
import { type ApiProject, client, createProjectWithClients } from '../support/api.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { decideSubmissions } from '../support/forms.ts';
import { type ServiceProcess, startApi } from '../support/processes.ts';
import { storedSubmissions } from '../support/rows/forms.ts';
import { connectionsOf } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

const KEY = 'a key of sixteen or more';
const PEOPLE = 100;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const KILLED = { code: null, signal: 'SIGKILL' };

describe('killing the API while submissions are confirmed', () => {
  let database: ConnectedDatabase;
  let api: ServiceProcess;
  let project: ApiProject;

  before(async () => {
    database = await connectTestDatabase(10);
  });
  afterEach(() => api.kill());
  after(() => database.close());

  const start = (env: Record<string, string> = {}) =>
    startApi({ DATABASE_URL: database.url, RATE_LIMIT_PER_MINUTE: '0', SECRET_KEY: KEY, ...env });
  /** Starts an API with a form with a topic, and returns the links of confirmations to so many people. */
  const confirmations = async (count: number): Promise<string[]> => {
    api = await start();
    project = await createProjectWithClients(database.db, api.url);
    const { body: topic } = await project.server.post('/topics', { name: 'News' });
    const from = `news@${project.senderDomain}`;
    const form = { name: 'Newsletter', from, topicIds: [topic.id], fields: [{ key: 'plan', label: 'Plan' }] };
    expect(await project.server.post('/forms', form)).to.have.status(201);
    for (let n = 0; n < count; n++) {
      const email = `p${n}-${project.id.slice(-8)}@example.com`;
      const submission = { form: 'newsletter', email, data: { plan: 'pro' } };
      expect(await project.server.post('/v1/subscribe', submission)).to.have.status(200);
    }
    await decideSubmissions(database.db);
    const links = new MailLinks({ baseUrl: '', secretKeys: [KEY] });
    const rows = await storedSubmissions(database.db, project.id);
    return rows.map(
      ({ id, lastEmailId }) => links.confirmationLinks({ submissionId: id, emailId: lastEmailId }).confirmUrl,
    );
  };
  const press = (link: string) => client(api.url, FORM).post(link, '');
  const ended = () =>
    eventually(async () => (await connectionsOf(database.db, 'everpost-api')).length === 0, {
      what: 'the end of its transactions',
    });
  /** How many rows there are of each table. */
  const written = async (): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const table of ['contacts', 'contactTopics', 'consents', 'events'])
      counts[table] = (await database.db(table).where({ projectId: project.id })).length;
    const rows = await storedSubmissions(database.db, project.id);
    return { ...counts, confirmed: rows.filter(({ status }) => status === 'CONFIRMED').length };
  };

  it('writes nothing before the commit, and the link still works', async () => {
    const [link = ''] = await confirmations(1);
    await api.kill();
    api = await start({ EVERPOST_FAULT_POINT: 'confirm-before-commit:1' });
    expect(await press(link).catch(() => 'no answer')).to.equal('no answer');
    expect(await api.exited).to.deep.equal(KILLED);
    await ended();
    expect(await written()).to.deep.equal({ contacts: 0, contactTopics: 0, consents: 0, events: 0, confirmed: 0 });

    api = await start();
    for (let n = 0; n < 2; n++) expect(await press(link)).to.have.status(200);
    const after = await written();
    expect(after).to.include({ contacts: 1, contactTopics: 1, confirmed: 1 });
    const events = await database.db('events').where({ projectId: project.id, name: 'form.newsletter.confirmed' });
    expect(events).to.have.length(1);
  });

  it('keeps every answered confirmation, each with its contact, records and event', async () => {
    const links = await confirmations(PEOPLE);
    const answered: string[] = [];
    const pressing = links.map(async (link) => {
      const answer = await press(link).catch(() => undefined);
      if (answer?.status === 200) answered.push(link);
    });
    await eventually(() => answered.length >= 10, { what: 'confirmations under way' });
    await api.kill();
    await Promise.all(pressing);
    await ended();
    expect(answered.length).to.be.lessThan(PEOPLE);
    const found = await written();
    const { confirmed = 0 } = found;
    expect(confirmed).to.be.at.least(answered.length);
    expect(found).to.include({ contacts: confirmed, contactTopics: confirmed });
    const events = await database.db('events').where({ projectId: project.id, name: 'form.newsletter.confirmed' });
    expect(events).to.have.length(confirmed);
    for (const action of ['REQUESTED', 'CONFIRMED']) {
      const consents = await database.db('consents').where({ projectId: project.id, action }).whereNotNull('topicId');
      expect(consents, action).to.have.length(confirmed);
    }
  });
});
