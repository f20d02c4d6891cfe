import { type Db, inTransaction } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { Workflow } from '../../db/models/workflow.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { type Fragment, run, sql } from '../conditions/fragment.ts';
import { contactsWhere } from '../conditions/matching.ts';
import { ownContacts } from '../conditions/scope.ts';
import { membersOf } from '../segments/matching.ts';
import { enter } from './executions/enter.ts';

const CHUNK = 1_000;

export interface TickProgress {
  /** Nobody is left to enter. */
  ended: boolean;
  entered: number;
}

/**
 * A tick of a SCHEDULE workflow: all who are in its segment at the tick enter, a thousand at a time. It may be called
 * as often as one likes: who shall enter is written down once, and taken away in the transaction in which they do.
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

const present = statement<{ id: string }>(
  'tick-present',
  'select id from contacts where project_id = $1 and id = any ($2::uuid[]) order by email collate "C" for key share',
);

/** How many entered; undefined when there is nobody left, or the workflow no longer wants them. */
async function enterChunk(trx: Db, workflowId: string, tick: string): Promise<number | undefined> {
  const workflow = await Workflow.query(trx).findById(workflowId).forShare();
  if (!workflow) return undefined;
  const { projectId, enabled, triggerType, validVersion: version, allowReentry } = workflow;
  await begin(trx, workflow, tick);
  const taken = await takeChunk(trx, [workflowId, tick, CHUNK]);
  if (taken.length === 0) return undefined;
  if (!enabled || triggerType !== 'SCHEDULE' || version === null) return 0;
  // Those who have been deleted since cannot enter, and nobody is deleted while entering.
  const contacts = await present(trx, [projectId, taken.map(({ id }) => id)]);
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

/** The first who comes writes down who shall enter. */
async function begin(trx: Db, workflow: Workflow, tick: string): Promise<void> {
  const { id, projectId, triggerConfig, enabled } = workflow;
  const { rowCount } = await trx.raw(
    'insert into workflow_ticks (workflow_id, tick) values (?, ?) on conflict do nothing',
    [id, tick],
  );
  if (rowCount === 0 || !enabled) return;
  const everybody = sql`from contacts c where ${ownContacts(projectId)}`;
  const members = triggerConfig.segmentId ? await membersIn(trx, projectId, triggerConfig.segmentId) : everybody;
  if (members)
    await run(
      trx,
      sql`insert into workflow_tick_contacts (workflow_id, tick, contact_id) select ${id}::uuid, ${tick}, c.id ${members}`,
    );
}

/** A segment that has been deleted has no members. */
async function membersIn(trx: Db, projectId: string, segmentId: string): Promise<Fragment | undefined> {
  const segment = await Segment.query(trx).findOne({ projectId, id: segmentId });
  return segment && contactsWhere(await membersOf(trx, segment));
}

const KEEP_DAYS = 30;

/** Temporal may ask for a tick again for as long as it remembers it. */
export async function forgetTicks(db: Db): Promise<number> {
  return db('workflowTicks')
    .where('createdAt', '<', db.raw('now() - make_interval(days => ?)', [KEEP_DAYS]))
    .del();
}
