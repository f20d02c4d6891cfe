import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import type { Violation } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { Logger } from '../../platform/logger.ts';
import { logFailure } from '../../platform/outages.ts';
import { processTimings } from '../../platform/timings.ts';
import { type CursorPage, cutPage } from '../paging.ts';

/** A request that failed with 400 or above, or that succeeded in a project that logs these too. */
export interface LoggedRequest {
  projectId: string;
  at: Date;
  requestId: string;
  method: string;
  /** The declared path. */
  route: string;
  status: number;
  code: string | null;
  message: string;
  /** What each field has wrong. */
  errors?: Violation[] | undefined;
  /** The name of one of the two keys that every project has; null for a session or a scoped key. */
  keyName: string | null;
  /** A scoped key. */
  keyId: string | null;
  userId: string | null;
}

/** As it is listed. */
export interface ListedRequest extends Omit<LoggedRequest, 'userId' | 'keyId' | 'projectId' | 'errors'> {
  id: string;
  errors: Violation[];
  /** The address of the session's user. */
  user: string | null;
}

/** Of those that failed, and of those that succeeded. */
const KEPT = 1_000;
const KEPT_DAYS = 7;
/** Waiting in this process, of one project and kind, and of all; older ones are dropped. */
const MAX_WAITING_OF_KIND = KEPT;
const MAX_WAITING = 20_000;
const MAX_MESSAGE = 500;
const MAX_ERRORS = 20;
const MAX_FIELD = 300;
const ADDRESS = /[^\s"'<>(),;:]{1,64}@[^\s"'<>(),;]{1,255}/g;

const insert = statement(
  'failed-requests-insert',
  `insert into failed_requests (id, project_id, at, request_id, method, route, status, code, message, key_name, key_id, user_id,
     errors)
   select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::smallint[],
     $8::text[], $9::text[], $10::text[], $11::uuid[], $12::uuid[], $13::jsonb[])`,
);

// One process at a time: two that delete the same rows in different orders would wait for each other.
const trim = statement(
  'failed-requests-trim',
  `delete from failed_requests f using (select pg_advisory_xact_lock(hashtextextended('trim failed requests', 0))) turn, (
     select p.project_id, kind.failed, (select id from failed_requests r
       where r.project_id = p.project_id and (r.status >= 400) = kind.failed order by id desc offset ${KEPT} limit 1) as last
     from unnest($1::uuid[]) as p (project_id), (values (true), (false)) as kind (failed)
   ) old where f.project_id = old.project_id and (f.status >= 400) = old.failed and f.id <= old.last`,
);

/** Collects requests and writes them once a second, so that no request waits for it. */
export class RequestLog {
  private waiting = new Map<string, (LoggedRequest & { id: string })[]>();
  private count = 0;
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> = Promise.resolve();
  private readonly db: Db;
  private readonly log: Logger;
  private readonly flushMs: number;

  constructor(db: Db, log: Logger, flushMs = processTimings.requestLog.flush) {
    this.db = db;
    this.log = log;
    this.flushMs = flushMs;
  }

  add(request: LoggedRequest): void {
    const { projectId, status, message } = request;
    // Many that succeed must not replace those that fail.
    const kind = `${projectId} ${status >= 400}`;
    const known = this.waiting.get(kind) ?? [];
    if (this.count >= MAX_WAITING) return;
    this.waiting.set(kind, known);
    known.push({ ...request, id: newId(), message: withoutAddresses(message) });
    this.count++;
    if (known.length > MAX_WAITING_OF_KIND) {
      known.shift();
      this.count--;
    }
    this.timer ??= setTimeout(() => this.flush(), this.flushMs).unref();
  }

  /** Writes what is left. */
  async stop(): Promise<void> {
    this.flush();
    await this.flushing;
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { waiting } = this;
    if (waiting.size === 0) return;
    this.waiting = new Map();
    this.count = 0;
    this.flushing = this.flushing
      .then(() => this.write([...waiting.values()].flat()))
      // They are lost: this log must not fail a request, nor fill the memory during an outage.
      .catch((err: unknown) => logFailure(this.log, { err }, 'requests could not be recorded'));
  }

  private async write(requests: (LoggedRequest & { id: string })[]): Promise<void> {
    const column = <K extends keyof LoggedRequest | 'id'>(name: K) => requests.map((request) => request[name]);
    await insert(this.db, [
      ...(['id', 'projectId', 'at', 'requestId', 'method', 'route', 'status', 'code', 'message'] as const).map(column),
      ...(['keyName', 'keyId', 'userId'] as const).map(column),
      requests.map(({ errors = [] }) => JSON.stringify(storedErrors(errors))),
    ]);
    await trim(this.db, [[...new Set(column('projectId'))]]);
  }
}

/** Names and rules, never values. */
const storedErrors = (errors: Violation[]): Violation[] =>
  errors.slice(0, MAX_ERRORS).map(({ field, code, message }) => ({
    field: withoutAddresses(field.slice(0, MAX_FIELD)),
    code,
    message: withoutAddresses(message),
  }));

const withoutAddresses = (message: string): string => message.slice(0, MAX_MESSAGE).replace(ADDRESS, '[address]');

export interface RequestsQuery {
  limit: number;
  cursor?: string | undefined;
  status?: number | undefined;
  route?: string | undefined;
  /** Those that succeeded instead of those that failed. */
  successful?: boolean | undefined;
}

const FILTERED = `r.project_id = $1 and ($2::smallint is null or r.status = $2)
  and ($3::text is null or $3 in (r.route, r.method || chr(32) || r.route)) and (r.status >= 400) <> $4::boolean`;

const list = statement<ListedRequest>(
  'failed-requests-list',
  `select r.id, r.at, r.request_id, r.method, r.route, r.status, r.code, r.message, r.errors, u.email as "user",
     coalesce(k.name, r.key_name) as key_name
   from failed_requests r
   left join users u on u.id = r.user_id
   left join scoped_keys k on k.id = r.key_id and k.project_id = r.project_id
   where ${FILTERED} and ($5::uuid is null or r.id < $5) order by r.id desc limit $6`,
);
const count = statement<{ total: number }>(
  'failed-requests-count',
  `select count(*)::integer as total from failed_requests r where ${FILTERED}`,
);

/** Returns the newest first. There are at most a thousand of each kind, so filters need no index. */
export async function listRequests(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { limit, cursor, status, route, successful = false }: RequestsQuery,
): Promise<CursorPage<ListedRequest>> {
  const boundTo = [projectId, 'requests', String(status ?? ''), route ?? '', String(successful)];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as string);
  const filter = [projectId, status ?? null, route ?? null, successful];
  const [rows, [{ total } = { total: 0 }]] = await Promise.all([
    list(db, [...filter, after ?? null, limit + 1]),
    after === undefined ? count(db, filter) : [],
  ]);
  return cutPage(rows, { limit, total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}

const removeOld = statement(
  'failed-requests-remove',
  `delete from failed_requests where at < now() - interval '${KEPT_DAYS} days'`,
);

/** Housekeeping. */
export async function deleteOldRequests(db: Db): Promise<void> {
  await removeOld(db);
}
