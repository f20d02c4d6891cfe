// Compares every answer that a test receives with the OpenAPI document, in the files that `checkedFiles` lists.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import type { AppParts } from '../../api/http/context.ts';
import { type OpenApiDocument, openApiOf } from '../../api/http/openapi.ts';
import { routeGroups } from '../../api/routes/index.ts';
import { readSettings } from '../../platform/settings.ts';

interface DeclaredResponse {
  content?: Record<string, { schema: object }>;
}

interface DeclaredOperation {
  path: string;
  pattern: RegExp;
  responses: Record<string, DeclaredResponse>;
}

export interface WatchedAnswer {
  method: string;
  /** With its query. */
  path: string;
  status: number;
  contentType: string | null;
  body: unknown;
}

/** Files of test/api whose answers agree with the document. The list may only grow, until it is all of them. */
const checkedFiles: string[] = [];

const violations = new Set<string>();
let checking = false;

/** `file` is that of the running test; undefined between tests. */
export function checkAnswersOf(file: string | undefined): void {
  checking = process.env.UNSEEN !== undefined || checkedFiles.some((name) => file?.endsWith(`/test/api/${name}.test.ts`));
}

const validators = new Map<string, ValidateFunction>();

/** Built with the first answer. */
let operations: Map<string, DeclaredOperation[]> | undefined;
let ajv: Ajv2020 | undefined;

export function openApiDocument() {
  const parts = { metrics: { registry: {} }, settings: readSettings({}) } as unknown as AppParts;
  return openApiOf(routeGroups(parts, () => ({ openapi: '', paths: {} })));
}

/** Creates a validator of the schemas in a document. */
export function schemaValidator(document: OpenApiDocument): Ajv2020 {
  const created = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  (formatsPlugin as unknown as (target: Ajv2020) => void)(created);
  created.addSchema({ $id: 'document', components: document.components });
  return created;
}

function load(): Map<string, DeclaredOperation[]> {
  const document = openApiDocument();
  ajv = schemaValidator(document);
  const loaded = new Map<string, DeclaredOperation[]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    const pattern = new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`);
    for (const [method, { responses }] of Object.entries(methods as Record<string, DeclaredOperation>)) {
      const name = method.toUpperCase();
      loaded.set(name, [...(loaded.get(name) ?? []), { path, pattern, responses }]);
    }
  }
  // As in the router, a literal part of a path takes precedence over a parameter.
  for (const list of loaded.values())
    list.sort((a, b) => a.path.replaceAll('{', '\u{ffff}').localeCompare(b.path.replaceAll('{', '\u{ffff}'), 'en'));
  return loaded;
}

/** Ignores paths and methods that no route has. */
export function watchAnswer({ method, path, status, contentType, body }: WatchedAnswer): void {
  if (!checking) return;
  operations ??= load();
  const plain = path.replace(/[?#].*$/, '');
  const matching = operations.get(method)?.filter(({ pattern }) => pattern.test(plain)) ?? [];
  const operation = matching.reduce<DeclaredOperation | undefined>(
    (best, one) => (!best || parametersIn(one) < parametersIn(best) ? one : best),
    undefined,
  );
  if (!operation) return;
  const name = `${method} ${operation.path} ${status}`;
  const response = operation.responses[status];
  if (!response) {
    violations.add(`${name}: the document declares no such status`);
    return;
  }
  const type = contentType?.split(';')[0];
  if (!response.content) {
    if (body !== '') violations.add(`${name}: the document declares no content`);
    return;
  }
  const content = type === undefined ? undefined : response.content[type];
  if (!content) violations.add(`${name}: has the type ${type}; declared are ${Object.keys(response.content)}`);
  else if (type === 'application/json') validate(name, content.schema, body);
}

const parametersIn = ({ path }: DeclaredOperation): number => path.split('{').length;

function validate(name: string, schema: object, body: unknown): void {
  const validator = validators.get(name) ?? ajv?.compile(withFullReferences(schema) as object);
  if (!validator) return;
  validators.set(name, validator);
  if (validator(body)) return;
  for (const { instancePath, message, params } of validator.errors ?? [])
    violations.add(`${name}: ${instancePath.replace(/\/\d+/g, '/*')} ${message} ${JSON.stringify(params)}`);
}

/** References of the document, for a schema that is compiled by itself. */
export function withFullReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFullReferences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === '$ref' && typeof item === 'string' ? item.replace(/^#/, 'document#') : withFullReferences(item),
    ]),
  );
}

/** Returns the differences between answers and the document. */
export const answerViolations = (): string[] =>
  [...violations].map((text) => `An answer differs from the OpenAPI document. ${text}`);
