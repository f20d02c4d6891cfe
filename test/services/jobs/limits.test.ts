import { expect } from 'chai';
import { type ImportResult, Job } from '../../../db/models/job.ts';
import { type Limits, UNLIMITED } from '../../../platform/limits.ts';
import { aggregateContactCounts } from '../../../services/contacts/counts.ts';
import { saveContact } from '../../../services/contacts/save.ts';
import { cancelJob } from '../../../services/jobs/cancel.ts';
import { createBulkJob, createImport } from '../../../services/jobs/create.ts';
import { failJob, runSlice } from '../../../services/jobs/run.ts';
import { admitAllWaiting } from '../../../services/jobs/slots.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { outboxMessages } from '../../support/rows/outbox.ts';

const CONTACT = '018f0000-0000-7000-8000-000000000000';

describe('limits of jobs', () => {
  let database: ConnectedDatabase;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());
  beforeEach(async () => {
    project = await makeProject(database.db);
  });

  const limits = (given: Partial<Limits>): Limits => ({ ...UNLIMITED, ...given });
  const bulk = (given: Limits) => createBulkJob(database.db, project.access, 'BULK_SUBSCRIBE', [CONTACT], given);
  const started = async () => {
    const rows = await outboxMessages(database.db, { projectId: project.id, action: 'start' });
    return rows.map(({ workflowId }) => String(workflowId).split('/').at(-1));
  };
  const statuses = async () => {
    const jobs = await Job.query(database.db).where({ projectId: project.id }).orderBy('id');
    return jobs.map(({ status, admittedAt }) => `${status}${admittedAt ? '' : ' waiting'}`);
  };

  describe('running at once', () => {
    const two = limits({ runningJobs: 2 });

    it('starts as many jobs as there are slots, and the oldest waiting one when a slot becomes free', async () => {
      const ids = [];
      for (let n = 0; n < 4; n++) ids.push(await bulk(two));
      expect(await started()).to.deep.equal(ids.slice(0, 2));
      expect(await statuses()).to.deep.equal(['QUEUED', 'QUEUED', 'QUEUED waiting', 'QUEUED waiting']);
      await runSlice(database.db, ids[1] ?? '', () => false, two);
      expect(await started()).to.deep.equal(ids.slice(0, 3));
      await failJob(database.db, ids[0] ?? '', 'broken', two);
      expect(await started()).to.deep.equal(ids);
    });

    it('starts the next job when one is cancelled, and never a cancelled one', async () => {
      const ids = [];
      for (let n = 0; n < 4; n++) ids.push(await bulk(two));
      await cancelJob(database.db, project.access, ids[2] ?? '', two);
      expect(await outboxMessages(database.db, { projectId: project.id, action: 'cancel' })).to.deep.equal([]);
      await cancelJob(database.db, project.access, ids[0] ?? '', two);
      expect(await started()).to.deep.equal([ids[0], ids[1], ids[3]]);
      expect(await statuses()).to.deep.equal(['CANCELLED', 'QUEUED', 'CANCELLED waiting', 'QUEUED']);
    });

    it('never runs more jobs than slots when jobs are created and end concurrently', async () => {
      const ids = await Promise.all(Array.from({ length: 12 }, () => bulk(two)));
      expect(await started()).to.have.lengthOf(2);
      while ((await started()).length < ids.length) {
        const open = await Job.query(database.db)
          .where({ projectId: project.id, status: 'QUEUED' })
          .whereNotNull('admittedAt');
        expect(open).to.have.lengthOf(2);
        await Promise.all(open.map(({ id }) => runSlice(database.db, id, () => false, two)));
      }
      expect(new Set(await started())).to.deep.equal(new Set(ids));
    });

    it('starts waiting jobs after the limit is raised', async () => {
      for (let n = 0; n < 3; n++) await bulk(two);
      expect(await admitAllWaiting(database.db, two)).to.equal(0);
      expect(await admitAllWaiting(database.db, limits({ runningJobs: 3 }))).to.equal(1);
      expect(await started()).to.have.lengthOf(3);
    });

    it('starts a job while another project has no free slot', async () => {
      for (let n = 0; n < 3; n++) await bulk(two);
      project = await makeProject(database.db);
      await bulk(two);
      expect(await statuses()).to.deep.equal(['QUEUED']);
    });
  });

  it('rejects a job above the limit with 409, also when many are created concurrently', async () => {
    const three = limits({ openJobs: 3 });
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => bulk(three)));
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused.map(({ status, code }) => `${status} ${code}`)).to.deep.equal(Array(5).fill('409 CONFLICT'));
    const [first] = await Job.query(database.db).where({ projectId: project.id });
    await cancelJob(database.db, project.access, first?.id ?? '', three);
    await bulk(three);
    expect(await statuses()).to.have.lengthOf(4);
  });

  describe('an import', () => {
    const imported = async (text: string, given: Limits): Promise<ImportResult> => {
      const id = await createImport(database.db, project.access, Buffer.from(text), given);
      await runSlice(database.db, id, () => false, given);
      return (await Job.query(database.db).findById(id).throwIfNotFound()).result as ImportResult;
    };

    it('reports a row with too many keys as failed and applies the others', async () => {
      const result = await imported('email,a,b,c\nx@example.com,1,2,3\ny@example.com,1,,3\n', limits({ dataKeys: 2 }));
      expect(result).to.include({ created: 1, failed: 1 });
      expect(result.errors).to.deep.equal([{ row: 2, email: 'x@example.com', error: '"data" has more than 2 keys' }]);
    });

    it('reports rows with values in columns that do not fit as new fields', async () => {
      await saveContact(database.db, project.access, { email: 'old@example.com', data: { c: 1 } });
      await aggregateContactCounts(database.db);
      const text = 'email,a,b,c\nx@example.com,1,,3\ny@example.com,,2,\nz@example.com,,,\n';
      const result = await imported(text, limits({ customFields: 2 }));
      expect(result).to.include({ created: 2, failed: 1 });
      expect(result.errors).to.have.lengthOf(1);
      expect(result.errors[0]).to.include({ row: 3, email: 'y@example.com' });
      expect(result.errors[0]?.error).to.contain('new custom fields');
    });

    it('imports short rows below a header of 1,000 columns', async () => {
      const columns = Array.from({ length: 999 }, (_, n) => `c${n}`).join(',');
      const rows = Array.from({ length: 5_000 }, (_, n) => `u${n}@example.com`).join('\n');
      const result = await imported(`email,${columns}\n${rows}\n`, UNLIMITED);
      expect(result).to.include({ created: 5_000, failed: 0 });
    });
  });
});
