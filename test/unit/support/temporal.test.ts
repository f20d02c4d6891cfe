import { Client, Connection } from '@temporalio/client';
import { expect } from 'chai';
import { devServer, ownDevServer, timeSkipping } from '../../support/temporal.ts';

async function withClient<T>(address: string, work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address, connectTimeout: 10_000 });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

const start = (client: Client, workflowId: string) =>
  client.workflow.start('nothing', { taskQueue: 'no-worker', workflowId, args: [] });
const statusOf = async (client: Client, workflowId: string) =>
  (await client.workflow.getHandle(workflowId).describe()).status.name;

describe('Temporal servers for tests', () => {
  it('share one dev server', async () => {
    const one = await devServer();
    const two = await devServer();
    expect(one.address).to.equal(two.address);
    await withClient(one.address, async (client) => {
      await start(client, 'shared');
      expect(await statusOf(client, 'shared')).to.equal('RUNNING');
    });
  });

  it('can be a separate dev server that keeps its data and address over a kill', async () => {
    const own = await ownDevServer();
    await withClient(own.address, (client) => start(client, 'kept'));
    await own.kill();
    expect(await withClient(own.address, async () => 'there').catch(() => 'unavailable')).to.equal('unavailable');
    await own.start();
    expect(await withClient(own.address, (client) => statusOf(client, 'kept'))).to.equal('RUNNING');
    await own.stop();
  });

  it('skip a month', async () => {
    const environment = await timeSkipping();
    try {
      const before = await environment.currentTimeMs();
      const realBefore = Date.now();
      await environment.sleep('30 days');
      const passed = (await environment.currentTimeMs()) - before;
      expect(passed).to.be.at.least(30 * 86_400_000);
      expect(passed - (Date.now() - realBefore), 'skipped').to.be.at.least(29 * 86_400_000);
    } finally {
      await environment.teardown();
    }
  });
});
