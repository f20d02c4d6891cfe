import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { newId } from '../../platform/ids.ts';
import type { Logger } from '../../platform/logger.ts';
import { logFailure } from '../../platform/outages.ts';
import { processTimings } from '../../platform/timings.ts';
import { type CursorPage, cutPage } from '../paging.ts';

/** A request that was answered with 400 or above. */
export interface FailedRequest {
  projectId: string;
  at: Date;
  requestId: string;
  method: string;
  /** The declared path. */
  route: string;
  status: number;
  code: string | null;
  message: string;
  /** The name of one of the two keys that every project has; null for a session or a scoped key. */
  keyName: string | null;
  /** A scoped key. */
  keyId: string | null;
  userId: string | null;
}

/** As it is listed. */
export interface ListedRequest extends Omit<FailedRequest, 'userId' | 'keyId' | 'projectId'> {
  id: string;
  /** The address of the session's user. */
  user: string | null;
}

const KEPT = 1_000;
const KEPT_DAYS = 7;
/** Waiting in this process, of one project and of all; older ones are dropped. */
const MAX_WAITING_OF_PROJECT = KEPT;
const MAX_WAITING = 20_000;
const MAX_MESSAGE = 500;
const ADDRESS = /[^\s"'<>(),;:]{1,64}@[^\s"'<>(),;]{1,255}/g;

const insert = statement(
  'failed-requests-insert',
  `insert into failed_requests (id, project_id, at, request_id, method, route, status, code, message, key_name, key_id, user_id)
   select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::smallint[],
     $8::text[], $9::text[], $10::text[], $11::uuid[], $12::uuid[])`,
);

// One process at a time: two that delete the same rows in different orders would wait for each other.
const trim = statement(
  'failed-requests-trim',
  `delete from failed_requests f using (select pg_advisory_xact_lock(hashtextextended('trim failed requests', 0))) turn, (
     select p.project_id, (select id from failed_requests r where r.project_id = p.project_id
       order by id desc offset ${KEPT} limit 1) as last
     from unnest($1::uuid[]) as p (project_id)
   ) old where f.project_id = old.project_id and f.id <= old.last`,
);

/** Collects failed requests and writes them once a second, so that no request waits for it. */
export class FailedRequests {
  private waiting = new Map<string, (FailedRequest & { id: string })[]>();
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

  add(request: FailedRequest): void {
    const { projectId, message } = request;
    const known = this.waiting.get(projectId) ?? [];
    if (this.count >= MAX_WAITING) return;
    this.waiting.set(projectId, known);
    known.push({ ...request, id: newId(), message: withoutAddresses(message) });
    this.count++;
    if (known.length > MAX_WAITING_OF_PROJECT) {
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
      .catch((err: unknown) => logFailure(this.log, { err }, 'failed requests could not be recorded'));
  }

  private async write(requests: (FailedRequest & { id: string })[]): Promise<void> {
    const column = <K extends keyof FailedRequest | 'id'>(name: K) => requests.map((request) => request[name]);
    await insert(this.db, [
      ...(['id', 'projectId', 'at', 'requestId', 'method', 'route', 'status', 'code', 'message'] as const).map(column),
      ...(['keyName', 'keyId', 'userId'] as const).map(column),
    ]);
    await trim(this.db, [[...new Set(column('projectId'))]]);
  }
}

const withoutAddresses = (message: string): string => message.slice(0, MAX_MESSAGE).replace(ADDRESS, '[address]');

export interface FailedRequestsQuery {
  limit: number;
  cursor?: string | undefined;
  status?: number | undefined;
  route?: string | undefined;
}

/** Returns the newest first. There are at most a thousand, so filters need no index. */
export async function listFailedRequests(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { limit, cursor, status, route }: FailedRequestsQuery,
): Promise<CursorPage<ListedRequest>> {
  const boundTo = [projectId, 'requests', String(status ?? ''), route ?? ''];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as string);
  const filtered = () =>
    db('failedRequests as r')
      .where({ 'r.projectId': projectId, ...(status !== undefined && { 'r.status': status }) })
      .modify((query) => {
        if (route !== undefined) query.whereRaw('? in (r.route, r.method || chr(32) || r.route)', [route]);
      });
  const list = filtered()
    .leftJoin('users as u', 'u.id', 'r.userId')
    .leftJoin('scopedKeys as k', { 'k.id': 'r.keyId', 'k.projectId': 'r.projectId' })
    .orderBy('r.id', 'desc')
    .limit(limit + 1);
  if (after !== undefined) list.where('r.id', '<', after);
  const columns = ['id', 'at', 'requestId', 'method', 'route', 'status', 'code', 'message'];
  const [rows, [{ total = 0 } = {}]] = await Promise.all([
    list.select<ListedRequest[]>(
      ...columns.map((column) => `r.${column}`),
      'u.email as user',
      db.raw('coalesce(k.name, r.key_name) as key_name'),
    ),
    after === undefined ? filtered().count('* as total') : [{ total: 0 }],
  ]);
  return cutPage(rows, { limit, total: Number(total), cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}

/** Housekeeping. */
export async function deleteOldRequests(db: Db): Promise<void> {
  await db.raw(`delete from failed_requests where at < now() - interval '${KEPT_DAYS} days'`);
}
