import joi from 'joi';
import type { Db } from '../../db/connect.ts';
import { badRequest, type Fault, validationError } from '../../platform/errors.ts';
import { faultsOf } from '../../platform/joi-faults.ts';
import { isAllowed } from '../../platform/outbound-http.ts';
import { literalOf, refusalOf } from '../../platform/public-address.ts';
import type { Data } from '../contacts/data.ts';
import { referenceFaults } from '../segments/references.ts';
import type { StepTypeName } from './graph.ts';
import { parseConditionConfig } from './steps/condition.ts';
import { stepTypes } from './steps/index.ts';
import type { WebhookConfig } from './steps/webhook.ts';

/** What of the installation the rules for steps depend on. */
export interface StepRules {
  /** `host:port` each, that webhooks may reach although private. */
  webhookAllowedHosts: string[];
}

const strict: joi.ValidationOptions = { abortEarly: false, convert: false, allowUnknown: true };

/** The config as it is stored. A wrong shape is 422, what may not be is 400; what is missing is found on enabling. */
export function readConfig(type: StepTypeName, config: Data, rules: StepRules): Data {
  const schema = joi.object<{ config: Data }>({ config: stepTypes[type].config });
  const { value, error } = schema.validate({ config }, strict);
  if (error) throw validationError(faultsOf(error));
  const read = value.config;
  const refusals = stepTypes[type].refusals?.(read) ?? [];
  if (type === 'WEBHOOK') refusals.push(...targetRefusals(read, rules));
  if (refusals.length > 0) throw refusedConfig(refusals);
  return read;
}

/** The same for what only the database knows. */
export async function requireReferences(db: Db, projectId: string, type: StepTypeName, config: Data): Promise<void> {
  if (type !== 'CONDITION') return;
  const { parsed } = parseConditionConfig(config);
  const faults = parsed ? await referenceFaults(db, projectId, parsed, '') : [];
  if (faults.length > 0) throw refusedConfig(faults);
}

function refusedConfig(faults: Fault[]) {
  const errors = faults.map((fault) => ({ ...fault, field: ['config', fault.field].filter(Boolean).join('.') }));
  return badRequest(`The config of the step is refused: ${faults.map(({ message }) => message).join('; ')}.`, {
    errors,
  });
}

/** Where it leads to can be seen now only when it does not depend on variables; it is looked at again before each call. */
function targetRefusals({ url = '' }: WebhookConfig, { webhookAllowedHosts }: StepRules): Fault[] {
  const text = url.trim();
  if (!text || HOST_VARIES.test(text)) return [];
  const target = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = target?.protocol === 'http:' || target?.protocol === 'https:';
  if (!target?.hostname || !isWeb)
    throw validationError([
      { field: 'config.url', message: '"config.url" must be an http or https URL', code: 'invalid_string' },
    ]);
  const literal = literalOf(target);
  const refusal =
    literal &&
    !isAllowed(
      target,
      webhookAllowedHosts.map((host) => host.toLowerCase()),
    ) &&
    refusalOf(literal);
  return refusal ? [{ field: 'url', message: `"url" leads to ${literal}, which ${refusal}`, code: 'custom' }] : [];
}

/** Variables in what comes before the path. */
const HOST_VARIES = /^[^/?#]*(?:\/\/[^/?#]*)?\{[{%#]/;
