import type { Db } from '../connect.ts';
import { statement } from '../statement.ts';

// Whether a project has room for new names of custom fields and events. Both are compared with the aggregated counts
// (`contact_counts.fields`, `event_name_counts`), so what was written since the last aggregation is not counted yet.
// Names that are known always pass. See docs/decisions/104-limits-per-project.md.

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

/** An SQL condition. The keys are looked up only where they would not all fit even if none were known. */
export const fieldsFit = ({ projectId, keys, count, max }: FieldsToFit): string =>
  `(${count} = 0 or ${fieldCount(projectId)} + ${count} <= ${max} or (
     select count(*) = 0 or ${fieldCount(projectId)} + count(*) <= ${max}
     from ${keys} as given (key) where not ${knownField(projectId, 'given.key')}))`;

/** The same for the name of one event. */
export const eventFits = ({ projectId, name, max }: { projectId: string; name: string; max: string }): string =>
  `(coalesce((select c.names from event_name_counts c where c.project_id = ${projectId}), 0) < ${max}
     or exists (select 1 from event_names n where n.project_id = ${projectId} and n.name = ${name}))`;

const room = statement<{ fields: number; unknown: string[] }>(
  'fields-room',
  `select ${fieldCount('$1')} as fields, array(
     select key from unnest($2::text[]) with ordinality as given (key, place)
     where not ${knownField('$1', 'given.key')} order by place) as unknown`,
);

/** Which of these fields the project does not have, and how many it has. */
export async function readFieldRoom(
  db: Db,
  projectId: string,
  keys: string[],
): Promise<{ fields: number; unknown: string[] }> {
  const [row] = await room(db, [projectId, keys]);
  return row ?? { fields: 0, unknown: [] };
}

const known = statement<{ fits: boolean }>(
  'event-name-room',
  `select ${eventFits({ projectId: '$1', name: '$2', max: '$3::integer' })} as fits`,
);

export async function eventNameFits(db: Db, projectId: string, name: string, max: number): Promise<boolean> {
  const [row] = await known(db, [projectId, name, max]);
  return row?.fits ?? true;
}
