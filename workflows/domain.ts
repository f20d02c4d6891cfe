import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { DomainActivities } from '../activities/domains.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { checkDomainNow } from './signals.ts';
import { timings } from './timings.ts';

export interface DomainInput {
  domainId: string;
  generation: number;
  /** Time until the next check, when this run continues an earlier one. */
  restSeconds?: number;
}

const { checkDomain } = proxyActivities<DomainActivities>({
  taskQueue: 'everpost-domains' satisfies TaskQueues['domains'],
  startToCloseTimeout: timings.domainCheckTimeout,
  // Retries without limit: only an unavailable database fails here. A name server that does not answer is a result.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

type Checked = Awaited<ReturnType<typeof checkDomain>>;

/** Checks the DNS records of a domain for as long as it exists. The activity decides what a result means. */
export async function domain({ domainId, generation, restSeconds }: DomainInput): Promise<void> {
  let checking: Promise<Checked> | undefined;
  let latest: Checked | undefined;

  /** Concurrent requests share the running check. */
  const check = (): Promise<Checked> => {
    checking ??= checkDomain(domainId, generation)
      .then((checked) => {
        latest = checked;
        return checked;
      })
      .finally(() => {
        checking = undefined;
      });
    return checking;
  };
  setHandler(checkDomainNow, async () => void (await check()));

  try {
    for (let rest = restSeconds; ; ) {
      if (rest) await condition(() => latest !== undefined, rest * 1_000);
      // A requested check counts too: the next one comes a whole interval after it.
      const checked = latest ?? (await check());
      latest = undefined;
      if (checked.gone) break;
      rest = checked.nextSeconds;
      setCurrentDetails(`${checked.status.toLowerCase()}; the last check ${checked.outcome}`);
      if (workflowInfo().continueAsNewSuggested && allHandlersFinished())
        await continueAsNew<typeof domain>({ domainId, generation, restSeconds: rest });
    }
  } catch (error) {
    // The domain was deleted. Pending updates get their answer before the workflow ends.
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
    throw error;
  }
  await condition(allHandlersFinished);
}
