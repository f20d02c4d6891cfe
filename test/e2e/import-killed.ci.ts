import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { type ImportResult, Job } from '../../db/models/job.ts';
import { JOB_TIMEOUT, killMidway } from '../support/killed-job.ts';
import { storedContacts } from '../support/rows/contacts.ts';
import { replaceFirstChunk, storedJobInput } from '../support/rows/jobs.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

const ROWS = 30_000;

describe('killing the worker during an import', () => {
  let temporal: OwnNamespace;
  let stack: Stack;

  before(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  it('imports every row once', async () => {
    const emails = Array.from({ length: ROWS }, (_, n) => `user${String(n).padStart(5, '0')}@example.com`);
    const file = `email,n\n${emails.map((email, n) => `${email},${n}`).join('\n')}\n`;
    const form = new FormData();
    form.set('file', new Blob([file], { type: 'text/csv' }), 'contacts.csv');
    let worker = await stack.startWorker();
    const { status, body } = await stack.server.post('/contacts/import', form);
    expect(status).to.equal(202);
    const job = () => Job.query(stack.database.db).findById(body.jobId).throwIfNotFound();

    const { db } = stack.database;
    const { processed, status: midway } = await killMidway(db, body.jobId, worker, (found) => found.processed > 0);
    expect(midway).to.equal('RUNNING');
    expect(processed).to.be.greaterThan(0).and.lessThan(ROWS);

    worker = await stack.startWorker();
    await eventually(async () => (await job()).status === 'COMPLETED', {
      ...JOB_TIMEOUT,
      what: 'the end of the import',
    });
    const result = (await job()).result as ImportResult;
    expect(result).to.deep.equal({ totalRows: ROWS, created: ROWS, updated: 0, unchanged: 0, failed: 0, errors: [] });
    const contacts = await storedContacts(stack.database.db, { projectId: stack.project.id });
    expect(contacts.map(({ email, data }) => `${email},${data.n}`)).to.deep.equal(file.trimEnd().split('\n').slice(1));
    await worker.kill();
  });

  it('continues a large file by the part that it stopped in', async () => {
    const rows = 24_000;
    const padding = 'x'.repeat(400);
    const lines = Array.from({ length: rows }, (_, n) => `big${n}@example.com,"${n},\r\n${padding}"`);
    const form = new FormData();
    form.set('file', new Blob([`email,note\n${lines.join('\n')}\n`], { type: 'text/csv' }), 'contacts.csv');
    const { status, body } = await stack.server.post('/imports', form);
    expect(status).to.equal(202);
    const { db } = stack.database;
    const job = () => Job.query(db).findById(body.jobId).throwIfNotFound();
    const position = async (trx: Db) => Number((await storedJobInput(trx, body.jobId))?.position ?? 0);

    let worker = await stack.startWorker();
    const isInSecondPart = async (_job: Job, trx: Db) => (await position(trx)) > 1024 * 1024;
    expect(await killMidway(db, body.jobId, worker, isInSecondPart)).to.include({ status: 'RUNNING' });
    // What is processed is not needed again: only the header is left of the first part.
    await replaceFirstChunk(db, body.jobId, 'email,note\n');

    worker = await stack.startWorker();
    await eventually(async () => (await job()).status === 'COMPLETED', {
      ...JOB_TIMEOUT,
      what: 'the end of the import',
    });
    const result = (await job()).result as ImportResult;
    expect(result).to.deep.include({ totalRows: rows, created: rows, updated: 0, unchanged: 0, failed: 0 });
    const contacts = await storedContacts(db, { projectId: stack.project.id }).whereLike('email', 'big%');
    expect(contacts).to.have.lengthOf(rows);
    for (const { email, data } of contacts)
      expect(data.note).to.equal(`${email.slice(3, email.indexOf('@'))},\r\n${padding}`);
    await worker.kill();
  });

  it('starts the waiting jobs after the worker was killed between two jobs', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 8; n++) {
      const rows = Array.from({ length: 2_000 }, (_, row) => `wait${n}-${row}@example.com`);
      const form = new FormData();
      form.set('file', new Blob([`email\n${rows.join('\n')}\n`], { type: 'text/csv' }), 'contacts.csv');
      ids.push((await stack.server.post('/contacts/import', form)).body.jobId);
    }
    const jobs = () => Job.query(stack.database.db).whereIn('id', ids).orderBy('id');
    const completed = async () => (await jobs()).filter(({ status }) => status === 'COMPLETED').length;
    expect((await jobs()).filter(({ admittedAt }) => admittedAt === null)).to.have.lengthOf(3);

    const worker = await stack.startWorker();
    await eventually(async () => (await completed()) > 0, { ...JOB_TIMEOUT, what: 'the first completed job' });
    await worker.kill();
    await stack.startWorker();
    await eventually(
      async () => {
        const running = (await jobs()).filter(({ status }) => status === 'RUNNING');
        expect(running).to.have.length.of.at.most(5);
        return (await completed()) === ids.length;
      },
      { ...JOB_TIMEOUT, what: 'the end of all jobs' },
    );
    for (const { result } of await jobs()) expect(result).to.include({ created: 2_000, failed: 0 });
  });
});
