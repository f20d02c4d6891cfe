// Sends mutated requests to every route of the OpenAPI document: no 5xx, no hang, bounded memory and event-loop delay.

import { connectDb } from '../../db/connect.ts';
import { pathsInFull } from '../../platform/openapi-references.ts';
import { createSession } from '../../services/sessions/sessions.ts';
import { makeProject, type TestProject } from '../../test/support/connected-database.ts';
import { createDatabase } from '../../test/support/postgres.ts';
import { startApi } from '../../test/support/processes.ts';
import { memoryOf } from '../memory.ts';
import { type SeededRandom, seededRandom } from '../random.ts';
import type { ProofRow } from '../report.ts';
import { anyJson, mutated, mutatedJson } from './mutate.ts';
import { type DocumentSchema, valueFor } from './schema-values.ts';

interface Parameter {
  name: string;
  in: string;
  schema?: DocumentSchema;
}

interface DocumentedOperation {
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, { schema?: DocumentSchema }> };
}

/** What is read of the OpenAPI document. */
interface OpenApiJson {
  paths: Record<
    string,
    { parameters?: Parameter[] } & Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', DocumentedOperation>>
  >;
}

interface Operation {
  method: string;
  path: string;
  parameters: Parameter[];
  body: DocumentSchema | undefined;
  contentType: string;
}

const TIMEOUT_MS = 15_000;
const WORKERS = 6;
const MEMORY_LIMIT = 768 * 1024 * 1024;
/** Measured by Node over the whole run (perf_hooks). Two cores are shared with the fuzzer itself. */
const DELAY_LIMIT_S = 1;

/** They end the project, its keys or the session, or answer with a stream that has no end. */
const LEFT_OUT = [
  /^DELETE \/(users\/@me\/projects|projects|users)\/\{/,
  /^POST .*(reset|regenerate|rotate|logout|delete-account)/,
  /^DELETE \/users/,
  /\/(listen|live)$/,
  /\/auth\/logout$/,
  /^\S+ \/users\/@me\/(totp|password|sessions)/,
];

export async function fuzzHttp(seed: number, lengthMs: number): Promise<ProofRow[]> {
  const database = await createDatabase();
  const api = await startApi({
    DATABASE_URL: database.url,
    // Nothing listens there: the API accepts without Temporal.
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    RATE_LIMIT_PER_MINUTE: '0',
    AUTO_PROJECT_DISABLE: 'false',
  });
  const db = connectDb({ databaseUrl: database.url, poolSize: 2, name: 'proof-fuzz' });
  const project = await makeProject(db);
  const cookie = `everpost_session=${await createSession(db, project.userId)}`;
  const document = (await (await fetch(`${api.url}/openapi.json`)).json()) as OpenApiJson;
  const operations = operationsOf({ paths: pathsInFull(document) });
  const known = new Set<string>();
  const statuses = new Map<string, number>();
  const violations = new Map<string, number>();
  let requests = 0;
  let peak = 0;
  const end = Date.now() + lengthMs;
  const note = (what: string) => violations.set(what, (violations.get(what) ?? 0) + 1);

  const work = async (worker: number): Promise<void> => {
    const random = seededRandom(seed, `http ${worker}`);
    // Every route at least once, in the order of the document; then any.
    for (let n = worker; Date.now() < end || n < operations.length; n += WORKERS) {
      const operation = operations[n] ?? random.pick(operations);
      const request = requestFor(operation, random, [...known].slice(-200));
      const began = Date.now();
      try {
        const answer = await fetch(api.url + request.path, {
          method: operation.method,
          headers: { ...request.headers, ...credentials(project, cookie, random) },
          signal: AbortSignal.timeout(TIMEOUT_MS),
          redirect: 'manual',
          ...(request.body !== undefined && { body: request.body }),
        });
        const text = await answer.text();
        for (const [id] of text.slice(0, 20_000).matchAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g))
          known.add(id);
        statuses.set(`${answer.status}`, (statuses.get(`${answer.status}`) ?? 0) + 1);
        if (answer.status >= 500)
          note(
            `${answer.status} ${operation.method} ${operation.path}: ${String(request.body).slice(0, 300)} -> ${text.slice(0, 200)}`,
          );
      } catch (error) {
        const what = Date.now() - began >= TIMEOUT_MS ? `no answer in ${TIMEOUT_MS} ms` : String(error);
        note(`${operation.method} ${request.path.slice(0, 200)}: ${what}`);
      }
      requests++;
      peak = Math.max(peak, memoryOf(api.pid));
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
  const delay = await eventLoopDelay(api.url);
  if (delay > DELAY_LIMIT_S) note(`the event loop was ${delay} s late at its 99th percentile`);
  if (peak > MEMORY_LIMIT) note(`the API used ${Math.round(peak / 1024 / 1024)} MB`);
  const alive = (await fetch(`${api.url}/health`).catch(() => undefined))?.ok;
  if (!alive) note(`the API no longer answers: ${api.logs().slice(-500)}`);
  const key = { authorization: `Bearer ${project.secretKey}` };
  const isOpen = (await fetch(`${api.url}/contacts`, { headers: key }).catch(() => undefined))?.ok;
  if (alive && !isOpen) note('the key no longer works, so most requests were refused');
  await api.kill();
  await db.destroy();
  await database.drop();
  const counts = [...statuses].sort().map(([status, count]) => `${status}: ${count}`);
  return [
    {
      part: 'fuzz',
      what: `HTTP: ${operations.length} operations`,
      checked: `${requests} requests`,
      violations: [...violations].map(([what, count]) => `${count} times ${what}`),
      note: `peak ${Math.round(peak / 1024 / 1024)} MB, event loop p99 ${(delay * 1000).toFixed(0)} ms`,
      details: counts.join(', '),
    },
  ];
}

function operationsOf({ paths }: OpenApiJson): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    (['get', 'post', 'put', 'patch', 'delete'] as const).flatMap((method) => {
      const found = item[method];
      const name = `${method.toUpperCase()} ${path}`;
      if (!found || LEFT_OUT.some((pattern) => pattern.test(name))) return [];
      const [contentType = 'application/json', content] = Object.entries(found.requestBody?.content ?? {})[0] ?? [];
      const parameters = [...(item.parameters ?? []), ...(found.parameters ?? [])];
      // Without the example of the whole: every field is made.
      const { examples: _whole, ...body } = content?.schema ?? {};
      return [{ method: method.toUpperCase(), path, parameters, body, contentType }];
    }),
  );
}

