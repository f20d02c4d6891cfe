import type { Db } from '../../db/connect.ts';
import { countedWhere } from '../../db/models/counters.ts';
import { statement } from '../../db/statement.ts';
import { type RangeQuery, readWholeHours } from '../range.ts';
import { findForm } from './find.ts';

export interface FormStats {
  views: number;
  submitted: number;
  confirmed: number;
  declined: number;
  expired: number;
  already: number;
  /** By reason. */
  refused: Record<string, number>;
  /** Of those who were asked, by when they submitted; null without any. */
  confirmRate: number | null;
  byPage: { pageUrl: string | null; submitted: number; confirmed: number }[];
}

const subjectOf = (formId: string): string => `form/${formId}/hours`;

const addView = statement(
  'form-view',
  `insert into counter_deltas (project_id, subject, period, counts)
   values ($1, $2, date_trunc('hour', now(), 'UTC'), '{"views": 1}')`,
);

export const countView = (db: Db, { projectId, id }: { projectId: string; id: string }): Promise<unknown> =>
  addView(db, [projectId, subjectOf(id)]);

const readViews = statement<{ views: number }>(
  'form-views',
  `select coalesce(sum(count), 0)::float8 as views
   from ${countedWhere('project_id = $1 and subject = $2 and period >= $3::timestamptz and period < $4::timestamptz')}`,
);

const readCounts = statement<{ status: string; reason: string | null; asked: boolean; count: number }>(
  'form-counts',
  `select status, reason, sent_at is not null as asked, count(*)::float8 as count from form_submissions s
   where s.project_id = $1 and s.form_id = $2 and s.created_at >= $3 and s.created_at < $4 group by 1, 2, 3`,
);

const MAX_PAGES = 50;
const readPages = statement<FormStats['byPage'][number]>(
  'form-pages',
  `select page_url, count(*)::float8 as submitted, count(*) filter (where status = 'CONFIRMED')::float8 as confirmed
   from form_submissions s
   where s.project_id = $1 and s.form_id = $2 and s.created_at >= $3 and s.created_at < $4
   group by 1 order by 2 desc, 1 limit ${MAX_PAGES}`,
);

/** Counts submissions by when they were made; the last 30 days by default. */
export async function formStats(db: Db, projectId: string, formId: string, query: RangeQuery): Promise<FormStats> {
  const { id } = await findForm(db, projectId, formId);
  const { from, to } = readWholeHours(query);
  const range = [projectId, id, from, to];
  const [[viewed], counts, byPage] = await Promise.all([
    readViews(db, [projectId, subjectOf(id), from, to]),
    readCounts(db, range),
    readPages(db, range),
  ]);
  const sumOf = (test: (row: (typeof counts)[number]) => boolean): number =>
    counts.filter(test).reduce((sum, { count }) => sum + count, 0);
  const asked = sumOf((row) => row.asked && row.status !== 'ALREADY');
  return {
    views: viewed?.views ?? 0,
    submitted: sumOf(() => true),
    confirmed: sumOf(({ status }) => status === 'CONFIRMED'),
    declined: sumOf(({ status }) => status === 'DECLINED'),
    expired: sumOf(({ status }) => status === 'EXPIRED'),
    already: sumOf(({ status }) => status === 'ALREADY'),
    refused: Object.fromEntries(
      counts.flatMap(({ reason }) => (reason ? [[reason, sumOf((row) => row.reason === reason)]] : [])),
    ),
    confirmRate: asked > 0 ? sumOf((row) => row.asked && row.status === 'CONFIRMED') / asked : null,
    byPage,
  };
}
