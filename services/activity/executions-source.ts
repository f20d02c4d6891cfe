import type { Db } from '../../db/connect.ts';
import { countExecutions } from '../../db/models/activity-counts.ts';
import { statement } from '../../db/statement.ts';
import { micros, onStretch, type Stretch, stretchValues } from '../events/newest.ts';
import { type Range, splitHours } from '../range.ts';
import type { ActivitySource, Found, Wanted } from './source.ts';

type Type = 'workflow.started' | 'workflow.completed';

interface Row {
  id: string;
  at: string;
  time: Date;
  contact_id: string;
  workflow_id: string;
  workflow_name: string | null;
  status: string;
  exit_reason: string | null;
}

/** That it counts as what the type says, and when it became that. */
const parts: Record<Type, { time: string; condition: string; kind: 'started' | 'completed' }> = {
  'workflow.started': { time: 'started_at', condition: 'true', kind: 'started' },
  'workflow.completed': { time: 'completed_at', condition: `status in ('COMPLETED', 'EXITED')`, kind: 'completed' },
};
const types = Object.keys(parts) as Type[];

// $7: of this contact alone; there its few executions are all looked at. The names are looked up behind the cut.
const newestOf = (type: Type, whose: string) => {
  const { time, condition } = parts[type];
  return statement<Row>(
    `activity-${type}-${whose === 'true' ? 'all' : 'contact'}`,
    `select x.*, w.name as workflow_name from (
       select id, contact_id, workflow_id, status, exit_reason, ${time} as time, ${micros(time)} as at from executions
       where project_id = $1 and ${condition} and ${whose} and ${onStretch(time, 'id', '<=')}
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
  async newest(db, wanted, stretch) {
    const found: Found[] = [];
    for (const type of asked(wanted)) found.push(...(await newestOfType(db, type, wanted, stretch)));
    return found;
  },
  async count(db, wanted, range) {
    let count = 0;
    for (const type of asked(wanted)) count += await countOfType(db, type, wanted, range);
    return count;
  },
};

const asked = ({ types: wanted }: Wanted): Type[] => types.filter((type) => wanted.includes(type));

async function newestOfType(db: Db, type: Type, wanted: Wanted, stretch: Stretch): Promise<Found[]> {
  const values = [wanted.projectId, ...stretchValues(stretch)];
  const rows = wanted.contactId
    ? await newest[type].contact(db, [...values, wanted.contactId])
    : await newest[type].all(db, values);
  return rows.map((row) => ({
    place: { at: row.at, id: row.id },
    item: {
      id: `${row.id}:${parts[type].kind}`,
      type,
      timestamp: row.time,
      contactId: row.contact_id,
      metadata: {
        executionId: row.id,
        workflowId: row.workflow_id,
        workflowName: row.workflow_name,
        ...(type === 'workflow.completed' ? { status: row.status, exitReason: row.exit_reason } : {}),
      },
    },
  }));
}

const EVER: Range = { from: new Date(0), to: new Date('9999-01-01T00:00:00Z') };

async function countOfType(db: Db, type: Type, wanted: Wanted, range: Partial<Range>): Promise<number> {
  const raw = async ({ from, to }: Range): Promise<number> => {
    const [row] = await counts[type](db, [wanted.projectId, from, to, wanted.contactId ?? null]);
    return Number(row?.count ?? 0);
  };
  if (wanted.contactId) return raw({ ...EVER, ...range });
  const { hours, ends } = splitHours(range);
  let count = (await countExecutions(db, wanted.projectId, { ...EVER, ...hours }))[parts[type].kind];
  for (const end of ends) count += await raw(end);
  return count;
}
