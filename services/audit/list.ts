import type { Db } from '../../db/connect.ts';
import { type Fragment, joined, sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { isUuid } from '../../platform/ids.ts';
import { type CursorPage, countList, cutPage, UNCOUNTED } from '../paging.ts';
import { readRange } from '../range.ts';
import type { Actor, Changes } from './record.ts';

/** Older rows are hidden; their months are dropped when all of them is older. */
export const AUDIT_RETENTION_DAYS = 400;

export interface AuditQuery {
  /** A type of actor, or an id. */
  actor?: string | undefined;
  action?: string | undefined;
  /** A type of target, or an id. */
  target?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  limit: number;
  cursor?: string | undefined;
}

export interface AuditEntry {
  id: string;
  at: Date;
  actor: { type: Actor['type']; id: string | null; name: string | null };
  ip: string | null;
  requestId: string | null;
  action: string;
  target: { type: string; id: string | null; name: string | null } | null;
  changes: Changes;
}

interface AuditRow {
  id: string;
  at: Date;
  /** With microseconds, which a Date cannot hold. */
  exactAt: string;
  actorType: Actor['type'];
  actorId: string | null;
  ip: string | null;
  requestId: string | null;
  action: string;
  targetType: string | null;
  targetId: string | null;
  changes: Changes;
}

interface AuditPosition {
  at: string;
  id: string;
}

/** Lists what was done in a project, newest first. */
export function listAudit(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  asked: AuditQuery,
): Promise<CursorPage<AuditEntry>> {
  const ofProject = sql`project_id = ${projectId}`;
  return page(db, ofProject, { ...asked, keys, boundTo: [projectId, 'audit'] }, projectId);
}

/** Lists the log-ins of an account, failed ones, and changes of its security, newest first. */
export function listAuditOfUser(
  db: Db,
  userId: string,
  keys: SigningKeys,
  asked: Pick<AuditQuery, 'limit' | 'cursor'>,
): Promise<CursorPage<AuditEntry>> {
  return page(db, sql`user_id = ${userId}`, { ...asked, keys, boundTo: [userId, 'audit-of-user'] });
}

async function page(
  db: Db,
  scope: Fragment,
  { keys, boundTo: listName, limit, cursor, ...asked }: AuditQuery & { keys: SigningKeys; boundTo: string[] },
  projectId?: string,
): Promise<CursorPage<AuditEntry>> {
  const { actor, action, target, since, until } = asked;
  const boundTo = [...listName, JSON.stringify([actor, action, target, since, until])];
  const before = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as AuditPosition);
  const filter = joined([scope, ...conditionsOf(asked)], ' and ');
  const total = before ? UNCOUNTED : await countList(db, sql`select 1 from audit_log where ${filter}`);
  const rest = before ? sql`${filter} and (at, id) < (${before.at}::timestamptz, ${before.id}::uuid)` : filter;
  const rows = await queryRows<AuditRow>(
    db,
    sql`select id, at, at::text as exact_at, actor_type, actor_id, ip, request_id, action, target_type, target_id, changes
        from audit_log where ${rest} order by at desc, id desc limit ${limit + 1}`,
  );
  const { data, ...cut } = cutPage(rows, {
    limit,
    ...total,
    cursorAfter: ({ exactAt, id }) => signCursor(keys, boundTo, { at: exactAt, id } satisfies AuditPosition),
  });
  const names = await readNames(db, projectId, data);
  return { ...cut, data: data.map((row) => entryOf(row, names, projectId)) };
}

const actorTypes: readonly string[] = ['USER', 'KEY', 'SYSTEM'] satisfies Actor['type'][];

function conditionsOf({ actor, action, target, since, until }: Omit<AuditQuery, 'limit' | 'cursor'>): Fragment[] {
  const { from, to } = readRange({ startDate: since, endDate: until }, { start: 'since', end: 'until' });
  const conditions = [sql`at > now() - make_interval(days => ${AUDIT_RETENTION_DAYS})`];
  if (from) conditions.push(sql`at >= ${from}`);
  if (to) conditions.push(sql`at < ${to}`);
  if (actor !== undefined)
    conditions.push(actorTypes.includes(actor) ? sql`actor_type = ${actor}` : sql`actor_id = ${actor}`);
  if (action !== undefined) conditions.push(sql`action = ${action}`);
  if (target !== undefined)
    conditions.push(Object.hasOwn(namedTables, target) ? sql`target_type = ${target}` : sql`target_id = ${target}`);
  return conditions;
}

/** Where the present name of a target is found, by its type. Types without a table have no name. */
const namedTables: Record<string, { table: string; name: string } | undefined> = {
  campaign: { table: 'campaigns', name: 'name' },
  contact: { table: 'contacts', name: 'email' },
  domain: { table: 'domains', name: 'domain' },
  key: { table: 'scopedKeys', name: 'name' },
  saved_block: { table: 'savedBlocks', name: 'name' },
  segment: { table: 'segments', name: 'name' },
  template: { table: 'templates', name: 'name' },
  topic: { table: 'topics', name: 'name' },
  form: { table: 'forms', name: 'name' },
  webhook_endpoint: { table: 'webhookEndpoints', name: 'description' },
  workflow: { table: 'workflows', name: 'name' },
  user: { table: 'users', name: 'email' },
  project: { table: 'projects', name: 'name' },
  brand_kit: undefined,
  contacts: undefined,
  field: undefined,
  event: undefined,
  job: undefined,
  suppression: undefined,
};

/** Names by id. Ids are unique over all tables. */
type Names = Map<string, string>;

async function readNames(db: Db, projectId: string | undefined, rows: AuditRow[]): Promise<Names> {
  const idsOf = new Map<string, Set<string>>();
  const want = (type: string, id: string | null) => {
    if (id !== null && isUuid(id)) idsOf.set(type, (idsOf.get(type) ?? new Set()).add(id));
  };
  for (const { actorType, actorId, targetType, targetId } of rows) {
    want(actorType.toLowerCase(), actorId);
    if (targetType !== null) want(targetType, targetId);
  }
  const names: Names = new Map();
  for (const [type, ids] of idsOf) {
    const source = namedTables[type];
    if (!source) continue;
    const found = db(source.table).whereIn('id', [...ids]);
    if (type === 'project') found.where({ id: projectId ?? null });
    else if (type !== 'user') found.where({ projectId: projectId ?? null });
    for (const { id, name } of await found.select('id', { name: source.name })) names.set(id, name);
  }
  return names;
}

function entryOf(row: AuditRow, names: Names, projectId: string | undefined): AuditEntry {
  const { id, at, actorType, actorId, ip, requestId, action, targetType, targetId, changes } = row;
  const target = targetType === null ? null : { type: targetType, id: targetId, name: targetName(row, names) };
  const actor = { type: actorType, id: actorId, name: actorName(row, names, projectId) };
  return { id, at, actor, ip, requestId, action, target, changes };
}

/** The key pair has the project's id, and the project's name would be misleading. */
function actorName({ actorType, actorId }: AuditRow, names: Names, projectId: string | undefined): string | null {
  if (actorType === 'SYSTEM') return 'System';
  if (actorType === 'KEY' && actorId === projectId) return 'Secret key';
  return names.get(actorId ?? '') ?? null;
}

/** A deletion has recorded the last name of what is gone. */
function targetName({ targetType, targetId, changes }: AuditRow, names: Names): string | null {
  const { name } = changes;
  const last = name && 'from' in name && typeof name.from === 'string' ? name.from : null;
  return names.get(targetId ?? '') ?? (targetType === 'field' || targetType === 'event' ? targetId : last);
}
