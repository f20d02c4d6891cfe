import type { Db } from '../../db/connect.ts';
import { SYSTEM_PROJECT_ID } from './project.ts';

/**
 * Removes the links from sent system mail: their tokens open accounts, and elsewhere only their hashes are stored.
 * Reads back as far as a token may be valid. Returns how many mails it changed.
 */
export async function scrubSystemMail(db: Db): Promise<number> {
  const { rowCount } = await db.raw(
    `update email_contents c set variables = c.variables #- '{systemMail,link}'
     from emails e
     where e.project_id = ? and e.id > uuid_floor(now() - interval '8 days') and e.status <> 'PENDING'
       and c.email_id = e.id and c.variables #> '{systemMail,link}' is not null`,
    [SYSTEM_PROJECT_ID],
  );
  return rowCount;
}
