import { expect } from 'chai';
import { type BulkResult, type ImportResult, Job } from '../../../db/models/job.ts';
import { cancelJob } from '../../../services/jobs/cancel.ts';
import { createBulkJob, createImport } from '../../../services/jobs/create.ts';
import { failJob, type IsOver, type JobProgress, runSlice } from '../../../services/jobs/run.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { storedContacts } from '../../support/rows/contacts.ts';
import { storedEvents } from '../../support/rows/events.ts';
import { storedJobErrors } from '../../support/rows/jobs.ts';
import { outboxMessages } from '../../support/rows/outbox.ts';
import { eventually } from '../../support/waiting.ts';

describe('a job on contacts', () => {
  let database: ConnectedDatabase;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());
  beforeEach(async () => {
    project = await makeProject(database.db);
  });

  const jobOf = (id: string) => Job.query(database.db).findById(id).throwIfNotFound();
  const contacts = () => storedContacts(database.db, { projectId: project.id });
  const begin = (text: string) => createImport(database.db, project.access, Buffer.from(text));
  const slice = (id: string, isOver: IsOver = () => false) => runSlice(database.db, id, isOver);

  async function imported(text: string): Promise<{ job: Job; result: ImportResult }> {
    const id = await begin(text);
    await slice(id);
    const job = await jobOf(id);
    return { job, result: job.result as ImportResult };
  }

  async function bulk(type: 'BULK_SUBSCRIBE' | 'BULK_UNSUBSCRIBE' | 'BULK_DELETE', ids: string[]) {
    const id = await createBulkJob(database.db, project.access, type, ids);
    await slice(id);
    const job = await jobOf(id);
    expect(job.status).to.equal('COMPLETED');
    return job.result as BulkResult;
  }

  it('is stored with its input and an outbox message before it starts', async () => {
    const id = await begin('email\na@example.com\n');
    expect(await jobOf(id)).to.include({ status: 'QUEUED', processed: 0, type: 'IMPORT' });
    const [message] = await outboxMessages(database.db, { workflowId: `job/${project.id}/${id}` });
    expect(message).to.include({ action: 'start', queue: 'starts' });
    expect(await contacts()).to.deep.equal([]);
  });

  it('imports rows as contacts with typed values, and counts the results', async () => {
    const { job, result } = await imported(
      'Email,First Name,age,vip,zip,subscribed,id\nA@Example.com,Ann,30,true,01234,false,x\nb@example.com,,,,,,\n',
    );
    expect(job).to.include({ status: 'COMPLETED', processed: 2, total: 2 });
    expect(result).to.deep.equal({ totalRows: 2, created: 2, updated: 0, unchanged: 0, failed: 0, errors: [] });
    const [ann, bob] = await contacts();
    expect(ann).to.include({ email: 'a@example.com', subscribed: false });
    expect(ann.data).to.deep.equal({ 'First Name': 'Ann', age: 30, vip: true, zip: '01234' });
    expect(bob).to.include({ email: 'b@example.com', subscribed: true });
    expect(bob.data).to.deep.equal({});
  });

  it('reports invalid rows with number and reason, and applies the others', async () => {
    const { result } = await imported(
      'email,subscribed\nnot an address,\n,\nok@example.com,maybe\nfine@example.com,1\n',
    );
    expect(result).to.include({ totalRows: 3, created: 1, failed: 2 });
    expect(result.errors).to.deep.equal([
      { row: 2, email: 'not an address', error: 'not a valid email address' },
      { row: 4, email: 'ok@example.com', error: '"subscribed" must be true or false' },
    ]);
  });

  it('uses the last row of an address, and counts every row', async () => {
    const { result } = await imported('email,plan\na@example.com,free\na@example.com,pro\nA@example.com,pro\n');
    expect(result).to.include({ totalRows: 3, created: 1, updated: 1, unchanged: 1, failed: 0 });
    expect((await contacts())[0].data).to.deep.equal({ plan: 'pro' });
  });

  it('counts an identical contact as unchanged, and keeps its subscription', async () => {
    await imported('email,plan,subscribed\na@example.com,pro,false\n');
    const { result } = await imported('email,plan\na@example.com,pro\n');
    expect(result).to.include({ created: 0, updated: 0, unchanged: 1 });
    expect((await contacts())[0]).to.include({ subscribed: false });
  });

  it('stores the first 1,000 errors and counts all', async () => {
    const { result } = await imported(`email\n${'x\n'.repeat(1_500)}`);
    expect(result.failed).to.equal(1_500);
    expect(result.errors).to.have.lengthOf(1_000);
    expect(result.errors.at(-1)).to.include({ row: 1_001 });
  });

  it('applies every row once when it is interrupted after every chunk', async () => {
    const rows = Array.from({ length: 2_500 }, (_, n) => `user${n}@example.com,${n}`);
    const id = await begin(`email,n\n${rows.join('\n')}\n`);
    const seen: JobProgress[] = [];
    for (let last: JobProgress | undefined; !last?.ended; seen.push(last)) last = await slice(id, () => true);
    expect(seen.map(({ processed }) => processed)).to.deep.equal([1_000, 2_000, 2_500]);
    const { result } = await jobOf(id);
    expect(result).to.include({ totalRows: 2_500, created: 2_500, updated: 0, unchanged: 0, failed: 0 });
    expect(await contacts()).to.have.lengthOf(2_500);
  });

  it('applies nothing twice when two workers run it at once', async () => {
    const rows = Array.from({ length: 3_000 }, (_, n) => `user${n}@example.com`);
    const id = await begin(`email\n${rows.join('\n')}\n`);
    await Promise.all([slice(id), slice(id), slice(id)]);
    while (!(await slice(id)).ended);
    expect((await jobOf(id)).result).to.include({ created: 3_000, updated: 0, unchanged: 0 });
  });

  it('applies no further chunk after it is cancelled, and keeps its counts', async () => {
    const rows = Array.from({ length: 2_000 }, (_, n) => `user${n}@example.com`);
    const id = await begin(`email\n${rows.join('\n')}\n`);
    await slice(id, () => true);
    const cancelled = await cancelJob(database.db, project.access, id);
    expect(cancelled).to.include({ status: 'CANCELLED', processed: 1_000 });
    expect((await slice(id)).ended).to.equal(true);
    expect(await contacts()).to.have.lengthOf(1_000);
    expect(await database.db('jobInputs').where({ jobId: id })).to.deep.equal([]);
    const again = await cancelJob(database.db, project.access, id).catch((error) => error);
    expect(again).to.include({ status: 409 });
  });

  it('stores the reason and ends when it fails', async () => {
    const id = await begin('email\na@example.com\n');
    await failJob(database.db, id, 'it broke');
    expect(await jobOf(id)).to.include({ status: 'FAILED', failedReason: 'it broke' });
    expect((await slice(id)).ended).to.equal(true);
    expect(await contacts()).to.deep.equal([]);
  });

  it('unsubscribes and subscribes in bulk, with one event per change', async () => {
    await imported('email,subscribed\na@example.com,true\nb@example.com,false\n');
    const ids: string[] = (await contacts()).map(({ id }) => id);
    const stranger = '01900000-0000-7000-8000-000000000000';
    const off = await bulk('BULK_UNSUBSCRIBE', [...ids, stranger, ...ids]);
    expect(off).to.deep.include({ requested: 5, changed: 1, unchanged: 3, failed: 1 });
    expect(off.errors).to.deep.equal([{ contactId: stranger, error: 'contact not found in this project' }]);
    expect(await bulk('BULK_SUBSCRIBE', ids)).to.include({ changed: 2, unchanged: 0, failed: 0 });
    const events = await storedEvents(database.db, { projectId: project.id }).select('name');
    expect(events.map(({ name }) => name)).to.deep.equal([
      'contact.unsubscribed',
      'contact.subscribed',
      'contact.subscribed',
    ]);
  });

  it('locks contacts in the order of their addresses, not of the request', async () => {
    await imported('email\na@example.com\nb@example.com\n');
    const [first, second] = (await contacts()).map((contact) => contact.id as string);
    const locker = await database.db.transaction();
    await locker('contacts').where({ id: first }).forUpdate();
    const done = bulk('BULK_UNSUBSCRIBE', [String(second), String(first)]);
    const waiting = `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%update_contact%'`;
    await eventually(async () => (await database.db.raw(waiting)).rows.length > 0);
    const unlocked = await database.db.transaction((trx) =>
      storedContacts(trx, { id: second }).forUpdate().skipLocked(),
    );
    expect(unlocked).to.have.lengthOf(1);
    await locker.commit();
    expect(await done).to.include({ changed: 2 });
  });

  it('erases the address in an import error when its contact is deleted, and keeps the other errors', async () => {
    await imported('email\nann@example.com\n');
    const { job } = await imported('email,subscribed\nbad,\nAnn@Example.com,maybe\nbob@example.com,maybe\n');
    const other = await makeProject(database.db);
    const foreign = await createImport(
      database.db,
      other.access,
      Buffer.from('email,subscribed\nann@example.com,maybe\n'),
    );
    await slice(foreign);
    const [ann] = await contacts();
    expect(await bulk('BULK_DELETE', [ann.id])).to.include({ changed: 1 });
    const { result } = await jobOf(job.id);
    expect(result.failed).to.equal(3);
    expect((result as ImportResult).errors.map(({ row, email }) => ({ row, email }))).to.deep.equal([
      { row: 2, email: 'bad' },
      { row: 3, email: null },
      { row: 4, email: 'bob@example.com' },
    ]);
    expect(((await jobOf(foreign)).result as ImportResult).errors[0]?.email).to.equal('ann@example.com');
  });

  it('erases a deleted address within the text of a rejected row, of suppressions too', async () => {
    await imported('email\nann@example.com\n');
    const file = 'email\n"Ann <Ann@Example.com>"\n"jo-ann@example.com;"\n"bob@example.com, ann@example.com."\n';
    const jobs = [
      await createImport(database.db, project.access, Buffer.from(file)),
      await createImport(database.db, project.access, Buffer.from(file), undefined, {}, 'SUPPRESSION_IMPORT'),
    ];
    for (const id of jobs) await slice(id);
    const [ann] = await contacts();
    expect(await bulk('BULK_DELETE', [ann.id])).to.include({ changed: 1 });
    for (const id of jobs) {
      const { errors } = (await jobOf(id)).result as ImportResult;
      expect(errors.map(({ email }) => email)).to.deep.equal([null, 'jo-ann@example.com;', null]);
      const stored = await storedJobErrors(database.db, id).orderBy('row');
      expect(stored.map(({ email }) => email)).to.deep.equal([null, 'jo-ann@example.com;', null]);
    }
  });

  it('deletes in bulk, and no contact of another project', async () => {
    await imported('email\na@example.com\nb@example.com\n');
    const ids: string[] = (await contacts()).map(({ id }) => id);
    const other = await makeProject(database.db);
    const mine = project;
    project = other;
    expect(await bulk('BULK_DELETE', ids)).to.include({ changed: 0, failed: 2 });
    project = mine;
    expect(await contacts()).to.have.lengthOf(2);
    expect(await bulk('BULK_DELETE', ids)).to.include({ changed: 2, failed: 0 });
    expect(await contacts()).to.deep.equal([]);
  });
});
