import { expect } from 'chai';
import { resealHeaders } from '../../../services/workflows/reseal-headers.ts';
import { openHeaders, sealHeaders } from '../../../services/workflows/sealed-headers.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { ExecutionDriver, insertWorkflow } from '../../support/executions.ts';
import { testKeys } from '../../support/keys.ts';
import { storedConfigs } from '../../support/rows/workflows.ts';

const NEW = 'the key that takes its place';

describe('sealed headers of webhooks', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
  });
  after(() => database.close());

  const config = { url: 'https://hooks.example.com/', headers: { 'X-Token': 'top secret {{ email }}' } };
  const stored = () => storedConfigs(database.db);
  /** A workflow with plain headers, as older versions stored them, and an execution with a pending request. */
  const plain = async (email: string) => {
    const workflow = await insertWorkflow(database.db, project, {
      steps: { call: ['WEBHOOK', config], out: ['EXIT'] },
    });
    const id = await driver.start(workflow, email);
    expect(await driver.advance(id)).to.deep.equal({ kind: 'webhook', visit: 1 });
    return { id, workflow };
  };
  const requestOf = async (id: string) => (await driver.steps(id))[0]?.request ?? {};

  it('work from a plain config, and leave no rendered value in the execution', async () => {
    const { id } = await plain('plain@example.com');
    const request = await requestOf(id);
    expect(JSON.stringify(request)).to.not.include('top secret');
    expect(openHeaders(testKeys, project.id, request)).to.deep.include({
      headers: { 'content-type': 'application/json', 'x-token': 'top secret plain@example.com' },
    });
  });

  it('are sealed once when they are stored plain, and still work', async () => {
    const { workflow } = await plain('before@example.com');
    expect(await stored()).to.include('top secret');
    expect(await resealHeaders(database.db, testKeys)).to.be.at.least(2);
    expect(await stored()).to.not.include('top secret');
    expect(await resealHeaders(database.db, testKeys)).to.equal(0);
    const id = await driver.start(workflow, 'after@example.com');
    await driver.advance(id);
    expect(openHeaders(testKeys, project.id, await requestOf(id))).to.have.nested.property(
      'headers.x-token',
      'top secret after@example.com',
    );
  });

  it('are resealed with the first key in steps, versions and pending requests', async () => {
    const { id } = await plain('rotated@example.com');
    await resealHeaders(database.db, testKeys);
    expect(await resealHeaders(database.db, [NEW, ...testKeys])).to.be.at.least(3);
    expect(await resealHeaders(database.db, [NEW, ...testKeys])).to.equal(0);
    expect(openHeaders([NEW], project.id, await requestOf(id))).to.have.nested.property('headers.x-token');
    // Headers that no key opens stay unchanged.
    const before = await stored();
    expect(await resealHeaders(database.db, ['quite another key'])).to.equal(0);
    expect(await stored()).to.equal(before);
  });

  it('fail the execution when no key opens them', async () => {
    const sealed = sealHeaders([NEW], project.id, config);
    const workflow = await insertWorkflow(database.db, project, {
      steps: { call: ['WEBHOOK', sealed], out: ['EXIT'] },
    });
    const id = await driver.start(workflow, 'lost@example.com');
    expect(await driver.advance(id)).to.include({ kind: 'end', status: 'FAILED' });
    expect((await driver.execution(id)).error).to.include('headers of the step cannot be decrypted');
  });

  it('do not open in another project', () => {
    const sealed = sealHeaders(testKeys, project.id, config);
    expect(() => openHeaders(testKeys, 'another project', sealed)).to.throw('moved from where it belongs');
  });
});
