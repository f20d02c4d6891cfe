import type { Db } from '../../db/connect.ts';
import { countExecutions } from '../../db/models/activity-counts.ts';
import { statement } from '../../db/statement.ts';
import { inTimePage, micros, type TimePage, timePageValues } from '../events/newest.ts';
import { type Range, splitHours } from '../range.ts';
import type { ActivityFilter, ActivitySource, FeedEntry } from './source.ts';

type Type = 'workflow.started' | 'workflow.completed';

interface Row {
  id: string;
  at: string;
  time: Date;
  contactId: string;
  workflowId: string;
  workflowName: string | null;
  status: string;
  exitReason: string | null;
}

/** Which executions are items of the type, and the column with their time. */
const parts: Record<Type, { time: string; condition: string; kind: 'started' | 'completed' }> = {
  'workflow.started': { time: 'started_at', condition: 'true', kind: 'started' },
  'workflow.completed': { time: 'completed_at', condition: `status in ('COMPLETED', 'EXITED')`, kind: 'completed' },
};
const types = Object.keys(parts) as Type[];

// $7: the contact, whose few executions are all read. Reads workflow names only for the rows of the page.
const newestOf = (type: Type, scope: string) => {
  const { time, condition } = parts[type];
  return statement<Row>(
    `activity-${type}-${scope === 'true' ? 'all' : 'contact'}`,
    `select x.*, w.name as workflow_name from (
       select id, contact_id, workflow_id, status, exit_reason, ${time} as time, ${micros(time)} as at from executions
       where project_id = $1 and ${condition} and ${scope} and ${inTimePage(time, 'id', '<=')}
       order by ${time} desc, id desc limit $6
     ) x left join workflows w on w.id = x.workflow_id order by x.time desc, x.id desc`,
  );
};
const ofAll = (type: Type) => newestOf(type, 'true');
const ofContact = (type: Type) => newestOf(type, 'contact_id = $7::uuid');
const newest = {
  'workflow.started': { all: ofAll('workflow.started'), contact: ofContact('workflow.started') },
  'workflow.completed': { all: ofAll('workflow.completed'), contact: ofContact('workflow.completed') },
};

const countOf = (type: Type) => {
  const { time, condition } = parts[type];
  return statement<{ count: string }>(
    `activity-count-${type}`,
    `select count(*) as count from executions where project_id = $1 and ${condition}
       and ${time} >= $2::timestamptz and ${time} < $3::timestamptz and ($4::uuid is null or contact_id = $4)`,
  );
};
const counts = { 'workflow.started': countOf('workflow.started'), 'workflow.completed': countOf('workflow.completed') };

export const executionsSource: ActivitySource = {
  types,
  async newest(db, filter, page) {
    const entries: FeedEntry[] = [];
    for (const type of wantedTypes(filter)) entries.push(...(await newestOfType(db, type, filter, page)));
    return entries;
  },
  async count(db, filter, range) {
    let count = 0;
    for (const type of wantedTypes(filter)) count += await countOfType(db, type, filter, range);
    return count;
  },
};

const wantedTypes = (filter: ActivityFilter): Type[] => types.filter((type) => filter.types.includes(type));

async function newestOfType(db: Db, type: Type, filter: ActivityFilter, page: TimePage): Promise<FeedEntry[]> {
  const values = [filter.projectId, ...timePageValues(page)];
  const rows = filter.contactId
    ? await newest[type].contact(db, [...values, filter.contactId])
    : await newest[type].all(db, values);
  return rows.map((row) => ({
    key: { at: row.at, id: row.id },
    item: {
      id: `${row.id}:${parts[type].kind}`,
      type,
      timestamp: row.time,
      contactId: row.contactId,
      metadata: {
        executionId: row.id,
        workflowId: row.workflowId,
        workflowName: row.workflowName,
        ...(type === 'workflow.completed' ? { status: row.status, exitReason: row.exitReason } : {}),
      },
    },
  }));
}

const ALL_TIME: Range = { from: new Date(0), to: new Date('9999-01-01T00:00:00Z') };

async function countOfType(db: Db, type: Type, filter: ActivityFilter, range: Partial<Range>): Promise<number> {
  const countRaw = async ({ from, to }: Range): Promise<number> => {
    const [row] = await counts[type](db, [filter.projectId, from, to, filter.contactId ?? null]);
    return Number(row?.count ?? 0);
  };
  if (filter.contactId) return countRaw({ ...ALL_TIME, ...range });
  const { hours, ends } = splitHours(range);
  let count = (await countExecutions(db, filter.projectId, { ...ALL_TIME, ...hours }))[parts[type].kind];
  for (const end of ends) count += await countRaw(end);
  return count;
}
