import type { SigningKeys } from '../../platform/cursor.ts';
import { SealError, seal, unseal } from '../../platform/seal.ts';
import type { Data } from '../contacts/data.ts';
import type { Step } from './graph.ts';

// Headers of WEBHOOK steps hold tokens of other services, so they are stored encrypted: `sealedHeaders` takes the place of
// `headers` in configs, graphs and requests. See docs/decisions/107-sealed-headers.md.

type Headers = Record<string, string>;

/** What sealed headers are bound to. Copies inside a project, as in versions and duplicates, stay valid. */
export const headersPlace = (projectId: string): string[] => ['webhook headers', projectId];

/** For the database. Without headers nothing is sealed; a `sealedHeaders` that a client sends is dropped. */
export function sealHeaders(keys: SigningKeys, projectId: string, holder: object): Data {
  const { headers, sealedHeaders: _, ...rest } = holder as Data;
  if (!isFilled(headers)) return headers === undefined ? rest : { ...rest, headers };
  return { ...rest, sealedHeaders: seal(keys, headersPlace(projectId), JSON.stringify(headers)) };
}

/** As `sealHeaders` was given it. What was stored before headers were sealed is returned as it is. Throws a SealError. */
export function openHeaders<Holder extends object>(keys: SigningKeys, projectId: string, holder: Holder): Holder {
  const { sealedHeaders, ...rest } = holder as Data;
  if (typeof sealedHeaders !== 'string') return holder;
  const headers = JSON.parse(unseal(keys, headersPlace(projectId), sealedHeaders)) as Headers;
  return { ...rest, headers } as Holder;
}

export const hasPlainHeaders = ({ headers }: Data): boolean => isFilled(headers);

const isFilled = (headers: unknown): headers is Headers =>
  typeof headers === 'object' && headers !== null && Object.keys(headers).length > 0;

export function sealStep<Sealed extends Pick<Step, 'type' | 'config'>>(
  keys: SigningKeys,
  projectId: string,
  step: Sealed,
): Sealed {
  return step.type === 'WEBHOOK' ? { ...step, config: sealHeaders(keys, projectId, step.config) } : step;
}

export function openStep<Sealed extends Pick<Step, 'type' | 'config'>>(
  keys: SigningKeys,
  projectId: string,
  step: Sealed,
): Sealed {
  return step.type === 'WEBHOOK' ? { ...step, config: openHeaders(keys, projectId, step.config) } : step;
}

/** For people: a step whose headers no key opens is shown without them. */
export function showStep<Sealed extends Pick<Step, 'type' | 'config'>>(
  keys: SigningKeys,
  projectId: string,
  step: Sealed,
): Sealed {
  try {
    return openStep(keys, projectId, step);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    const { sealedHeaders: _, ...config } = step.config;
    return { ...step, config };
  }
}
