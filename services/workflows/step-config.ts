import joi from 'joi';
import type { Db } from '../../db/connect.ts';
import type { SigningKeys } from '../../platform/cursor.ts';
import { badRequest, type Fault, validationError } from '../../platform/errors.ts';
import { faultsOf } from '../../platform/joi-violations.ts';
import { isAllowed } from '../../platform/outbound-http.ts';
import { literalOf, refusalOf } from '../../platform/public-address.ts';
import type { Data } from '../contacts/data.ts';
import { referenceViolations } from '../segments/references.ts';
import type { StepTypeName } from './graph.ts';
import { parseConditionConfig } from './steps/condition.ts';
import { stepTypes } from './steps/index.ts';
import type { WebhookConfig } from './steps/webhook.ts';

/** What of the installation the rules for steps depend on. */
export interface StepRules {
  /** `host:port` each, that webhooks may reach although private. */
  webhookAllowedHosts: string[];
  /** Seal the headers of webhooks. */
  secretKeys: SigningKeys;
}

const strict: joi.ValidationOptions = { abortEarly: false, convert: false, allowUnknown: true };

/** Of any step; keys that its type does not know are stored too. */
const MAX_CONFIG_BYTES = 256 * 1024;

/** The config as it is stored. A wrong shape is 422, what may not be is 400; what is missing is found on enabling. */
export function readConfig(
  type: StepTypeName,
  config: Data,
  rules: Pick<StepRules, 'webhookAllowedHosts'>,
  at = 'config',
): Data {
  const schema = joi.object<{ config: Data }>({ config: stepTypes[type].config });
  const { value, error } = schema.validate({ config }, strict);
  if (error) throw validationError(faultsOf(error).map((fault) => moved(fault, at)));
  const read = value.config;
  const refusals = stepTypes[type].refusals?.(read) ?? [];
  if (type === 'WEBHOOK') refusals.push(...targetRefusals(read, rules, at));
  if (refusals.length > 0) throw refusedConfig(refusals, at);
  if (Buffer.byteLength(JSON.stringify(read)) > MAX_CONFIG_BYTES)
    throw validationError([
      { field: at, message: `"${at}" is larger than ${MAX_CONFIG_BYTES / 1024} KB`, code: 'too_big' },
    ]);
  return read;
}

/** The same for what only the database knows. */
export async function requireReferences(db: Db, projectId: string, type: StepTypeName, config: Data): Promise<void> {
  if (type !== 'CONDITION') return;
  const { parsed } = parseConditionConfig(config);
  const faults = parsed ? await referenceViolations(db, projectId, parsed, '') : [];
  if (faults.length > 0) throw refusedConfig(faults, 'config');
}

/** To where the config stands in what was sent. */
const moved = (fault: Fault, at: string): Fault => ({
  ...fault,
  field: fault.field.replace(/^config/, at),
  message: fault.message.replace(/^"config/, `"${at}`),
});

function refusedConfig(faults: Fault[], at: string) {
  const errors = faults.map((fault) => ({ ...fault, field: [at, fault.field].filter(Boolean).join('.') }));
  return badRequest(`The config of the step is refused: ${faults.map(({ message }) => message).join('; ')}.`, {
    errors,
  });
}

/** Where it leads to can be seen now only when it does not depend on variables; it is looked at again before each call. */
function targetRefusals(
  { url = '' }: WebhookConfig,
  { webhookAllowedHosts }: Pick<StepRules, 'webhookAllowedHosts'>,
  at: string,
): Fault[] {
  const text = url.trim();
  if (!text || HOST_VARIES.test(text)) return [];
  const field = `${at}.url`;
  if (!isWeb(text))
    throw validationError([{ field, message: `"${field}" must be an http or https URL`, code: 'invalid_string' }]);
  const refusal = targetRefusal(text, webhookAllowedHosts);
  return refusal
    ? [{ field: 'url', message: `"url" leads to an address that may not be called: ${refusal}`, code: 'custom' }]
    : [];
}

const isWeb = (text: string): boolean =>
  URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol) && new URL(text).hostname !== '';

/** Why a URL may not be called, as far as it says itself where it leads. */
export function targetRefusal(text: string, allowedHosts: string[]): string | undefined {
  if (!isWeb(text)) return 'the URL cannot be read';
  const target = new URL(text);
  const literal = literalOf(target);
  if (!literal || isAllowed(target, allowedHosts)) return undefined;
  const refusal = refusalOf(literal);
  return refusal && `${literal} ${refusal}`;
}

/** Variables in what comes before the path. */
const HOST_VARIES = /^[^/?#]*(?:\/\/[^/?#]*)?\{[{%#]/;
