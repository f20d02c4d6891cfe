import { type CheckDeps, checkDomain } from './check.ts';
import { type DomainPlace, loopOf } from './loop.ts';

/** The loop of a domain, asked to check it now. `late`: it is at it, and goes on. `away`: it could not be asked. */
export type CheckByWorkflow = (loop: ReturnType<typeof loopOf>) => Promise<'checked' | 'late' | 'away'>;

/**
 * Has a domain checked, by its loop or, where there is none to ask, here. Those who want the same at the same time
 * share it, since Temporal takes ten such questions to a workflow at once and no more.
 */
export function domainChecker(deps: CheckDeps, askLoop: CheckByWorkflow = async () => 'away') {
  const underWay = new Map<string, Promise<void>>();
  const check = async (domain: DomainPlace): Promise<void> => {
    if ((await askLoop(loopOf(domain))) === 'away') await checkDomain(deps, domain.id);
  };
  return (domain: DomainPlace): Promise<void> => {
    const known = underWay.get(domain.id);
    if (known) return known;
    const asked = check(domain).finally(() => underWay.delete(domain.id));
    underWay.set(domain.id, asked);
    return asked;
  };
}
