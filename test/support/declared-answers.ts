// Compares every answer of an API in this process with the OpenAPI document: the status, the media type, the body with
// no field that the schema does not have, and the headers. Differences fail the run, and after a run of all API tests
// so do declared answers that none of them has seen. See docs/decisions/api-document.md.
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { Settings } from '../../platform/settings.ts';
import { apiDocument } from './api-document.ts';
import { schemaValidator, withFullReferences } from './json-schema.ts';

type Schema = Record<string, unknown>;

interface DeclaredHeader {
  $ref?: string;
  required?: boolean;
  schema?: Schema;
}

interface DeclaredResponse {
  $ref?: string;
  headers?: Record<string, DeclaredHeader>;
  content?: Record<string, { schema: Schema }>;
}

interface DeclaredOperation {
  responses: Record<string, DeclaredResponse>;
}

interface DeclaredDocument {
  openapi: string;
  paths: Record<string, Record<string, DeclaredOperation>>;
  components: {
    headers: Record<string, DeclaredHeader>;
    responses?: Record<string, DeclaredResponse>;
    [key: string]: unknown;
  };
}

/** An answer as the server sent it. The body is only kept for JSON. */
export interface SentAnswer {
  method: string;
  path: string;
  status: number;
  headers: OutgoingHttpHeaders;
  /** Without it the body is not checked: of a stream, or of an answer to HEAD. */
  body?: string;
}

interface Declared {
  name: string;
  segments: string[];
  responses: Record<string, DeclaredResponse>;
}

const MAX_LISTED = 5;
/** Only a race leads to them, so that not every run sees them (`oauth.test.ts`). */
const OF_RACES = ['POST /auth/signup 401'];
/** Sent while the headers are read, before there is a response object (`errors.test.ts`). */
const BEFORE_ROUTES = / 431$/;

export class AnswerChecker {
  /** Texts by difference, each with the test that met it first. */
  readonly differences = new Map<string, string>();
  private readonly operations = new Map<string, Declared[]>();
  private readonly headers: Record<string, DeclaredHeader>;
  private readonly validator: Ajv2020;
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly seen = new Set<string>();

