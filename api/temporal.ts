// What an API asks Temporal. It runs without it: then nothing checks domains but the API itself.
import type { TemporalSettings } from '../platform/settings.ts';
import type { Temporal } from '../temporal/connection.ts';
import type { NamespaceOwner } from '../temporal/namespace-owner.ts';
import type { ApiOptions } from './start.ts';

export type ApiTemporal = Required<Pick<ApiOptions, 'checkTemporal' | 'checkByWorkflow'>>;

/** Loads Temporal's client, a fifth of an API's start, only where an address is set. */
export async function connectApiTemporal(
  settings: TemporalSettings,
): Promise<ApiTemporal & { close(): Promise<void> }> {
  if (!settings.address)
    return { checkTemporal: async () => false, checkByWorkflow: async () => 'unavailable', close: async () => {} };
  const { createTemporal } = await import('../temporal/connection.ts');
  const temporal = createTemporal(settings);
  return { ...apiTemporal(temporal), close: async () => temporal.close() };
}

/** Uses a connection that the process has. */
export function apiTemporal(temporal: Temporal): ApiTemporal {
  let owner: NamespaceOwner | undefined;
  return {
    checkTemporal: temporal.check,
    checkByWorkflow: async (loop, installation) => {
      const { NamespaceOwner } = await import('../temporal/namespace-owner.ts');
      const { requestDomainCheck } = await import('../temporal/check-domain.ts');
      owner ??= new NamespaceOwner(temporal, await installation());
      return requestDomainCheck(temporal, loop, owner);
    },
  };
}
