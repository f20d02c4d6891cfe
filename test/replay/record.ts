// Records golden histories from real runs: `node --import tsx test/replay/record.ts`.
// Record a new one (under a new name) when workflow code changes behind `patched()`; never replace an old one: it stands
// for the executions that were started before the change and are still open somewhere.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { createMailer } from '../../platform/mailer.ts';
import { DeliveryLedger } from '../../services/emails/delivery-ledger.ts';
import { carryOut } from '../../temporal/carry-out.ts';
import { mailDuty, workflowsDuty } from '../../worker/duties.ts';
import { TemporalWorkers } from '../../worker/temporal-workers.ts';
import { endAll } from '../support/cleanup.ts';
import { addBatch, addMails } from '../support/ledger.ts';
import { startSmtp } from '../support/smtp.ts';
import { ownNamespace, silent, temporalSettings } from '../support/temporal-work.ts';
import { makeProject, openWorld } from '../support/world.ts';

const folder = join(import.meta.dirname, 'histories');

async function record(name: string): Promise<void> {
  const [world, smtp, temporal] = [await openWorld(), await startSmtp(), await ownNamespace()];
  const mailer = createMailer({ url: smtp.url, maxConnections: 3 });
  const deps = { db: world.db, mailer, ledger: new DeliveryLedger(world.db), stopping: new AbortController().signal };
  const workers = new TemporalWorkers({
    settings: temporalSettings(temporal.address, temporal.namespace),
    temporal,
    duties: [await workflowsDuty(), mailDuty(deps)],
    log: silent,
  });
  const batchId = await addBatch(world.db);
  await addMails(world.db, 3, { project: (await makeProject(world.db)).id, batchId });
  const workflowId = `delivery/${batchId}`;
  await carryOut(temporal, {
    action: 'start',
    workflowType: 'delivery',
    workflowId,
    args: [{ batchId }],
    resourceId: batchId,
  });
  const handle = temporal.client.workflow.getHandle(workflowId);
  console.log(name, await handle.result());
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${historyToJSON(await handle.fetchHistory())}\n`);
  await workers.stop();
  mailer.close(true);
  await Promise.all([smtp.close(), world.close(), temporal.close()]);
}

record(process.argv[2] ?? 'delivery-1')
  .finally(endAll)
  .then(
    () => process.exit(0),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
