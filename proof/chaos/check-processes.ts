import { createTemporal } from '../../temporal/connection.ts';
import { openRuns } from '../../temporal/open-runs.ts';
import { eventually } from '../../test/support/waiting.ts';
import type { CheckContext, CheckRow } from './check.ts';
import { processNames } from './plan.ts';

/** They run for as long as the installation exists. */
const PERMANENT = ['sender', 'webhookEndpoint', 'domain', 'reconciler', 'retention', 'segmentSweep', 'formTimer'];
/** Of a process with two hundred requests or mails in flight; the defaults of Node allow far more. */
const MEMORY_LIMIT = 768 * 1024 * 1024;

/** No Temporal workflow is open that belongs to nothing. */
export async function checkOpenWorkflows({ stack, db }: CheckContext): Promise<CheckRow> {
  const temporal = createTemporal({
    address: stack.temporalAddress,
    namespace: 'default',
    apiKey: undefined,
    tls: undefined,
  });
  try {
    let count = 0;
    let strays = [] as string[];
    let isListed = false;
    const areGone = async () => {
      count = 0;
      strays = [];
      isListed = false;
      for await (const page of openRuns(temporal).open()) {
        count += page.length;
        strays.push(
          ...page.filter(({ workflowType }) => !PERMANENT.includes(workflowType)).map(({ workflowId }) => workflowId),
        );
      }
      isListed = true;
      return strays.length === 0;
    };
    // The list of open workflows lags, and a workflow ends a moment after its row.
    await eventually(() => areGone().catch(() => false), { timeoutMs: 60_000 }).catch(() => {});
    const { rows } = await db.raw(`select count(*)::integer as parked from outbox where parked_at is not null`);
    const parked = rows[0].parked > 0 ? [`${rows[0].parked} parked messages`] : [];
    const violations = [...strays.map((id) => `${id} is open`), ...parked];
    // Each worker needs the sender's workflow, so an empty list says that Temporal has forgotten what runs.
    if (!isListed || count === 0) violations.push('Temporal does not list the open workflows');
    return { what: 'no stuck workflow', checked: `${count} open`, violations };
  } finally {
    await temporal.close();
  }
}

/** Memory stays bounded, and no process ends by itself. */
export async function checkProcesses({ stack }: CheckContext): Promise<CheckRow> {
  const violations: string[] = [];
  const peaks: string[] = [];
  let starts = 0;
  for (const name of processNames) {
    const { peakMemory, ownExits, starts: own } = stack.processes[name];
    const megabytes = Math.round(peakMemory / 1024 / 1024);
    peaks.push(`${name} ${megabytes} MB`);
    starts += own;
    if (peakMemory > MEMORY_LIMIT) violations.push(`${name} used ${megabytes} MB`);
    violations.push(...ownExits.map((exit) => `ended by itself: ${exit}`));
  }
  return { what: 'memory, exits', checked: `${starts} starts`, violations, note: peaks.join(', ') };
}
