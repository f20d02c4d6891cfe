import { expect } from 'chai';
import { Contact } from '../../../db/models/contact.ts';
import { UNLIMITED } from '../../../platform/limits.ts';
import { aggregateContactCounts } from '../../../services/contacts/counts.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { ExecutionDriver, insertWorkflow } from '../../support/executions.ts';

describe('limits of executions', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project, { ...UNLIMITED, dataKeys: 3, customFields: 2 });
  });
  after(() => database.close());

  const dataOf = async (email: string) =>
    (await Contact.query(database.db).findOne({ projectId: project.id, email }))?.data;
  const updating = (data: object) =>
    insertWorkflow(database.db, project, { steps: { set: ['UPDATE_CONTACT', { data }], out: ['EXIT'] } });

  async function walked(data: object, email: string) {
    const id = await driver.start(await updating(data), email);
    await driver.advance(id);
    const [step] = await driver.steps(id);
    return { status: (await driver.execution(id)).status, error: step?.error ?? null };
  }

  it('fails an UPDATE_CONTACT step with too many keys, and changes nothing', async () => {
    const { status, error } = await walked({ a: 1, b: 2, c: 3, d: 4 }, 'keys@example.com');
    expect(status).to.equal('FAILED');
    expect(error).to.equal('"data" has more than 3 keys');
    expect(await dataOf('keys@example.com')).to.deep.equal({});
  });

  it('fails an UPDATE_CONTACT step whose new fields exceed the limit, and runs one with known fields', async () => {
    await driver.contact('known@example.com', { a: 1, b: 2 });
    await aggregateContactCounts(database.db);
    const refused = await walked({ a: 2, other: 1 }, 'fields@example.com');
    expect(refused.status).to.equal('FAILED');
    expect(refused.error).to.contain('new custom fields');
    expect(await dataOf('fields@example.com')).to.deep.equal({});
    expect(await walked({ a: 2, b: 3 }, 'fits@example.com')).to.deep.equal({ status: 'EXITED', error: null });
    expect(await dataOf('fits@example.com')).to.deep.equal({ a: 2, b: 3 });
  });

  it('fails a wait whose event would make the context larger than 128 KB', async () => {
    const workflow = await insertWorkflow(database.db, project, {
      steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'more' }], out: ['EXIT'] },
    });
    const id = await driver.start(workflow, 'wait@example.com', {
      before: 'x'.repeat(60_000),
      early: 'x'.repeat(60_000),
    });
    await driver.advance(id);
    await driver.track('wait@example.com', 'more', { later: 'x'.repeat(20_000) });
    await driver.advance(id);
    expect(await driver.execution(id)).to.include({ status: 'FAILED' });
    const [step] = await driver.steps(id);
    expect(step?.error).to.contain('128 KB');
  });
});
