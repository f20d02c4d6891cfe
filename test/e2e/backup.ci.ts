// `everpost backup` and `everpost restore` with the real `npm start`.
import { join } from 'node:path';
import { expect } from 'chai';
import { OneCommandStack } from '../support/one-command-stack.ts';
import { eventually } from '../support/waiting.ts';

describe('backup and restore of the one-command stack', function () {
  this.timeout(600_000);
  let stack: OneCommandStack;

  before(() => {
    stack = new OneCommandStack();
  });
  after(() => stack.end());

  const contacts = async () =>
    ((await stack.server.get('/contacts')).body.data as { email: string }[]).map(({ email }) => email).sort();

  it('brings back contacts and waiting executions as they were', async () => {
    await stack.start();
    const { body: workflow } = await stack.server.post('/workflows', { name: 'Wait', eventName: 'signed up' });
    const wait = { type: 'WAIT_FOR_EVENT', name: 'Wait', config: { eventName: 'bought' } };
    expect(await stack.server.post(`/workflows/${workflow.id}/steps`, wait)).to.have.status(201);
    expect(await stack.server.patch(`/workflows/${workflow.id}`, { enabled: true })).to.have.status(200);
    await stack.browser.post('/v1/track', { email: 'ann@example.com', event: 'signed up' });
    const status = async () => (await stack.server.get(`/workflows/${workflow.id}/executions`)).body.data[0]?.status;
    await eventually(async () => (await status()) === 'WAITING', { what: 'the execution waits' });
    const file = join(stack.folder, 'everpost.tar.gz');
    expect(() => stack.everpost('backup', file)).to.throw(/is running/);
    await stack.stop();
    expect(stack.everpost('backup', file)).to.contain('Saved postgres');

    await stack.start();
    await stack.server.post('/contacts', { email: 'later@example.com' });
    expect(await contacts()).to.deep.equal(['ann@example.com', 'later@example.com']);
    await stack.stop();
    expect(() => stack.everpost('restore', file)).to.throw(/--replace/);
    expect(stack.everpost('restore', file, '--replace')).to.contain('Restored postgres');

    await stack.start();
    expect(await contacts()).to.deep.equal(['ann@example.com']);
    await stack.browser.post('/v1/track', { email: 'ann@example.com', event: 'bought' });
    await eventually(async () => (await status()) === 'COMPLETED', { what: 'the end of the execution' });
  });
});
