import type { Db } from '../../db/connect.ts';
import { noActivity, readActivityCounts } from '../../db/models/activity-counts.ts';
import { badRequest } from '../../platform/errors.ts';
import { type RangeQuery, readWholeHours } from '../range.ts';

export type Granularity = 'hour' | 'day';

export interface Point {
  at: Date;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  /** By people; the two before include machines. */
  humanOpened: number;
  humanClicked: number;
  /** Opened or clicked by a person. */
  peopleOpened: number;
  bounced: number;
  complained: number;
}

const STEP_MS: Record<Granularity, number> = { hour: 3_600_000, day: 86_400_000 };
const MAX_POINTS = 10_000;

/** Counts what happened to mails by UTC hour or day, with zeros where nothing did. A mail counts once in each state. */
export async function timeseries(
  db: Db,
  projectId: string,
  { granularity, ...query }: RangeQuery & { granularity: Granularity },
): Promise<Point[]> {
  const range = readWholeHours(query);
  const step = STEP_MS[granularity];
  const first = Math.floor(range.from.getTime() / step) * step;
  const length = Math.ceil((range.to.getTime() - first) / step);
  if (length > MAX_POINTS) throw badRequest(`The range has ${length} points; request at most ${MAX_POINTS}.`);
  const found = await readActivityCounts(db, projectId, range, granularity);
  const counts = new Map(found.map(({ at, counts }) => [at.getTime(), counts]));
  return Array.from({ length }, (_, n) => {
    const at = first + n * step;
    const { started: _started, completed: _completed, refused: _refused, ...mails } = counts.get(at) ?? noActivity;
    return { at: new Date(at), ...mails };
  });
}
