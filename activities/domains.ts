import { type CheckDeps, checkDomain, type DomainCheck } from '../services/domains/check.ts';

export const domainActivities = (deps: CheckDeps) => ({
  async checkDomain(domainId: string, generation: number): Promise<DomainCheck> {
    return checkDomain(deps, domainId, generation);
  },
});

export type DomainActivities = ReturnType<typeof domainActivities>;
