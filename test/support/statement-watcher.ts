// Checks every SQL statement that an API in this process sends. See docs/decisions/tenant-isolation.md.
// One that uses a tenant table passes if
//   - the statement compares the project of each such table with a value from outside, or
//   - it uses ids that a statement of the same request read within a project, or
//   - it is an allowed statement.
// Any other fails the run.
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { loadModule } from 'libpg-query';
import pg, { type QueryResult } from 'pg';
import { type AllowedStatement, allowedStatements } from './allowed-statements.ts';
import { analyze, type Catalogue, normalize, type Ref, unbound } from './sql-scope.ts';

/** The pool of `api/start.ts`; statements of the tests themselves use another name. */
const API_POOL = 'everpost-api';
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

export interface SentStatement {
  name?: string;
  text: string;
  values?: unknown[];
}

export interface Violation {
  statement: string;
  tables: string[];
  test: string;
  /** Why the statement cannot be analyzed. */
  error?: string;
}

/** Ids that the statements of one request read within a project. */
export type TrustedIds = Set<string>;

export class StatementWatcher {
  readonly violations = new Map<string, Violation>();
  private readonly catalogue: Catalogue;
  private readonly allowed: Map<string, AllowedStatement>;
  private readonly used = new Set<string>();
  private readonly analyzed = new Map<string, Ref[]>();

  constructor(catalogue: Catalogue, allowed: AllowedStatement[] = allowedStatements) {
    this.catalogue = catalogue;
    this.allowed = new Map(allowed.map((entry) => [entry.statement, entry]));
  }

  /** Returns whether the ids in the result can be trusted: all rows belong to the request's project. */
  check({ name, text: sent, values = [] }: SentStatement, test: string, trusted: TrustedIds = new Set()): boolean {
    // A plan is asked for the sake of its estimate, and tells about the same rows.
    const text = sent.replace(/^explain \(format json\) /, '');
    let refs = this.analyzed.get(text);
    try {
      refs ??= analyze(text, this.catalogue);
    } catch (error) {
      this.violations.set(text, { statement: normalize(text), tables: [], test, error: (error as Error).message });
      return false;
    }
    this.analyzed.set(text, refs);
    const isTrusted = (params: number[]) =>
      areTrusted(
        params.map((number) => values[number - 1]),
        trusted,
      );
    const unboundTables = [...new Set(unbound(refs, isTrusted).map((ref) => ref.name))].sort();
    if (unboundTables.length === 0) return refs.some(({ kind }) => kind === 'table' || kind === 'call');
    const statement = normalize(text);
    const allowed = this.allowed.get(name ?? '') ?? this.allowed.get(statement);
    if (allowed) this.used.add(allowed.statement);
    const tables = unboundTables.filter((table) => !allowed?.tables.includes(table));
    const key = `${statement} ${tables}`;
    if (tables.length > 0 && !this.violations.has(key))
      this.violations.set(key, { statement: name ? `${name}: ${statement}` : statement, tables, test });
    return false;
  }

  unused(): string[] {
    return [...this.allowed.keys()].filter((statement) => !this.used.has(statement));
  }
}

function areTrusted(values: unknown[], trusted: TrustedIds): boolean {
  return values.every((value) => {
    const isEmpty = value === '{}' || (Array.isArray(value) && value.length === 0);
    const ids = JSON.stringify(value ?? null).match(UUID) ?? [];
    return isEmpty || (ids.length > 0 && ids.every((id) => trusted.has(id.toLowerCase())));
  });
}

/** Trusts ids in columns of the result, not those inside JSON documents, which clients write. */
export function trust(result: QueryResult | undefined, trusted: TrustedIds): void {
  for (const row of result?.rows ?? [])
    for (const value of Object.values(row as object).flat())
      if (typeof value === 'string' && value.length === 36 && value.match(UUID)) trusted.add(value.toLowerCase());
}

const requests = new AsyncLocalStorage<TrustedIds>();
let watcher: StatementWatcher | undefined;
let currentTest = 'a hook before the first test';

let installed: Promise<void> | undefined;

/** Installs the watcher when a test starts the first API. */
export function watchStatements(readCatalogue: () => Promise<Catalogue>): Promise<void> {
  installed ??= loadModule().then(readCatalogue).then(install);
  return installed;
}

function install(catalogue: Catalogue): void {
  watcher = new StatementWatcher(catalogue);
  subscribe('http.server.request.start', () => requests.enterWith(new Set()));
  const { prototype } = pg.Client;
  const send = prototype.query as (this: pg.Client, ...args: unknown[]) => unknown;
  const watched = function (
    this: pg.Client & { connectionParameters?: { application_name?: string } },
    ...args: unknown[]
  ) {
    if (this.connectionParameters?.application_name !== API_POOL) return send.apply(this, args);
    return sendWatched((given) => send.apply(this, given), args);
  };
  prototype.query = watched as typeof prototype.query;
}

function sendWatched(send: (args: unknown[]) => unknown, args: unknown[]): unknown {
  const [first, second] = args;
  const values = Array.isArray(second) ? second : undefined;
  const sent = (
    typeof first === 'string' ? { text: first, values } : { values, ...(first as SentStatement) }
  ) as SentStatement;
  const trusted = requests.getStore() ?? new Set<string>();
  if (!watcher?.check(sent, currentTest, trusted)) return send(args);
  const callback = args.at(-1);
  if (typeof callback === 'function') {
    const onResult = (error: unknown, result: QueryResult) => {
      trust(result, trusted);
      callback(error, result);
    };
    return send([...args.slice(0, -1), onResult]);
  }
  const answer = send(args);
  if (answer instanceof Promise) answer.then((result: QueryResult) => trust(result, trusted)).catch(() => {});
  return answer;
}

export function setCurrentTest(title: string): void {
  currentTest = title;
}

export const getCurrentTest = (): string => currentTest;

/** Returns the errors that fail the file whose tests met them first. */
export function watcherViolations(): string[] {
  const violations = [...(watcher?.violations.values() ?? [])].map(({ statement, tables, test, error }) => {
    const problem = error
      ? `The API sends a statement that cannot be analyzed (${error})`
      : `The API uses ${tables.join(', ')} without the project`;
    return `${problem}:\n  ${statement}\n  first sent in: ${test}`;
  });
  watcher?.violations.clear();
  return violations;
}

/** Returns the allowed statements that this process has not used, or undefined if it has started no API. */
export const unusedStatements = (): string[] | undefined => watcher?.unused();
