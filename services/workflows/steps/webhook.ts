import joi from 'joi';
import type { Data } from '../../contacts/data.ts';
import { callWebhook, fail, type Run, type StepType } from './step-type.ts';
import { urlTemplate } from './webhook-url.ts';

export interface WebhookConfig {
  url?: string;
  method?: string;
  headers?: Record<string, string> | null;
  /** Text, or JSON whose texts are rendered. */
  body?: unknown;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Header names as RFC 9110 has them. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const MAX_BYTES = 256 * 1024;

export const webhook: StepType<WebhookConfig> = {
  type: 'WEBHOOK',
  exits: ['next'],
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
  refusals: (config) =>
    Buffer.byteLength(JSON.stringify(config)) > MAX_BYTES
      ? [{ field: 'body', message: `"body" is larger than ${MAX_BYTES / 1024} KB`, code: 'too_big' }]
      : [],
  faults: ({ config }) => (config.url ? [] : ['has no address to call']),
  run: async ({ config }, run) => {
    const { url, method = 'POST', headers, body } = config;
    if (!url) return fail('the step has no address to call');
    const template = urlTemplate(url);
    const rendered = await renderAll({ url: template.text, headers: headers ?? {}, body }, run);
    const target = template.read(oneLine(rendered.url));
    if ('refused' in target) return fail(`The request was not made: ${target.refused}.`);
    const sent = body == null ? defaultBody(run) : rendered.body;
    const lines = Object.entries(rendered.headers).map(([name, value]) => [name.toLowerCase(), oneLine(value)]);
    return callWebhook({
      url: target.url,
      method,
      headers: { 'content-type': contentType(sent), ...Object.fromEntries(lines) },
      body: typeof sent === 'string' ? sent : JSON.stringify(sent),
    });
  },
};

const contentType = (body: unknown): string =>
  typeof body === 'string' && !/^\s*[{[]/.test(body) ? 'text/plain; charset=utf-8' : 'application/json';

export const defaultBody = ({ contact, workflow, execution, context }: Run): Data => ({
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

async function renderAll(texts: Texts, run: Run): Promise<Texts> {
  const asked = new Set<string>();
  mapTexts(texts, (text) => {
    if (/\{[{%#]/.test(text)) asked.add(text);
    return text;
  });
  const templates = [...asked];
  const answers = templates.length > 0 ? await run.render(templates) : [];
  const filled = new Map(templates.map((template, place) => [template, answers[place] ?? '']));
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
