// What an API asks Temporal. It runs without it: then nothing checks domains but the API itself.
import type { TemporalSettings } from '../platform/settings.ts';
import type { NamespaceOwner } from '../temporal/namespace-owner.ts';
import type { ApiOptions } from './start.ts';

export interface ApiTemporal extends Required<Pick<ApiOptions, 'checkTemporal' | 'checkByWorkflow'>> {
  close(): Promise<void>;
}

/** Loads Temporal's client, a fifth of an API's start, only where an address is set. */
export async function connectApiTemporal(settings: TemporalSettings): Promise<ApiTemporal> {
  if (!settings.address)
    return { checkTemporal: async () => false, checkByWorkflow: async () => 'unavailable', close: async () => {} };
  const { createTemporal } = await import('../temporal/connection.ts');
  const temporal = createTemporal(settings);
  let owner: NamespaceOwner | undefined;
  return {
    checkTemporal: temporal.check,
    checkByWorkflow: async (loop, installation) => {
      const { NamespaceOwner } = await import('../temporal/namespace-owner.ts');
      const { requestDomainCheck } = await import('../temporal/check-domain.ts');
      owner ??= new NamespaceOwner(temporal, await installation());
      return requestDomainCheck(temporal, loop, owner);
    },
    close: async () => temporal.close(),
  };
}
