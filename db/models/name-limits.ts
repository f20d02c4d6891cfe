import type { Db } from '../connect.ts';
import { statement } from '../statement.ts';

// Checks whether a project has room for new names of custom fields and events, by the aggregated counts
// (`contact_counts.fields`, `event_name_counts`): names written since the last aggregation do not count yet. Known names
// always pass. See docs/decisions/limits.md.

const knownField = (projectId: string, key: string): string =>
  `exists (select 1 from contact_fields f where f.project_id = ${projectId} and f.key = ${key})`;

const fieldCount = (projectId: string): string =>
  `coalesce((select c.fields from contact_counts c where c.project_id = ${projectId}), 0)`;

interface FieldsToFit {
  projectId: string;
  /** A set of keys, such as `jsonb_object_keys(patch)`, and how many there are. */
  keys: string;
  count: string;
  max: string;
}

/** SQL: whether the keys fit. Looks them up only when they would not fit if all of them were new. */
export const fieldsFit = ({ projectId, keys, count, max }: FieldsToFit): string =>
  `(${count} = 0 or ${fieldCount(projectId)} + ${count} <= ${max} or (
     select count(*) = 0 or ${fieldCount(projectId)} + count(*) <= ${max}
     from ${keys} as given (key) where not ${knownField(projectId, 'given.key')}))`;

/** SQL: whether the name of an event fits. */
export const eventFits = ({ projectId, name, max }: { projectId: string; name: string; max: string }): string =>
  `(coalesce((select c.names from event_name_counts c where c.project_id = ${projectId}), 0) < ${max}
     or exists (select 1 from event_names n where n.project_id = ${projectId} and n.name = ${name}))`;

const room = statement<{ fields: number; unknown: string[] }>(
  'fields-room',
  `select ${fieldCount('$1')} as fields, array(
     select key from unnest($2::text[]) with ordinality as given (key, n)
     where not ${knownField('$1', 'given.key')} order by n) as unknown`,
);

/** Returns which of these fields are new to the project, and how many it has. */
export async function readFieldRoom(
  db: Db,
  projectId: string,
  keys: string[],
): Promise<{ fields: number; unknown: string[] }> {
  const [row] = await room(db, [projectId, keys]);
  return row ?? { fields: 0, unknown: [] };
}

const nameFits = statement<{ fits: boolean }>(
  'event-name-room',
  `select ${eventFits({ projectId: '$1', name: '$2', max: '$3::integer' })} as fits`,
);

export async function eventNameFits(db: Db, projectId: string, name: string, max: number): Promise<boolean> {
  const [row] = await nameFits(db, [projectId, name, max]);
  return row?.fits ?? true;
}
