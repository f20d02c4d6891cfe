import { type CheckDeps, type Checked, checkDomain } from '../services/domains/check.ts';

export const domainActivities = (deps: CheckDeps) => ({
  async checkDomain(domainId: string, generation: number): Promise<Checked> {
    return checkDomain(deps, domainId, generation);
  },
});

export type DomainActivities = ReturnType<typeof domainActivities>;
