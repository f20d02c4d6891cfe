// Found by `npm run proof -- --seed 2 --minutes 8 --only chaos`: a wait that began while the clock of a worker was an hour
// ahead ended an hour late.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { root } from '../../dev/root.ts';
import { client } from '../support/api.ts';
import { runDirectory } from '../support/cleanup.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable } from '../support/workflow-building.ts';

const HOUR_MS = 3_600_000;
const preload = pathToFileURL(join(root, 'proof/clock-preload.mjs')).href;

describe('a worker whose clock is wrong', () => {
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

  for (const [what, offset] of [
    ['ahead', HOUR_MS],
    ['behind', -HOUR_MS],
  ] as const)
    it(`ends waits by the time of Postgres when it is an hour ${what}`, async () => {
      const file = join(runDirectory(), `clock-${what}`);
      writeFileSync(file, String(offset));
      const { project, server } = stack;
      const api = { ...project, server } as never;
      const { id } = await build(
        api,
        {
          steps: {
            rest: { type: 'DELAY', config: { amount: 1, unit: 'seconds' } },
            wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought', timeout: 1 } },
            long: { type: 'DELAY', config: { amount: 10, unit: 'minutes' } },
          },
          transitions: [
            ['rest', 'wait'],
            ['wait', 'long'],
          ],
        },
        { eventName: `joined ${what}` },
      );
      await enable(api, id);
      const worker = await stack.startWorker({ NODE_OPTIONS: `--import ${preload}`, PROOF_CLOCK_FILE: file });
      const browser = client(stack.api.url, { authorization: `Bearer ${project.publicKey}` });
      const email = `${what}@example.com`;
      expect(await browser.post('/v1/track', { email, event: `joined ${what}` })).to.have.status(200);
      const { db } = stack.database;
      const atLong = async () => {
        const execution = await db('executions').where({ workflowId: id, status: 'WAITING', visit: 3 }).first();
        return execution as { wakeAt: Date } | undefined;
      };
      const { wakeAt } = await eventually(atLong, { what: 'the end of both waits' });
      expect(wakeAt.getTime() - Date.now()).to.be.within(8 * 60_000, 10 * 60_000);
      await worker.kill();
    });
});