/** One request in five fits the schema; the others are mutated, or not even JSON. */
function requestFor(
  { path, parameters, body, contentType, method }: Operation,
  random: SeededRandom,
  known: string[],
): { path: string; headers: Record<string, string>; body: string | FormData | undefined } {
  const isMutated = random.next() < 0.8;
  const text = (schema: DocumentSchema | undefined) => {
    const value = String(valueFor(schema, random, known));
    return isMutated && random.next() < 0.3 ? mutated(value, random) : value;
  };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const schema = parameters.find((one) => one.name === name)?.schema ?? { type: 'string', format: 'uuid' };
    return encodeText(text(schema)) || 'x';
  });
  const query = parameters
    .filter((one) => one.in === 'query' && random.next() < 0.5)
    .map(({ name, schema }) => `${name}=${encodeText(text(schema))}`);
  const full = query.length > 0 ? `${filled}?${query.join('&')}` : filled;
  if (method === 'GET') return { path: full, headers: {}, body: undefined };
  if (contentType.startsWith('multipart/')) {
    const form = new FormData();
    form.set('file', new Blob([mutated('email,name\nann@example.com,Ann\n', random)]), 'contacts.csv');
    return { path: full, headers: {}, body: form };
  }
  const value = valueFor(body ?? {}, random, known);
  const json = JSON.stringify(isMutated ? mutatedJson(value, random) : value) ?? 'null';
  const isBroken = random.next() < 0.05;
  const sent = isBroken
    ? random.pick([mutated(json, random), '['.repeat(50_000), JSON.stringify(anyJson(random, 6))])
    : json;
  return { path: full, headers: { 'content-type': random.next() < 0.02 ? 'text/plain' : contentType }, body: sent };
}

/** A lone surrogate has no percent-encoding. */
const encodeText = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '?')).slice(0, 4_000);

const credentials = (project: TestProject, cookie: string, random: SeededRandom): Record<string, string> =>
  random.weighted({ secret: 6, session: 3, public: 1, none: 1 }) === 'session'
    ? { cookie, 'x-project-id': project.id }
    : random.next() < 0.9
      ? { authorization: `Bearer ${random.next() < 0.9 ? project.secretKey : project.publicKey}` }
      : {};

async function eventLoopDelay(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`).catch(() => undefined))?.text();
  return Number(/^nodejs_eventloop_lag_p99_seconds\S* (\S+)/m.exec(text ?? '')?.[1] ?? 0);
}
