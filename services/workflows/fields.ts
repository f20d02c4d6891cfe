import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { listFields } from '../contacts/fields.ts';
import { listEventNames } from '../events/names.ts';
import { eventTypes } from '../events/types.ts';

/** A field that a filter of a CONDITION step can use. */
export interface ConditionField {
  field: string;
  /** Type of its values; `event` for an event itself, which has operators like `triggered`. */
  type: string;
  category: 'CONTACT' | 'DATA' | 'EVENT';
}

/** Newest events of each type that are searched for data keys. */
const SAMPLE_SIZE = 300;

const dataFields = statement<{ field: string; type: string }>(
  'event-data-fields',
  `with newest as materialized (
     select found.name, found.data from unnest($1::text[]) as wanted (type) cross join lateral (
       select name, data from events where project_id = $2 and activity_type(name, data) = wanted.type
       order by created_at desc, id desc limit $3
     ) found
   )
   select 'event.' || key as field, min(jsonb_typeof(value)) as type from newest, jsonb_each(data)
   where jsonb_typeof(value) in ('string', 'number', 'boolean') group by key
   order by 1`,
);

/** Returns contact fields, known event names, and the keys of event data, which executions have in their context. */
export async function conditionFields(db: Db, projectId: string): Promise<ConditionField[]> {
  const contact = (await listFields(db, projectId)).map(({ field, type, isCustom }) => ({
    field,
    type,
    category: isCustom ? ('DATA' as const) : ('CONTACT' as const),
  }));
  const data = await dataFields(db, [[...eventTypes], projectId, SAMPLE_SIZE]);
  const names = (await listEventNames(db, projectId)).map(({ name }) => ({ field: `event.${name}`, type: 'event' }));
  const events = [...names, ...data];
  return [...contact, ...events.map((event) => ({ ...event, category: 'EVENT' as const }))];
}
