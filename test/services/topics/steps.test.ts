import { expect } from 'chai';
import { Contact } from '../../../db/models/contact.ts';
import type { TemplateType } from '../../../db/models/template.ts';
import { updateContact } from '../../../services/contacts/save.ts';
import { createTemplate } from '../../../services/templates/save.ts';
import { changeContactTopics, readContactTopics } from '../../../services/topics/choices.ts';
import { createTopic, updateTopic } from '../../../services/topics/save.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { ExecutionDriver, insertWorkflow, type WorkflowSketch } from '../../support/executions.ts';

describe('steps with topics', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;
  let people = 0;

  before(async () => {
    database = await connectTestDatabase();
  });
  beforeEach(async () => {
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
  });
  after(() => database?.close());

  const topic = async (body: object): Promise<string> =>
    (await createTopic(database.db, project.access, { name: 'News', defaultState: 'SUBSCRIBED', ...body })).topic.id;
  const template = async (type: TemplateType, topicId?: string): Promise<string> => {
    const from = { email: `hello@${project.senderDomain}` };
    return (
      await createTemplate(database.db, project.access, { name: 't', subject: 's', body: 'b', type, from, topicId })
    ).id;
  };
  /** Runs one step for a new contact, after a change of the contact. */
  async function run(
    step: WorkflowSketch['steps'][string],
    prepare: (contactId: string) => Promise<unknown> = async () => {},
  ) {
    const email = `step${++people}@example.com`;
    const workflow = await insertWorkflow(database.db, project, { steps: { step } });
    const id = await driver.start(workflow, email);
    const { id: contactId } = (await Contact.query(database.db).findOne({ projectId: project.id, email })) ?? {
      id: '',
    };
    await prepare(contactId);
    await driver.advance(id);
    const [visited] = await driver.steps(id);
    return { contactId, visited, mail: await database.db('emails').where({ executionId: id }).first() };
  }
  const leave = (key: string) => (contactId: string) =>
    changeContactTopics(database.db, project.access, contactId, { topics: { [key]: 'UNSUBSCRIBED' } });

  it('SEND_EMAIL sends with the topic of the step, which wins over the template', async () => {
    const [own, other] = [await topic({ key: 'own' }), await topic({ key: 'other' })];
    const templateId = await template('MARKETING', other);
    const { visited, mail } = await run(['SEND_EMAIL', { templateId, topicId: own }], leave('other'));
    expect(visited).to.include({ status: 'COMPLETED' });
    expect(mail).to.include({ topicId: own, needsSubscription: true });
  });

  it('SEND_EMAIL is SKIPPED with the reason, and the execution continues', async () => {
    const topicId = await topic({ key: 'news' });
    const marketing = await template('MARKETING', topicId);
    const plain = await template('MARKETING');
    const snooze = (contactId: string) =>
      changeContactTopics(database.db, project.access, contactId, { snoozedUntil: new Date(Date.now() + 3_600_000) });
    const unsubscribe = (contactId: string) =>
      updateContact(database.db, project.access, contactId, { subscribed: false });
    const cases: [string, (contactId: string) => Promise<unknown>, string][] = [
      [marketing, leave('news'), 'topic unsubscribed'],
      [plain, snooze, 'snoozed'],
      [plain, unsubscribe, 'the contact is not subscribed, and the template is MARKETING'],
    ];
    for (const [templateId, prepare, reason] of cases) {
      const { visited, mail } = await run(['SEND_EMAIL', { templateId }], prepare);
      expect(visited).to.include({ status: 'SKIPPED' });
      expect(visited?.output).to.deep.equal({ reason });
      expect(mail).to.equal(undefined);
    }
    await updateTopic(database.db, project.access, topicId, { archived: true });
    const { visited } = await run(['SEND_EMAIL', { templateId: marketing }]);
    expect(visited?.output).to.deep.equal({ reason: 'topic archived' });
  });

  it('UPDATE_CONTACT changes topics, and fails for one that does not exist', async () => {
    await topic({ key: 'news' });
    const { contactId } = await run(['UPDATE_CONTACT', { topics: { news: 'UNSUBSCRIBED' } }]);
    const { topics } = await readContactTopics(database.db, project.id, contactId);
    expect(topics.map(({ key, state }) => [key, state])).to.deep.equal([['news', 'UNSUBSCRIBED']]);
    const records = await database.db('consents').where({ contactId }).select('action', 'method');
    expect(records).to.deep.equal([{ action: 'WITHDRAWN', method: 'WORKFLOW' }]);
    const { visited } = await run(['UPDATE_CONTACT', { topics: { other: 'SUBSCRIBED' } }]);
    expect(visited).to.include({ status: 'FAILED' });
    expect(visited?.error).to.contain('"other"');
  });
});
