import type { Db } from '../../db/connect.ts';
import type { BulkType } from '../../db/models/job.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';
import { queryFragment, sql } from '../conditions/fragment.ts';
import { contactsWhere, type Matching } from '../conditions/matching.ts';
import { requireCondition } from '../conditions/parse.ts';
import { findSegment } from '../segments/find.ts';
import { guarded } from '../segments/guard.ts';
import { contactsMatching, membersOf } from '../segments/matching.ts';
import { CHUNK_CONTACTS } from './chunks.ts';
import { insertJob, newBulkJob } from './create.ts';

/** Which contacts to change, and how many of them the caller has seen. */
export interface ContactSelection {
  condition?: unknown;
  segmentId?: string | undefined;
  expectedCount: number;
}

const CONDITION_FIELD = 'condition';

/** Selecting a million contacts takes seconds. */
const TIMEOUT_MS = 30_000;
/** How far the number may be from what the caller has seen. */
const TOLERANCE = 0.01;

/**
 * Creates a bulk job for the contacts that match now. Stores their ids, so that a contact that matches only later is not
 * changed, and one that stops matching because it was changed is not missed.
 */
export async function createJobByCondition(
  db: Db,
  project: ProjectAccess,
  type: BulkType,
  { condition, segmentId, expectedCount }: ContactSelection,
  limits: Limits = UNLIMITED,
): Promise<string> {
  const { projectId } = project;
  const segment = segmentId === undefined ? undefined : await findSegment(db, projectId, segmentId);
  const parsed = segment ? undefined : requireCondition(condition, { at: CONDITION_FIELD });
  return guarded(
    db,
    projectId,
    async (trx) => {
      await requireOpenProject(trx, project);
      const id = newId();
      const matching = segment
        ? await membersOf(trx, segment)
        : await contactsMatching(trx, projectId, parsed as NonNullable<typeof parsed>, CONDITION_FIELD);
      const count = await storeContacts(trx, id, matching);
      if (Math.abs(count - expectedCount) > expectedCount * TOLERANCE) throw countDiffers(count, expectedCount);
      await trx('jobInputs').insert({ jobId: id });
      return insertJob(trx, project, id, newBulkJob(type, count), limits);
    },
    TIMEOUT_MS,
  );
}

/** Stores the ids of the contacts in parts, and returns how many there are. */
async function storeContacts(trx: Db, jobId: string, matching: Matching): Promise<number> {
  const rows = await queryFragment<{ contacts: number }>(
    trx,
    sql`insert into job_chunks (job_id, number, contact_ids)
      select ${jobId}, number, array_agg(id) from (
        select c.id, (row_number() over (order by c.id) - 1) / ${CHUNK_CONTACTS}::integer as number ${contactsWhere(matching)}
      ) found group by number
      returning cardinality(contact_ids) as contacts`,
  );
  return rows.reduce((sum, { contacts }) => sum + contacts, 0);
}

const countDiffers = (count: number, expectedCount: number) =>
  new ApiError(409, 'CONFLICT', `${count} contacts match, not the expected ${expectedCount}.`, {
    details: { count, expectedCount },
    suggestion: 'Review the contacts, then send the new count as "expectedCount".',
  });
