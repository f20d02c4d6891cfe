import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { run, sql } from '../conditions/fragment.ts';
import { parseCondition } from '../conditions/parse.ts';
import type { Uses } from '../conditions/types.ts';

/** The columns that say what a condition uses, so that it need not be read again for that. */
export interface StoredUses {
  filterCount: number;
  refersTo: Record<string, number>;
  looks: string[];
  driftsItself: boolean;
}

export const storedUses = (uses: Uses | undefined): StoredUses => ({
  filterCount: uses?.filterCount ?? 0,
  refersTo: Object.fromEntries([...(uses?.segments ?? [])].map(([id, paths]) => [id, paths.length])),
  looks: uses ? looksOf(uses) : [],
  driftsItself: uses?.drifts ?? false,
});

const looksOf = ({ fields, keys, events, segments }: Uses): string[] => [
  ...fields,
  ...[...keys].map((key) => `data.${key}`),
  ...[...events].map((name) => `event.${name}`),
  ...[...segments.keys()].map((id) => `segment.${id}`),
];

/**
 * Stores what the conditions use that were saved by a version that did not: once for each segment. One that is saved at
 * the same time is left to whoever saves it.
 */
export async function completeUses(db: Db, projectId: string): Promise<void> {
  const ids = await run<{ id: string }>(
    db,
    sql`select id from segments where project_id = ${projectId} and looks is null`,
  );
  for (const { id } of ids) {
    const [row] = await run<{ condition: unknown }>(
      db,
      sql`select condition from segments where project_id = ${projectId} and id = ${id} and looks is null`,
    );
    if (!row) continue;
    const { filterCount, refersTo, looks, driftsItself } = storedUses(parseCondition(row.condition).parsed?.uses);
    await run(
      db,
      sql`update segments set filter_count = ${filterCount}, refers_to = ${JSON.stringify(refersTo)}::jsonb,
          looks = ${looks}::text[], drifts_itself = ${driftsItself}
        where project_id = ${projectId} and id = ${id} and looks is null`,
    );
    // Others in this process get their turn.
    await nextTurn();
  }
}
