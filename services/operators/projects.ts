import type { Db } from '../../db/connect.ts';
import { rateHours } from '../../db/models/activity-counts.ts';
import { statement } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { noProject } from '../access/membership.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { type Rates, ratesOf } from '../security/state.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';

export interface OperatorProject {
  id: string;
  name: string;
  createdAt: Date;
  disabled: boolean;
  disabledReason: string | null;
  members: number;
  /** Mails sent. */
  volume: { last24h: number; last7d: number; last30d: number };
  rates: { last24h: Rates; last7d: Rates };
}

interface Row {
  id: string;
  name: string;
  createdAt: Date;
  disabled: boolean;
  disabledReason: string | null;
  members: number;
  sent1: string;
  refused1: string;
  bounced1: string;
  complained1: string;
  sent7: string;
  refused7: string;
  bounced7: string;
  complained7: string;
  sent30: string;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const sum = (count: string, days: number) =>
  `coalesce(sum(${count}) filter (where hour >= date_trunc('hour', now() - interval '${days} days', 'UTC')), 0) as ${count}_${days}`;
const sums = [1, 7].flatMap((days) => ['sent', 'refused', 'bounced', 'complained'].map((count) => sum(count, days)));

// $1 the id of one project, $2 a part of the name, $3 the address of a member; $4 continues before this id.
const matching = `p.deleted_at is null and p.id <> '${SYSTEM_PROJECT_ID}' and (
  $1::uuid is null and $2::text is null and $3::text is null
  or p.id = $1
  or position(lower($2) in lower(p.name)) > 0
  or exists (
    select 1 from users u join memberships m on m.user_id = u.id where u.email = lower($3) and m.project_id = p.id
  )
)`;

const list = statement<Row>(
  'operator-projects',
  `with page as materialized (
     select p.id, p.name, p.created_at, p.disabled, p.disabled_reason from projects p
     where ${matching} and ($4::uuid is null or p.id < $4) order by p.id desc limit $5
   )
   select page.*, (select count(*)::integer from memberships where project_id = page.id and status = 'ACTIVE') as members,
     counted.*
   from page, lateral (
     select ${sums.join(', ')}, coalesce(sum(sent), 0) as sent_30
     from ${rateHours('page.id')} h where hour >= date_trunc('hour', now() - interval '30 days', 'UTC')
   ) counted
   order by page.id desc`,
);

const count = statement<{ count: number }>(
  'operator-projects-count',
  `select count(*)::integer as count from projects p where ${matching}`,
);

export interface ProjectsQuery {
  /** Part of the name, an id, or the address of a member. */
  search?: string | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** Lists the projects of the installation with volume, rates and state, the newest first. */
export async function listAllProjects(
  db: Db,
  keys: SigningKeys,
  { search, limit, cursor }: ProjectsQuery,
): Promise<CursorPage<OperatorProject>> {
  const boundTo = ['operator', 'projects', search ?? ''];
  const after = cursor === undefined ? null : (openCursor(keys, boundTo, cursor) as string);
  const terms = [search && UUID.test(search) ? search : null, search ?? null, search ?? null];
  const rows = await list(db, [...terms, after, limit + 1]);
  const total = after === null ? ((await count(db, terms))[0]?.count ?? 0) : 0;
  return cutPage(rows.map(projectOf), { limit, total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}

/** Returns one project as the list shows it. */
export async function findAnyProject(db: Db, id: string): Promise<OperatorProject> {
  const [row] = await list(db, [id, null, null, null, 1]);
  if (!row) throw noProject();
  return projectOf(row);
}

function projectOf(row: Row): OperatorProject {
  const rates = (days: 1 | 7) =>
    ratesOf({
      sent: Number(row[`sent${days}`]),
      refused: Number(row[`refused${days}`]),
      bounced: Number(row[`bounced${days}`]),
      complained: Number(row[`complained${days}`]),
    });
  const last24h = rates(1);
  const last7d = rates(7);
  return {
    id: row.id,
    name: row.name,
    createdAt: row.createdAt,
    disabled: row.disabled,
    disabledReason: row.disabledReason,
    members: row.members,
    volume: { last24h: last24h.sent, last7d: last7d.sent, last30d: Number(row.sent30) },
    rates: { last24h, last7d },
  };
}
