import { type Db, wake } from '../../../db/connect.ts';
import { statement } from '../../../db/statement.ts';
import { newId } from '../../../platform/ids.ts';
import type { Data } from '../../contacts/data.ts';
import { insertStartMessages } from './start-message.ts';

/** A contact that is to enter a workflow. */
export interface Entry {
  projectId: string;
  workflowId: string;
  /** The newest valid version, read while the workflow's row is locked. */
  version: number;
  contactId: string;
  context: Data;
  /** Position of the event that triggered it. Null: only events from now on can end waits. */
  afterPosition: string | null;
  depth: number;
  /** The workflow does not allow re-entry. */
  oncePerContact: boolean;
}

// Inserts in a fixed order, so that two transactions with the same contacts cannot deadlock. Of several events of a contact
// the first one starts the execution.
const insert = statement<{ id: string }>(
  'executions-enter',
  `with entry as (
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[], $5::uuid[], $6::jsonb[], $7::bigint[],
       $8::smallint[], $9::boolean[])
       as entry (id, project_id, workflow_id, version, contact_id, context, after_position, depth, once_per_contact)
   ),
   entered as (
     insert into executions (id, project_id, workflow_id, version, contact_id, context, after_position, depth, once_per_contact)
     select id, project_id, workflow_id, version, contact_id, context, coalesce(after_position, nextval('event_positions')), depth,
       once_per_contact
     from entry order by workflow_id, contact_id, after_position
     on conflict do nothing
     returning id, project_id, workflow_id, version, contact_id, generation
   ),
   message as (
     ${insertStartMessages('entered')}
   )
   select id from entered`,
);

/**
 * Starts executions in one statement, and ignores entries that the re-entry rules forbid. The caller has locked the
 * workflows' rows, so that none is disabled or edited meanwhile.
 */
export async function enter(trx: Db, entries: Entry[]): Promise<string[]> {
  if (entries.length === 0) return [];
  const rows = await insert(trx, [
    entries.map(() => newId()),
    entries.map(({ projectId }) => projectId),
    entries.map(({ workflowId }) => workflowId),
    entries.map(({ version }) => version),
    entries.map(({ contactId }) => contactId),
    entries.map(({ context }) => JSON.stringify(context)),
    entries.map(({ afterPosition }) => afterPosition),
    entries.map(({ depth }) => depth),
    entries.map(({ oncePerContact }) => oncePerContact),
  ]);
  if (rows.length > 0) wake(trx, 'starts');
  return rows.map(({ id }) => id);
}
