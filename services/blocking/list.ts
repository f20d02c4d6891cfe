import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

export interface BlockedMail {
  projectId: string;
  reason: string | null;
  /** Sender domains of the mails; empty where the domain was not checked. */
  domains: string[];
  count: number;
  /** When the oldest mail was accepted. */
  oldest: Date;
}

const list = statement<BlockedMail>(
  'emails-blocked-list',
  `select project_id, reason, count(*)::integer as count, min(created_at) as oldest,
     coalesce(array_agg(distinct blocked_domain) filter (where blocked_domain <> ''), '{}') as domains
   from emails where blocked_domain is not null and status = 'PENDING'
   group by project_id, reason order by min(created_at), project_id, reason`,
);

/** Blocked mail of all projects by project and reason, the longest blocked first. */
export const listBlockedMail = (db: Db): Promise<BlockedMail[]> => list(db, []);
