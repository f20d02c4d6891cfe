import joi from 'joi';
import type { Db } from '../../db/connect.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { badRequest, type Violation, validationError } from '../../platform/errors.ts';
import { faultsOf } from '../../platform/joi-violations.ts';
import type { Data } from '../contacts/data.ts';
import { stepTypeOf } from './steps/index.ts';
import type { ConfigRules } from './steps/step-type.ts';

/** Settings of the installation that saving a step depends on. */
export interface StepRules extends Pick<ConfigRules, 'webhookAllowedHosts'> {
  /** Seal the headers of webhooks. */
  secretKeys: SigningKeys;
}

const strict: joi.ValidationOptions = { abortEarly: false, convert: false, allowUnknown: true };

/** Of any step, because keys that its type does not know are stored too. */
const MAX_CONFIG_BYTES = 256 * 1024;

/**
 * Returns the config to store. A wrong shape is a 422, a value that is not allowed a 400. Missing values are reported on
 * enabling.
 */
export function readConfig(
  type: string,
  config: Data,
  rules: Pick<StepRules, 'webhookAllowedHosts'>,
  path = 'config',
): Data {
  const valid = readConfigShape(type, config, path);
  const errors = configErrorsOf(type, valid, rules, path);
  if (errors.length > 0) throw refusedConfig(errors, path);
  return valid;
}

/** Errors of a well-shaped config. */
export const configErrorsOf = (
  type: string,
  config: Data,
  { webhookAllowedHosts }: Pick<StepRules, 'webhookAllowedHosts'>,
  path = 'config',
): Violation[] => stepTypeOf({ type }).configErrors?.(config, { webhookAllowedHosts, path }) ?? [];

/** Returns the config of a draft, which may have values that are not allowed. A wrong shape is a 422. */
export function readConfigShape(type: string, config: Data, path: string): Data {
  const schema = joi.object<{ config: Data }>({ config: stepTypeOf({ type }).config });
  const { value, error } = schema.validate({ config }, strict);
  if (error) throw validationError(faultsOf(error).map((violation) => atPath(violation, path)));
  const valid = value.config;
  if (Buffer.byteLength(JSON.stringify(valid)) > MAX_CONFIG_BYTES)
    throw validationError([
      { field: path, message: `"${path}" is larger than ${MAX_CONFIG_BYTES / 1024} KB`, code: 'too_big' },
    ]);
  return valid;
}

/** Checks what the config refers to in the database. `before` is the config that it replaces. */
export async function requireReferences(
  db: Db,
  projectId: string,
  { type, config }: { type: string; config: Data },
  before?: Data,
): Promise<void> {
  const errors = (await stepTypeOf({ type }).referenceErrors?.(db, projectId, config, before)) ?? [];
  if (errors.length > 0) throw refusedConfig(errors, 'config');
}

/** Replaces the `config` at the start of a field by the path of the config in the request. */
const atPath = (violation: Violation, path: string): Violation => ({
  ...violation,
  field: violation.field.replace(/^config/, path),
  message: violation.message.replace(/^"config/, `"${path}`),
});

function refusedConfig(violations: Violation[], path: string) {
  const errors = violations.map((violation) => ({
    ...violation,
    field: [path, violation.field].filter(Boolean).join('.'),
  }));
  return badRequest(`The step config is invalid: ${violations.map(({ message }) => message).join('; ')}.`, {
    errors,
  });
}
