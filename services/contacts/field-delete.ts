import { type Db, inTransaction } from '../../db/connect.ts';
import { aggregateAllContactCounts } from '../../db/models/contact-counts.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { type Fragment, sql } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import { badRequest } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';
import { recordAudit } from '../audit/record.ts';
import { scopeOf } from '../conditions/scope.ts';
import { countField, readFieldName } from './fields.ts';

const CHUNK = 2_000;
/** Up to this many contacts are found by the index of keys; beyond, all contacts are read in the order of their addresses. */
const FEW = 5_000;
/** A pass misses a contact whose address changes meanwhile; the count shows whether another pass is needed. */
const PASSES = 3;

/**
 * Removes a key from every contact of the project and returns how many had it. Each chunk has its own transaction, so locks
 * are short and a repeated call continues after a crash.
 */
export async function deleteField(db: Db, project: ProjectAccess, name: string): Promise<number> {
  const { field, key } = readFieldName(name);
  if (key === undefined) throw badRequest(`${field} is a standard field; only custom fields can be deleted.`);
  await requireOpenProject(db, project);
  const { projectId } = project;
  let deletedFrom = 0;
  for (let pass = 1; pass <= PASSES; pass++) {
    const having = await countField(db, projectId, { field, key });
    if (having === 0) break;
    // Recorded first: the deletion takes many transactions.
    if (pass === 1) await recordAudit(db, project, { action: 'field.deleted', target: { type: 'field', id: key } });
    deletedFrom += having <= FEW ? await removeByIndex(db, projectId, key) : await removeByScan(db, projectId, key);
  }
  await deleteType(db, projectId, key);
  return deletedFrom;
}

async function removeByIndex(db: Db, projectId: string, key: string): Promise<number> {
  const scope = await scopeOf(db, projectId);
  const source = sql`select id, email, true as has from contacts
    where ${scope} and data_keys(data) @> array[${key}::text] limit ${CHUNK}`;
  let removed = 0;
  for (;;) {
    const chunk = await removeFromChunk(db, key, source);
    removed += chunk.removed;
    if (chunk.removed === 0) return removed;
  }
}

async function removeByScan(db: Db, projectId: string, key: string): Promise<number> {
  let removed = 0;
  for (let after: string | null = ''; after !== null; ) {
    const source = sql`select id, email, jsonb_exists(data, ${key}) as has from contacts
      where project_id = ${projectId} and email > ${after} order by email limit ${CHUNK}`;
    const chunk: Chunk = await removeFromChunk(db, key, source);
    removed += chunk.removed;
    after = chunk.last;
  }
  return removed;
}

interface Chunk {
  last: string | null;
  removed: number;
}

async function removeFromChunk(db: Db, key: string, source: Fragment): Promise<Chunk> {
  const [chunk] = await retryDeadlocks(db, () =>
    inTransaction(db, (trx) =>
      queryRows<Chunk>(
        trx,
        sql`with chunk as materialized (${source}),
        locked as materialized (
          select id from contacts where id = any (array(select id from chunk where has))
          order by email collate "C" for update
        ),
        removed as (
          update contacts set data = data - ${key}::text, updated_at = now()
          where id = any (array(select id from locked)) and jsonb_exists(data, ${key}) returning id
        )
        select max(email) as last, (select count(*)::integer from removed) as removed from chunk`,
      ),
    ),
  );
  return chunk ?? { last: null, removed: 0 };
}

const removeUnused = statement(
  'contact-field-remove',
  'delete from contact_fields where project_id = $1 and key = $2 and contacts = 0',
);

/** Keeps the type when another request has written the key again. */
async function deleteType(db: Db, projectId: string, key: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await aggregateAllContactCounts(trx, projectId);
    await removeUnused(trx, [projectId, key]);
  });
}
