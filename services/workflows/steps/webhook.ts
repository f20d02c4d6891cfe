import joi from 'joi';
import { type Violation, validationError } from '../../../platform/errors.ts';
import { isWebUrl, LOCAL_TARGET_HINT, targetRefusal } from '../../../platform/http/outbound-http.ts';
import type { Data } from '../../contacts/data.ts';
import { type ConfigRules, failStep, requestWebhook, type StepEnvironment, type StepType } from './step-type.ts';
import { urlTemplate } from './webhook-url.ts';

export interface WebhookConfig {
  url?: string;
  method?: string;
  headers?: Record<string, string> | null;
  /** Text, or JSON whose strings are rendered. */
  body?: unknown;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Header names (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const MAX_BYTES = 256 * 1024;

export const webhookStep: StepType<WebhookConfig> = {
  type: 'WEBHOOK',
  label: 'Webhook',
  description: 'Calls a URL, and continues when the call succeeds.',
  exits: ['next'],
  callsWebhook: true,
  whenMoved: 'the next attempt calls with the new config',
  config: joi
    .object({
      url: joi.string().max(2_000).allow(''),
      method: joi
        .string()
        .uppercase()
        .valid(...methods),
      headers: joi.object().pattern(TOKEN, joi.string().max(998).allow('')).max(50).unknown(false).allow(null),
      body: joi.any(),
    })
    .unknown(),
  newConfig: { method: 'POST' },
  configErrors: (config, rules) => [...sizeErrors(config), ...targetErrors(config, rules)],
  violations: ({ config }) => (config.url ? [] : ['has no URL']),
  run: async ({ config }, env) => {
    const { url, method = 'POST', headers, body } = config;
    if (!url) return failStep('the step has no URL');
    const template = urlTemplate(url);
    const rendered = await renderAll({ url: template.text, headers: headers ?? {}, body }, env);
    const target = template.read(oneLine(rendered.url));
    if ('refused' in target) return failStep(`The request was not sent: ${target.refused}.`);
    const sent = body == null ? defaultBody(env) : rendered.body;
    const lines = Object.entries(rendered.headers).map(([name, value]) => [name.toLowerCase(), oneLine(value)]);
    return requestWebhook({
      url: target.url,
      method,
      headers: { 'content-type': contentType(sent), ...Object.fromEntries(lines) },
      body: typeof sent === 'string' ? sent : JSON.stringify(sent),
    });
  },
};

const contentType = (body: unknown): string =>
  typeof body === 'string' && !/^\s*[{[]/.test(body) ? 'text/plain; charset=utf-8' : 'application/json';

export const defaultBody = ({ contact, workflow, execution, context }: StepEnvironment): Data => ({
  contact: {
    ...contact,
    createdAt: contact.createdAt.toISOString(),
    updatedAt: contact.updatedAt.toISOString(),
  },
  workflow,
  execution,
  event: context,
});

interface Texts {
  url: string;
  headers: Record<string, string>;
  body: unknown;
}

async function renderAll(texts: Texts, env: StepEnvironment): Promise<Texts> {
  const sources = new Set<string>();
  mapTexts(texts, (text) => {
    if (/\{[{%#]/.test(text)) sources.add(text);
    return text;
  });
  const templates = [...sources];
  const rendered = templates.length > 0 ? await env.render(templates) : [];
  const filled = new Map(templates.map((template, index) => [template, rendered[index] ?? '']));
  return mapTexts(texts, (text) => filled.get(text) ?? text) as Texts;
}

function mapTexts(value: unknown, change: (text: string) => unknown): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]));
  return value;
}

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

function sizeErrors(config: WebhookConfig): Violation[] {
  if (Buffer.byteLength(JSON.stringify(config)) <= MAX_BYTES) return [];
  return [{ field: 'body', message: `"body" is larger than ${MAX_BYTES / 1024} KB`, code: 'too_big' }];
}

/** Variables before the path. */
const HOST_VARIES = /^[^/?#]*(?:\/\/[^/?#]*)?\{[{%#]/;

/** Checks the target as far as it does not depend on variables. Every call checks it again. */
function targetErrors({ url = '' }: WebhookConfig, { webhookAllowedHosts, path }: ConfigRules): Violation[] {
  const text = url.trim();
  if (!text || HOST_VARIES.test(text)) return [];
  const field = `${path}.url`;
  if (!isWebUrl(text))
    throw validationError([{ field, message: `"${field}" must be an http or https URL`, code: 'invalid_string' }]);
  const refusal = targetRefusal(text, webhookAllowedHosts);
  return refusal
    ? [
        {
          field: 'url',
          message: `"url" points to an address that is not allowed: ${refusal}. ${LOCAL_TARGET_HINT}`,
          code: 'custom',
        },
      ]
    : [];
}
