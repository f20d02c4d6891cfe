import { type Db, inTransaction } from '../../db/connect.ts';
import { foldAllCounts } from '../../db/models/contact-counts.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { badRequest } from '../../platform/errors.ts';
import { run, sql } from '../conditions/fragment.ts';
import type { ProjectAccess } from '../projects/keys.ts';
import { requireOpenProject } from '../projects/refusal.ts';
import { countField, readFieldName } from './fields.ts';

const CHUNK = 2_000;
/** A contact whose address changes while we go along the addresses can be missed; the counts tell. */
const PASSES = 3;

/**
 * Takes a key from every contact of the project, a chunk at a time, each in a transaction of its own: nobody waits for
 * long, and after a crash the same call does the rest. Gives back how many contacts had it.
 */
export async function deleteField(db: Db, project: ProjectAccess, name: string): Promise<number> {
  const field = readFieldName(name);
  if (field.key === undefined)
    throw badRequest(`${field.field} is a standard field; only custom fields can be deleted.`);
  await requireOpenProject(db, project);
  const { projectId } = project;
  let deletedFrom = 0;
  for (let pass = 1; pass <= PASSES && (await countField(db, projectId, field)) > 0; pass++)
    deletedFrom += await takeFromAll(db, projectId, field.key);
  await forgetType(db, projectId, field.key);
  return deletedFrom;
}

interface Chunk {
  last: string | null;
  taken: number;
}

async function takeFromAll(db: Db, projectId: string, key: string): Promise<number> {
  let taken = 0;
  for (let after: string | null = ''; after !== null; ) {
    const chunk: Chunk = await takeFromChunk(db, projectId, key, after);
    taken += chunk.taken;
    after = chunk.last;
  }
  return taken;
}

async function takeFromChunk(db: Db, projectId: string, key: string, after: string): Promise<Chunk> {
  const [chunk] = await retryDeadlocks(db, () =>
    run<Chunk>(
      db,
      sql`with chunk as materialized (
          select id, email, jsonb_exists(data, ${key}) as has from contacts
          where project_id = ${projectId} and email > ${after} order by email limit ${CHUNK}
        ),
        held as materialized (
          select c.id from contacts c join chunk using (id) where chunk.has order by c.email collate "C" for update of c
        ),
        taken as (
          update contacts c set data = c.data - ${key}::text, updated_at = now()
          from held where c.id = held.id and jsonb_exists(c.data, ${key}) returning c.id
        )
        select max(email) as last, (select count(*)::integer from taken) as taken from chunk`,
    ),
  );
  return chunk ?? { last: null, taken: 0 };
}

/** Not while somebody writes the key again at this very moment: then it has a type. */
async function forgetType(db: Db, projectId: string, key: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await foldAllCounts(trx, projectId);
    await trx('contact_fields').where({ projectId, key, contacts: 0 }).del();
  });
}
