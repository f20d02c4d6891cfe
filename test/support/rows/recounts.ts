// Counts stored rows one by one, to compare them with the figures that the API keeps.
import type { Db } from '../../../db/connect.ts';

type Figure = 'sent' | 'opened' | 'clicked' | 'humanOpened' | 'humanClicked' | 'peopleOpened' | 'bounced';
type Figures = Record<Figure, number>;
type Trouble = Record<'unknown' | 'blocked' | 'failed' | 'executions', number>;

/** Mails of which this time, an SQL expression, is in the period. */
export async function countMails(
  db: Db,
  projectId: string,
  { at, since, until }: { at: string; since: Date; until: Date },
): Promise<number> {
  const { rows } = await db.raw(
    `select count(*)::integer as count from emails where project_id = ? and ${at} >= ? and ${at} < ?`,
    [projectId, since, until],
  );
  return rows[0].count;
}

const FIGURES = `count(sent_at)::integer as sent, count(human_opened_at)::integer as "humanOpened",
  count(human_clicked_at)::integer as "humanClicked",
  count(coalesce(human_opened_at, human_clicked_at))::integer as "peopleOpened", count(opened_at)::integer as opened,
  count(clicked_at)::integer as clicked, count(bounced_at)::integer as bounced`;

export const mailFigures = async (db: Db, where: object): Promise<Figures> =>
  (await db('emails').where(where).select(db.raw(FIGURES)))[0];

export const campaignMailFigures = async (db: Db, projectId: string): Promise<Figures> =>
  (await db('emails').where({ projectId }).whereNotNull('campaignId').select(db.raw(FIGURES)))[0];

/** The domain with the most sent mail first. */
export async function mailFiguresByDomain(db: Db, projectId: string): Promise<(Figures & { domain: string })[]> {
  const { rows } = await db.raw(
    `select split_part(to_email, '@', 2) as domain, ${FIGURES} from emails where project_id = ?
     group by 1 order by 2 desc, 1`,
    [projectId],
  );
  return rows;
}

/** What needs attention. */
export async function countTrouble(db: Db, projectId: string): Promise<Trouble> {
  const { rows } = await db.raw(
    `select (select count(*)::integer from emails where project_id = :id and status = 'UNKNOWN') as unknown,
       (select count(*)::integer from emails where project_id = :id and blocked_domain is not null) as blocked,
       (select count(*)::integer from emails
         where project_id = :id and status = 'FAILED' and created_at > now() - interval '7 days') as failed,
       (select count(*)::integer from executions where project_id = :id and status = 'FAILED') as executions`,
    { id: projectId },
  );
  return rows[0];
}

/** The counters that limits are checked against. */
export const storedFieldCount = async (db: Db, projectId: string): Promise<number> =>
  Number((await db('contactCounts').where({ projectId }).first('fields'))?.fields ?? 0);

export const storedEventNameCount = async (db: Db, projectId: string): Promise<number> =>
  (await db('eventNameCounts').where({ projectId }).first('names'))?.names;