  constructor(document: DeclaredDocument) {
    const strict = strictSchema(document.components) as DeclaredDocument['components'];
    this.validator = schemaValidator({ ...document, components: strict });
    this.headers = document.components.headers;
    const { responses: shared = {} } = document.components;
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { responses }] of Object.entries(methods)) {
        const name = `${method.toUpperCase()} ${path}`;
        const known = this.operations.get(method.toUpperCase()) ?? [];
        const declared = mapValues(responses, ({ $ref, ...response }) =>
          $ref ? (shared[nameIn($ref)] ?? {}) : response,
        );
        this.operations.set(method.toUpperCase(), [...known, { name, segments: path.split('/'), responses: declared }]);
      }
  }

  check(answer: SentAnswer, test: string): void {
    const operation = this.find(answer.method, answer.path);
    // 405 says that the path is one of another operation, which does not take the method.
    if (!operation || answer.status === 405) return;
    const { name, responses } = operation;
    const declared = responses[answer.status];
    // A browser that opens the address gets the error as a page (`api/presenters/error-page.ts`).
    const isPage = answer.status >= 400 && String(answer.headers['content-type']).startsWith('text/html');
    if (isPage && !declared?.content?.['text/html']) return;
    this.seen.add(`${name} ${answer.status}`);
    const found = declared
      ? this.compare(`${name} ${answer.status}`, declared, answer)
      : ['the status is not declared'];
    for (const difference of found) {
      const text = `${name} answered ${answer.status}: ${difference}`;
      if (!this.differences.has(text)) this.differences.set(text, test);
    }
  }

  /** The declared answers that were never sent. */
  unseen(): string[] {
    return [...this.operations.values()]
      .flat()
      .flatMap(({ name, responses }) => Object.keys(responses).map((status) => `${name} ${status}`))
      .filter((answer) => !this.seen.has(answer) && !OF_RACES.includes(answer) && !BEFORE_ROUTES.test(answer));
  }

  /** Prefers literal segments to parameters, from the left, as the router does. */
  private find(method: string, path: string): Declared | undefined {
    const given = path.split('/');
    const rank = ({ segments }: Declared) =>
      segments.map((one) => (one.endsWith('}') ? '2' : one.startsWith('{') ? '1' : '0')).join('');
    // A parameter may have an ending, such as `{formId}.js`.
    const fits = (segment: string, value: string) => value !== '' && value.endsWith(segment.replace(/^\{\w+\}/, ''));
    return (this.operations.get(method === 'HEAD' ? 'GET' : method) ?? [])
      .filter(({ segments }) => segments.length === given.length)
      .filter(({ segments }) =>
        segments.every((one, n) => (one.startsWith('{') ? fits(one, given[n] ?? '') : one === given[n])),
      )
      .sort((a, b) => rank(a).localeCompare(rank(b)))[0];
  }

  private compare(name: string, { headers = {}, content }: DeclaredResponse, answer: SentAnswer): string[] {
    const wrongHeaders = Object.entries(headers).flatMap(([key, header]) => this.compareHeader(key, header, answer));
    return [...wrongHeaders, ...this.compareBody(name, content, answer)];
  }

  private compareHeader(name: string, declared: DeclaredHeader, { headers }: SentAnswer): string[] {
    const { required, schema = {} } = this.headers[nameIn(declared.$ref ?? '')] ?? declared;
    const value = headers[name.toLowerCase()];
    if (value === undefined) return required ? [`the header ${name} is missing`] : [];
    const isNumber = schema.type === 'integer' || schema.type === 'number';
    const validate = this.compiled(`header ${name}`, schema);
    return validate(isNumber ? Number(value) : String(value)) ? [] : [`the header ${name} does not fit: ${value}`];
  }

  private compareBody(
    name: string,
    content: DeclaredResponse['content'],
    { status, headers, body }: SentAnswer,
  ): string[] {
    if (body === undefined) return [];
    const type = String(headers['content-type'] ?? '').split(';')[0];
    // Koa sends the name of the status with a redirection.
    if (!content) return body === '' || status >= 300 ? [] : [`a body of ${type} is not declared`];
    const media = content[type ?? ''] ?? content[`${type?.split('/')[0]}/*`];
    if (!media) return [`${type || 'no media type'} is not declared, but ${Object.keys(content).join(', ')}`];
    if (type !== 'application/json') return [];
    const validate = this.compiled(name, media.schema);
    if (validate(JSON.parse(body))) return [];
    const errors = (validate.errors ?? []).map(({ instancePath, message, params, keyword }) => {
      const field = params.unevaluatedProperty ?? params.additionalProperty;
      const where = field === undefined ? instancePath : `${instancePath}/${field}`;
      return field === undefined
        ? `${where || 'the body'} ${message}${keyword === 'enum' || keyword === 'const' ? ` ${JSON.stringify(params)}` : ''}`
        : `${where} is not declared`;
    });
    const texts = [...new Set(errors.map((text) => text.replaceAll(/\/\d+(?=\/| )/g, '/*')))];
    return [texts.slice(0, MAX_LISTED).join('; ')];
  }

  private compiled(name: string, schema: Schema): ValidateFunction {
    // Most answers share the schema of errors.
    const key = typeof schema.$ref === 'string' ? schema.$ref : name;
    const validate =
      this.validators.get(key) ?? this.validator.compile(withFullReferences(strictSchema(schema)) as object);
    this.validators.set(key, validate);
    return validate;
  }
}

const COMBINED = ['allOf', 'anyOf', 'oneOf'];

