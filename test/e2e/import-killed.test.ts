import { expect } from 'chai';
import type { ImportResult } from '../../db/models/job.ts';
import { Job } from '../../db/models/job.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

const ROWS = 30_000;
const PATIENCE = { timeoutMs: 150_000 };

describe('killing the worker in the middle of an import', function () {
  this.timeout(300_000);
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

  it('leaves a table that is the file, with every row applied once', async () => {
    const emails = Array.from({ length: ROWS }, (_, n) => `user${String(n).padStart(5, '0')}@example.com`);
    const file = `email,n\n${emails.map((email, n) => `${email},${n}`).join('\n')}\n`;
    const form = new FormData();
    form.set('file', new Blob([file], { type: 'text/csv' }), 'contacts.csv');
    const worker = await stack.startWorker();
    const { status, body } = await stack.server.post('/contacts/import', form);
    expect(status).to.equal(202);
    const job = () => Job.query(stack.world.db).findById(body.jobId).throwIfNotFound();

    await eventually(async () => (await job()).processed > 0, { ...PATIENCE, what: 'the first chunk' });
    await worker.kill();
    const { processed, status: midway } = await job();
    expect(midway).to.equal('RUNNING');
    expect(processed).to.be.greaterThan(0).and.lessThan(ROWS);

    await stack.startWorker();
    await eventually(async () => (await job()).status === 'COMPLETED', { ...PATIENCE, what: 'the end of the import' });
    const result = (await job()).result as ImportResult;
    expect(result).to.deep.equal({ totalRows: ROWS, created: ROWS, updated: 0, unchanged: 0, failed: 0, errors: [] });
    const contacts = await stack.world.db('contacts').where({ projectId: stack.project.id }).orderBy('email');
    expect(contacts.map(({ email, data }) => `${email},${data.n}`)).to.deep.equal(file.trimEnd().split('\n').slice(1));
  });
});
