import type { Db } from '../../db/connect.ts';
import { type BulkType, JobInputRow } from '../../db/models/job.ts';
import { sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { ApiError, type Violation, validationError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { ConsentContext } from '../access/consent-context.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';
import { contactsWhere, type Matching } from '../conditions/matching.ts';
import { requireCondition } from '../conditions/parse.ts';
import { type Data, exceededLimit, readData } from '../contacts/data.ts';
import { settableViolation } from '../contacts/fields.ts';
import { requireRoomForFields } from '../contacts/limits.ts';
import { createSegment } from '../segments/create.ts';
import { findSegment, requireStatic } from '../segments/find.ts';
import { guarded } from '../segments/guard.ts';
import { contactsMatching, membersOf } from '../segments/matching.ts';
import { archivedTopic, findTopic } from '../topics/find.ts';
import { CHUNK_CONTACTS } from './chunks.ts';
import { insertJob, jobContext, newBulkJob } from './create.ts';

/** Which contacts to change, and how many of them the caller has seen. */
export interface ContactSelection {
  condition?: unknown;
  segmentId?: string | undefined;
  expectedCount: number;
}

/** What a bulk job needs besides the contacts; stored in `job_inputs.options`. */
export interface BulkOptions {
  /** Of BULK_ADD_TO_SEGMENT. */
  toSegmentId?: string;
  /** Of BULK_SET_FIELD; null deletes the field. */
  field?: string;
  value?: unknown;
  /** Of BULK_TOPIC_SUBSCRIBE and BULK_TOPIC_UNSUBSCRIBE. */
  topicId?: string;
  /** Who ordered the job, for consent records. */
  orderedBy?: ConsentContext;
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
  options: BulkOptions = {},
): Promise<string> {
  const { projectId } = project;
  await requireUsable(db, projectId, type, options, limits);
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
      await JobInputRow.query(trx).insert({ jobId: id, options: { ...options, orderedBy: jobContext(project, id) } });
      return insertJob(trx, project, id, newBulkJob(type, count), limits);
    },
    TIMEOUT_MS,
  );
}

const MAX_NAME = 100;
const COPY = ' (Copy)';

/** Creates a static segment, and a job that adds the members that a segment has now to it. */
export async function createFreezeJob(
  db: Db,
  project: ProjectAccess,
  segmentId: string,
  limits: Limits = UNLIMITED,
): Promise<string> {
  const { projectId } = project;
  const segment = await findSegment(db, projectId, segmentId);
  const name = segment.name.slice(0, MAX_NAME - COPY.length) + COPY;
  const copy = { name, description: segment.description, type: 'STATIC' as const };
  let jobId = '';
  // The lock of segments before the slot of a condition, as in other changes of segments.
  await createSegment(db, project, copy, limits, async (locked, toSegmentId) => {
    jobId = newId();
    const store = async (trx: Db) => storeContacts(trx, jobId, await membersOf(trx, segment));
    const job = newBulkJob('BULK_ADD_TO_SEGMENT', await guarded(locked, projectId, store, TIMEOUT_MS));
    await JobInputRow.query(locked).insert({ jobId, options: { toSegmentId } });
    await insertJob(locked, project, jobId, { ...job, result: { ...job.result, segmentId: toSegmentId } }, limits);
  });
  return jobId;
}

async function requireUsable(
  db: Db,
  projectId: string,
  type: BulkType,
  { toSegmentId, field, value, topicId }: BulkOptions,
  limits: Limits,
): Promise<void> {
  if (toSegmentId !== undefined) requireStatic(await findSegment(db, projectId, toSegmentId));
  if (topicId !== undefined) {
    const topic = await findTopic(db, projectId, topicId);
    if (topic.archived && type === 'BULK_TOPIC_SUBSCRIBE') throw archivedTopic(topic, 'topicId');
  }
  if (field === undefined) return;
  const data = { [field]: value };
  const violation = settableViolation(field) ?? tooLarge(data);
  if (violation) throw validationError([violation]);
  await requireRoomForFields(db, projectId, readData(data).patch, limits);
}

function tooLarge(data: Data): Violation | undefined {
  const message = exceededLimit(data);
  return message === undefined ? undefined : { field: 'value', message: `the field ${message}`, code: 'too_big' };
}

/** Stores the ids of the contacts in parts, and returns how many there are. */
async function storeContacts(trx: Db, jobId: string, matching: Matching): Promise<number> {
  const rows = await queryRows<{ contacts: number }>(
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
