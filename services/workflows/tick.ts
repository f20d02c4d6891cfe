import { type Db, inTransaction } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { Workflow } from '../../db/models/workflow.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { type Fragment, sql } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import { contactsWhere } from '../conditions/matching.ts';
import { projectContacts } from '../conditions/scope.ts';
import { membersOf } from '../segments/matching.ts';
import { enter } from './executions/enter.ts';

const CHUNK = 1_000;

export interface TickProgress {
  /** No contacts are left to enter. */
  ended: boolean;
  entered: number;
}

/**
 * Runs a tick of a SCHEDULE workflow: the members of its segment enter, a thousand at a time. Idempotent: the first call
 * lists the contacts, and a contact's entry deletes it from the list in the same transaction.
 */
export async function enterAtTick(
  db: Db,
  workflowId: string,
  tick: string,
  isOver: () => boolean,
): Promise<TickProgress> {
  for (let entered = 0; ; ) {
    const chunk = await retryDeadlocks(db, () => inTransaction(db, (trx) => enterChunk(trx, workflowId, tick)));
    if (chunk === undefined) return { ended: true, entered };
    entered += chunk;
    if (isOver()) return { ended: false, entered };
  }
}

const takeChunk = statement<{ id: string }>(
  'tick-take',
  `with taken as (
     delete from workflow_tick_contacts where workflow_id = $1 and tick = $2 and contact_id in (
       select contact_id from workflow_tick_contacts where workflow_id = $1 and tick = $2
       order by contact_id limit $3 for update)
     returning contact_id
   )
   select taken.contact_id as id from taken`,
);

const lockExisting = statement<{ id: string }>(
  'tick-lock-contacts',
  'select id from contacts where project_id = $1 and id = any ($2::uuid[]) order by email collate "C" for key share',
);

/** Returns how many contacts entered, or undefined when none are left or the workflow is gone. */
async function enterChunk(trx: Db, workflowId: string, tick: string): Promise<number | undefined> {
  const workflow = await Workflow.query(trx).findById(workflowId).forShare();
  if (!workflow) return undefined;
  const { projectId, enabled, triggerType, validVersion: version, allowReentry } = workflow;
  await listContacts(trx, workflow, tick);
  const taken = await takeChunk(trx, [workflowId, tick, CHUNK]);
  if (taken.length === 0) return undefined;
  if (!enabled || triggerType !== 'SCHEDULE' || version === null) return 0;
  // Omits contacts that were deleted since, and locks the others against deletion.
  const contacts = await lockExisting(trx, [projectId, taken.map(({ id }) => id)]);
  const entry = {
    projectId,
    workflowId,
    version,
    context: {},
    afterPosition: null,
    depth: 0,
    oncePerContact: !allowReentry,
  };
  return (
    await enter(
      trx,
      contacts.map(({ id }) => ({ ...entry, contactId: id })),
    )
  ).length;
}

const insertTick = statement(
  'tick-insert',
  'insert into workflow_ticks (workflow_id, tick) values ($1, $2) on conflict do nothing',
);

/** Lists the contacts that enter at this tick, if that has not been done yet. */
async function listContacts(trx: Db, workflow: Workflow, tick: string): Promise<void> {
  const { id, projectId, triggerConfig, enabled } = workflow;
  const isNew = (await insertTick.count(trx, [id, tick])) > 0;
  if (!isNew || !enabled) return;
  const allContacts = sql`from contacts c where ${projectContacts(projectId)}`;
  const members = triggerConfig.segmentId ? await membersIn(trx, projectId, triggerConfig.segmentId) : allContacts;
  if (members)
    await queryRows(
      trx,
      sql`insert into workflow_tick_contacts (workflow_id, tick, contact_id) select ${id}::uuid, ${tick}, c.id ${members}`,
    );
}

/** Returns undefined, which means no members, when the segment was deleted. */
async function membersIn(trx: Db, projectId: string, segmentId: string): Promise<Fragment | undefined> {
  const segment = await Segment.query(trx).findOne({ projectId, id: segmentId });
  return segment && contactsWhere(await membersOf(trx, segment));
}

const KEEP_DAYS = 30;

const removeOldTicks = statement(
  'ticks-remove-old',
  `delete from workflow_ticks where created_at < now() - interval '${KEEP_DAYS} days'`,
);

/** Ticks are kept because Temporal may repeat one for as long as it retains the workflow. */
export const deleteOldTicks = (db: Db): Promise<number> => removeOldTicks.count(db);
