import { type Db, inTransaction } from '../../db/connect.ts';
import { aggregateAllContactCounts } from '../../db/models/contact-counts.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { badRequest } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';
import { type Fragment, run, sql } from '../conditions/fragment.ts';
import { scopeOf } from '../conditions/scope.ts';
import { countField, readFieldName } from './fields.ts';

const CHUNK = 2_000;
/** So many are found by the index of keys; to find more, one goes along all addresses. */
const FEW = 5_000;
/** A contact whose address changes while we go along the addresses can be missed; the counts tell. */
const PASSES = 3;

/**
 * Takes a key from every contact of the project, a chunk at a time, each in a transaction of its own: nobody waits for
 * long, and after a crash the same call does the rest. Gives back how many contacts had it.
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
    deletedFrom += having <= FEW ? await takeFromFew(db, projectId, key) : await takeFromAll(db, projectId, key);
  }
  await forgetType(db, projectId, key);
  return deletedFrom;
}

async function takeFromFew(db: Db, projectId: string, key: string): Promise<number> {
  const scope = await scopeOf(db, projectId);
  const source = sql`select id, email, true as has from contacts
    where ${scope} and data_keys(data) @> array[${key}::text] limit ${CHUNK}`;
  let taken = 0;
  for (;;) {
    const chunk = await takeFromChunk(db, key, source);
    taken += chunk.taken;
    if (chunk.taken === 0) return taken;
  }
}

async function takeFromAll(db: Db, projectId: string, key: string): Promise<number> {
  let taken = 0;
  for (let after: string | null = ''; after !== null; ) {
    const source = sql`select id, email, jsonb_exists(data, ${key}) as has from contacts
      where project_id = ${projectId} and email > ${after} order by email limit ${CHUNK}`;
    const chunk: Chunk = await takeFromChunk(db, key, source);
    taken += chunk.taken;
    after = chunk.last;
  }
  return taken;
}

interface Chunk {
  last: string | null;
  taken: number;
}

async function takeFromChunk(db: Db, key: string, source: Fragment): Promise<Chunk> {
  const [chunk] = await retryDeadlocks(db, () =>
    inTransaction(db, (trx) =>
      run<Chunk>(
        trx,
        sql`with chunk as materialized (${source}),
        held as materialized (
          select id from contacts where id = any (array(select id from chunk where has))
          order by email collate "C" for update
        ),
        taken as (
          update contacts set data = data - ${key}::text, updated_at = now()
          where id = any (array(select id from held)) and jsonb_exists(data, ${key}) returning id
        )
        select max(email) as last, (select count(*)::integer from taken) as taken from chunk`,
      ),
    ),
  );
  return chunk ?? { last: null, taken: 0 };
}

/** Not while somebody writes the key again at this very moment: then it has a type. */
async function forgetType(db: Db, projectId: string, key: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await aggregateAllContactCounts(trx, projectId);
    await trx('contact_fields').where({ projectId, key, contacts: 0 }).del();
  });
}
