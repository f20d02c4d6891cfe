import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineUpdate,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { DomainActivities } from '../activities/domains.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';

export interface DomainInput {
  domainId: string;
  generation: number;
  /** Of a run that goes on from an earlier one: how long until the next check. */
  restSeconds?: number;
}

/** Answers when a check is done that was under way or began after it was asked. */
export const checkNow = defineUpdate<void>('checkNow');

const { checkDomain } = proxyActivities<DomainActivities>({
  taskQueue: 'everpost-domains' satisfies TaskQueues['domains'],
  startToCloseTimeout: '1 minute',
  // Without end: only the database can be away here; silent name servers are a result.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

type Checked = Awaited<ReturnType<typeof checkDomain>>;

/** Looks at the records of a domain for as long as it is there. What that means for it is decided in Postgres. */
export async function domain({ domainId, generation, restSeconds }: DomainInput): Promise<void> {
  let checking: Promise<Checked> | undefined;
  let latest: Checked | undefined;

  /** Whoever asks while a check is under way shares it. */
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
  setHandler(checkNow, async () => void (await check()));

  try {
    for (let rest = restSeconds; ; ) {
      if (rest) await condition(() => latest !== undefined, rest * 1_000);
      // A check that somebody asked for counts as one: the next comes a whole interval after it.
      const checked = latest ?? (await check());
      latest = undefined;
      if (checked.gone) break;
      rest = checked.nextSeconds;
      setCurrentDetails(`${checked.status.toLowerCase()}; the last check ${checked.verdict}`);
      if (workflowInfo().continueAsNewSuggested && allHandlersFinished())
        await continueAsNew<typeof domain>({ domainId, generation, restSeconds: rest });
    }
  } catch (error) {
    // The domain was deleted; whoever asked for a check is told before this ends.
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
    throw error;
  }
  await condition(allHandlersFinished);
}
