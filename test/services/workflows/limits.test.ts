import { expect } from 'chai';
import { Contact } from '../../../db/models/contact.ts';
import { UNLIMITED } from '../../../platform/limits.ts';
import { aggregateContactCounts } from '../../../services/contacts/counts.ts';
import { draw, ExecutionDriver } from '../../support/executions.ts';
import { makeProject, openWorld, type TestProject, type World } from '../../support/world.ts';

describe('limits of executions', () => {
  let world: World;
  let project: TestProject;
  let walker: ExecutionDriver;

  before(async () => {
    world = await openWorld();
    project = await makeProject(world.db);
    walker = new ExecutionDriver(world.db, project, { ...UNLIMITED, dataKeys: 3, customFields: 2 });
  });
  after(() => world.close());

  const dataOf = async (email: string) =>
    (await Contact.query(world.db).findOne({ projectId: project.id, email }))?.data;
  const updating = (data: object) =>
    draw(world.db, project, { steps: { set: ['UPDATE_CONTACT', { data }], out: ['EXIT'] } });

  async function walked(data: object, email: string) {
    const id = await walker.start(await updating(data), email);
    await walker.advance(id);
    const [step] = await walker.steps(id);
    return { status: (await walker.execution(id)).status, error: step?.error ?? null };
  }

  it('fails an UPDATE_CONTACT step with too many keys, and changes nothing', async () => {
    const { status, error } = await walked({ a: 1, b: 2, c: 3, d: 4 }, 'keys@example.com');
    expect(status).to.equal('FAILED');
    expect(error).to.equal('"data" has more than 3 keys');
    expect(await dataOf('keys@example.com')).to.deep.equal({});
  });

  it('fails an UPDATE_CONTACT step whose new fields exceed the limit, and runs one with known fields', async () => {
    await walker.contact('known@example.com', { a: 1, b: 2 });
    await aggregateContactCounts(world.db);
    const refused = await walked({ a: 2, other: 1 }, 'fields@example.com');
    expect(refused.status).to.equal('FAILED');
    expect(refused.error).to.contain('new custom fields');
    expect(await dataOf('fields@example.com')).to.deep.equal({});
    expect(await walked({ a: 2, b: 3 }, 'fits@example.com')).to.deep.equal({ status: 'EXITED', error: null });
    expect(await dataOf('fits@example.com')).to.deep.equal({ a: 2, b: 3 });
  });

  it('fails a wait whose event would make the context larger than 128 KB', async () => {
    const workflow = await draw(world.db, project, {
      steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'more' }], out: ['EXIT'] },
    });
    const id = await walker.start(workflow, 'wait@example.com', {
      before: 'x'.repeat(60_000),
      early: 'x'.repeat(60_000),
    });
    await walker.advance(id);
    await walker.track('wait@example.com', 'more', { later: 'x'.repeat(20_000) });
    await walker.advance(id);
    expect(await walker.execution(id)).to.include({ status: 'FAILED' });
    const [step] = await walker.steps(id);
    expect(step?.error).to.contain('128 KB');
  });
});
