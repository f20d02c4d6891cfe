import { expect } from 'chai';
import { previewSegment } from '../../../services/segments/preview.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../../support/connected-database.ts';
import { addContactSeries } from '../../support/rows/contacts.ts';
import { tree } from './support.ts';

describe('the preview of a condition', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());

  it('projects the number from a sample when counting takes too long', async () => {
    const project = await makeProject(database.db);
    const data = `jsonb_build_object('plan', case n % 2 when 0 then 'pro' else 'free' end)`;
    await addContactSeries(database.db, project.id, 20_000, { prefix: 'u', data });
    // Two hundred searches in twenty thousand contacts take longer than a millisecond.
    const filters = Array.from({ length: 199 }, (_, n) => ({
      field: 'email',
      operator: 'notContains',
      value: `z${n}`,
    }));
    const condition = tree({ field: 'data.plan', operator: 'contains', value: 'pro' }, ...filters);
    const times = { countMs: 1, sampleMs: 60_000 };
    const { count, estimated, sample } = await previewSegment(database.db, project.id, condition, times);
    expect(estimated).to.equal(true);
    expect(count).to.be.within(9_000, 11_000);
    expect(sample).to.have.lengthOf(10);
    for (const { data } of sample) expect(data.plan).to.equal('pro');
  });
});
