import { type CheckDeps, checkDomain } from './check.ts';
import { type DomainRef, loopOf } from './loop.ts';

/** Asks the domain's check loop to check now. `running`: the check is still running. `unavailable`: the loop is unavailable. */
export type CheckByWorkflow = (loop: ReturnType<typeof loopOf>) => Promise<'checked' | 'running' | 'unavailable'>;

/**
 * Returns a function that checks a domain through its loop, or in this process where the loop is unavailable.
 * Concurrent calls share one check, since Temporal limits concurrent updates of a workflow to ten.
 */
export function domainChecker(deps: CheckDeps, checkByWorkflow: CheckByWorkflow = async () => 'unavailable') {
  const running = new Map<string, Promise<void>>();
  const check = async (domain: DomainRef): Promise<void> => {
    if ((await checkByWorkflow(loopOf(domain))) === 'unavailable') await checkDomain(deps, domain.id);
  };
  return (domain: DomainRef): Promise<void> => {
    const current = running.get(domain.id);
    if (current) return current;
    const started = check(domain).finally(() => running.delete(domain.id));
    running.set(domain.id, started);
    return started;
  };
}