/** Forbids fields that a schema with fields does not name. The document itself leaves room for new ones. */
export function strictSchema(value: unknown, ofCombined = false): unknown {
  if (Array.isArray(value)) return value.map((item) => strictSchema(item, ofCombined));
  if (typeof value !== 'object' || value === null) return value;
  const schema = value as Schema;
  const hasFields = schema.type !== undefined && Object.keys(schema.properties ?? {}).length > 0;
  const closes = hasFields && schema.additionalProperties === undefined && schema.patternProperties === undefined;
  const entries = Object.entries(schema).map(([key, item]) => {
    if (key === 'properties' || key === 'schemas') return [key, mapValues(item as Schema, (one) => strictSchema(one))];
    // Together with their parent they describe one object.
    if (COMBINED.includes(key)) return [key, strictSchema(item, closes || ofCombined)];
    return [key, ['example', 'examples', 'default', 'enum', 'const'].includes(key) ? item : strictSchema(item)];
  });
  return Object.fromEntries([...entries, ...(closes && !ofCombined ? [['unevaluatedProperties', false]] : [])]);
}

const mapValues = <V, W>(record: Record<string, V>, change: (value: V) => W): Record<string, W> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** `#/components/responses/NotFound` ends with the name. */
const nameIn = (reference: string): string => reference.split('/').at(-1) ?? '';

/** Whether the API on a port serves `/metrics`; otherwise its document does not have it either. */
const servesMetrics = new Map<number, boolean>();
let checker: AnswerChecker | undefined;
let testTitle: () => string = () => '';

/** Checks the answers of the API on a port of this process. Returns how to stop. */
export function checkAnswersOf(
  port: number,
  { production, metricsPort }: Pick<Settings, 'production' | 'metricsPort'>,
  currentTest: () => string,
): () => void {
  servesMetrics.set(port, metricsPort === undefined && !production);
  // Another server may get the port later.
  const stop = () => void servesMetrics.delete(port);
  if (checker) return stop;
  testTitle = currentTest;
  checker = new AnswerChecker(apiDocument() as unknown as DeclaredDocument);
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const hasMetrics = servesMetrics.get(request.socket.localPort ?? 0);
    if (hasMetrics === undefined || (!hasMetrics && request.url === '/metrics')) return;
    follow(request, response);
  });
  return stop;
}

function follow(request: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET', url = '/' } = request;
  // Such requests are refused before any route is looked for.
  if (request.headers.host === undefined || !isDecodable(url)) return;
  const chunks: Buffer[] = [];
  const keep = (chunk: unknown, encoding: unknown) => {
    if (typeof chunk === 'string')
      chunks.push(Buffer.from(chunk, (typeof encoding === 'string' ? encoding : 'utf8') as BufferEncoding));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  const isJson = () => String(response.getHeader('content-type')).startsWith('application/json');
  const { write, end } = response;
  response.write = function (this: ServerResponse, ...args: unknown[]) {
    if (isJson()) keep(args[0], args[1]);
    return write.apply(this, args as Parameters<typeof write>);
  } as typeof write;
  let checked = false;
  const check = (body: string | undefined) => {
    if (checked) return;
    checked = true;
    const path = url.split('?')[0] ?? '/';
    const headers = response.getHeaders();
    checker?.check(
      { method, path, status: response.statusCode, headers, ...(body !== undefined && { body }) },
      testTitle(),
    );
  };
  response.end = function (this: ServerResponse, ...args: unknown[]) {
    keep(args[0], args[1]);
    check(method === 'HEAD' ? undefined : Buffer.concat(chunks).toString());
    return end.apply(this, args as Parameters<typeof end>);
  } as typeof end;
  // A stream that the client has left is never ended.
  response.once('close', () => response.headersSent && check(undefined));
}

function isDecodable(url: string): boolean {
  try {
    return !decodeURIComponent(url).includes('\0');
  } catch {
    return false;
  }
}

/** Returns what is not as declared, which fails the file whose tests met it first. */
export function answerDifferences(): string[] {
  const differences = [...(checker?.differences ?? [])].map(
    ([difference, test]) => `An answer differs from the OpenAPI document:\n  ${difference}\n  first in: ${test}`,
  );
  checker?.differences.clear();
  return differences;
}

/** Returns the declared answers that no test of this process has seen, or undefined if it has started no API. */
export const unseenAnswers = (): string[] | undefined => checker?.unseen();
