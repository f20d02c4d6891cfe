// Writes the API reference as Markdown pages of the documentation site: one per tag, with its operations and its types.
import { readFileSync } from 'node:fs';
import { exampleOf } from '../../api/http/openapi-examples.ts';
import { samplesOf } from './code-samples.ts';
import { fieldTable, type LinkOf, typeText } from './fields.ts';
import {
  type DocumentedSchema,
  nameIn,
  operationsOf,
  type ReferenceDocument,
  type ReferenceOperation,
} from './operations.ts';
import { tryForm } from './try-form.ts';
import { bodyTypes, homesOf } from './type-homes.ts';

export interface ReferencePage {
  slug: string;
  title: string;
  description: string;
  operations: ReferenceOperation[];
  markdown: string;
}

/** Reads the document that the build wrote. */
export const readDocument = (file: string): ReferenceDocument => JSON.parse(readFileSync(file, 'utf8'));

export function referencePages(document: ReferenceDocument): ReferencePage[] {
  const operations = operationsOf(document);
  const homes = homesOf(document, operations);
  const ofOneBody = bodyTypes(document, operations);
  const slugs = new Map(document.tags.map(({ name }) => [name, slugOf(name)]));
  const linkOf: LinkOf = (type) => `/api/${slugs.get(homes.get(type) ?? '')}#${type}`;
  return document.tags.map(({ name, description }) => {
    const own = operations.filter(({ tag }) => tag === name);
    const types = [...homes].filter(([type, home]) => home === name && !ofOneBody.has(type)).map(([type]) => type);
    return {
      slug: slugOf(name),
      title: name,
      description,
      operations: own,
      markdown: [
        '---\noutline: 2\npageClass: reference\n---',
        `# ${name}`,
        description,
        ...own.map((operation) => operationSection(operation, document, ofOneBody, linkOf)),
        ...(name === 'Webhooks' ? [webhookSection(document, linkOf)] : []),
        ...(types.length > 0 ? ['## Types', ...types.sort().map((type) => typeSection(type, document, linkOf))] : []),
      ].join('\n\n'),
    };
  });
}

const slugOf = (tag: string): string => tag.toLowerCase().replace(/[^a-z0-9]+/g, '-');

/** Examples first, then who may call it, what it takes and what it answers. */
function operationSection(
  operation: ReferenceOperation,
  document: ReferenceDocument,
  ofOneBody: Set<string>,
  linkOf: LinkOf,
): string {
  const { id, method, path, summary, access, parameters, body, responses, commonErrors, call } = operation;
  const good = responses.find(({ status }) => status.startsWith('2'));
  return [
    `## ${summary} {#${id}}`,
    `<p class="route"><span class="method">${method}</span> <code v-pre>${path}</code></p>`,
    '::: code-group',
    ...samplesOf(call).map(({ language, label, code }) => fence(`${language} [${label}]`, code)),
    ':::',
    ...(good?.schema ? [`Answer: \`${good.status}\``, answerExample(good.schema, document.components.schemas)] : []),
    `**Authentication:** ${access}`,
    ...(parameters.length > 0 ? [`### Parameters {#${id}-parameters}`, fieldTable(parameters, linkOf)] : []),
    ...(body ? [`### Body {#${id}-body}`, bodyText(body, document, ofOneBody, linkOf)] : []),
    `### Answers {#${id}-answers}`,
    [
      ...responses.map(({ status, description, schema }) => answerLine(status, description, schema, linkOf)),
      ...(commonErrors.length > 0
        ? [`- ${commonErrors.map((status) => `\`${status}\``).join(', ')}: [errors](/api#errors) of most operations`]
        : []),
    ].join('\n'),
    tryForm(operation),
  ].join('\n\n');
}

function answerExample(schema: DocumentedSchema, schemas: Record<string, DocumentedSchema>): string {
  const example = exampleOf(schema, schemas);
  return typeof example === 'string' ? fence('text', example) : fence('json', JSON.stringify(example, null, 2));
}

/** The fields of a body stand with its operation, unless other operations have the same. */
function bodyText(
  { contentType, schema }: NonNullable<ReferenceOperation['body']>,
  document: ReferenceDocument,
  ofOneBody: Set<string>,
  linkOf: LinkOf,
): string {
  const name = schema.$ref ? nameIn(schema.$ref) : '';
  const type = ofOneBody.has(name) ? `<span id="${name}" class="type">${name}</span>` : typeText(schema, linkOf);
  const fields = ofOneBody.has(name) ? [typeContent(name, document, linkOf)] : [];
  return [contentType === 'application/json' ? type : `${type} as \`${contentType}\``, ...fields].join('\n\n');
}

/** Answers are linked to their types; that of errors is the same everywhere. */
function answerLine(status: string, description: string, schema: DocumentedSchema | undefined, linkOf: LinkOf): string {
  const type = schema && status.startsWith('2') ? `: ${typeText(schema, linkOf)}` : '';
  return `- \`${status}\` ${description.replace(/\.$/, '')}${type}`;
}

function webhookSection({ webhooks }: ReferenceDocument, linkOf: LinkOf): string {
  const lines = Object.entries(webhooks).map(([type, { post }]) => {
    const [content] = Object.values(post.requestBody.content);
    return `| \`${type}\` | ${content ? typeText(content.schema, linkOf) : ''} | ${post.summary} |`;
  });
  return [
    '## Events sent to endpoints {#events}',
    ['| Type | Payload | When |', '|---|---|---|', ...lines].join('\n'),
  ].join('\n\n');
}

const typeSection = (name: string, document: ReferenceDocument, linkOf: LinkOf): string =>
  `### ${name} {#${name}}\n\n${typeContent(name, document, linkOf)}`;

function typeContent(name: string, { components }: ReferenceDocument, linkOf: LinkOf): string {
  const schema = components.schemas[name] ?? {};
  const { properties, required = [], description = '' } = schema;
  const fields = Object.entries(properties ?? {}).map(([field, property]) => ({
    name: field,
    required: required.includes(field),
    description: property.description ?? '',
    schema: property,
  }));
  const content = fields.length > 0 ? fieldTable(fields, linkOf) : typeText(schema, linkOf);
  return [description, content].join('\n\n');
}

const fence = (info: string, code: string): string => `\`\`\`${info}\n${code}\n\`\`\``;
