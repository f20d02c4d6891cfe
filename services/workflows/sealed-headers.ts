import { SealError, seal, unseal } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type Violation, validationError } from '../../platform/errors.ts';
import type { Data } from '../contacts/data.ts';
import { HIDDEN_VALUE } from '../webhooks/endpoints.ts';
import { stepTypeOf } from './steps/index.ts';
import type { Step } from './steps/step-type.ts';

// Headers of webhooks contain tokens of other services, so they are stored encrypted: `sealedHeaders` replaces `headers` in
// configs, graphs and requests. See docs/decisions/sealed-secrets.md.

type Headers = Record<string, string>;

/** The context that seals are bound to. Copies inside a project, as in versions and duplicates, stay valid. */
export const headersContext = (projectId: string): string[] => ['webhook headers', projectId];

/** Seals headers for storage, if there are any. Drops a `sealedHeaders` that a client has sent. */
export function sealHeaders(keys: SigningKeys, projectId: string, holder: object): Data {
  const { headers, sealedHeaders: _, ...rest } = holder as Data;
  if (!isFilled(headers)) return headers === undefined ? rest : { ...rest, headers };
  return { ...rest, sealedHeaders: seal(keys, headersContext(projectId), JSON.stringify(headers)) };
}

/** Reverses `sealHeaders`. Returns holders with plain headers unchanged. Throws SealError when no key fits. */
export function openHeaders<Holder extends object>(keys: SigningKeys, projectId: string, holder: Holder): Holder {
  const { sealedHeaders, ...rest } = holder as Data;
  if (typeof sealedHeaders !== 'string') return holder;
  const headers = JSON.parse(unseal(keys, headersContext(projectId), sealedHeaders)) as Headers;
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
  return stepTypeOf(step).callsWebhook ? { ...step, config: sealHeaders(keys, projectId, step.config) } : step;
}

export function openStep<Sealed extends Pick<Step, 'type' | 'config'>>(
  keys: SigningKeys,
  projectId: string,
  step: Sealed,
): Sealed {
  return stepTypeOf(step).callsWebhook ? { ...step, config: openHeaders(keys, projectId, step.config) } : step;
}

/** Opens headers for display. Omits headers that no key opens. */
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

/** Hides the values of headers from callers who may not change the workflow. */
export const hideHeaders = (headers: Headers): Headers =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN_VALUE]));

export function hideStep<Shown extends Pick<Step, 'type' | 'config'>>(step: Shown): Shown {
  const { headers } = step.config;
  if (!stepTypeOf(step).callsWebhook || !isFilled(headers)) return step;
  return { ...step, config: { ...step.config, headers: hideHeaders(headers) } };
}

export const hasHiddenHeaders = ({ type, config: { headers } }: Pick<Step, 'type' | 'config'>): boolean =>
  stepTypeOf({ type }).callsWebhook === true && isFilled(headers) && Object.values(headers).includes(HIDDEN_VALUE);

/**
 * Replaces hidden values, which a client may send back, by those of `before`. A 422 where that has none, so that the mask
 * is never stored as a value.
 */
export function keepHidden<Given extends Pick<Step, 'type' | 'config'>>(
  step: Given,
  before: Data | undefined,
  path: string,
): Given {
  if (!hasHiddenHeaders(step)) return step;
  const stored = isFilled(before?.headers) ? before.headers : {};
  const errors: Violation[] = [];
  const headers = Object.entries(step.config.headers as Headers).map(([name, value]) => {
    const kept = value === HIDDEN_VALUE ? stored[name] : value;
    const field = `${path}.headers.${name}`;
    if (kept === undefined)
      errors.push({ field, message: `"${field}" is hidden and has no stored value: send its value`, code: 'custom' });
    return [name, kept];
  });
  if (errors.length > 0) throw validationError(errors);
  return { ...step, config: { ...step.config, headers: Object.fromEntries(headers) } };
}
