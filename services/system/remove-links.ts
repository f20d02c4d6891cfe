import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { SYSTEM_PROJECT_ID } from './project.ts';

const scrub = statement(
  'system-mail-scrub',
  `update email_contents c set variables = c.variables #- '{systemMail,link}'
   from emails e
   where e.project_id = $1 and e.id > uuid_floor(now() - interval '8 days') and e.status <> 'PENDING'
     and c.email_id = e.id and c.variables #> '{systemMail,link}' is not null`,
);

/**
 * Removes the links from sent system mail: their tokens open accounts, and elsewhere only their hashes are stored.
 * Reads back as far as a token may be valid. Returns how many mails it changed.
 */
export async function scrubSystemMail(db: Db): Promise<number> {
  return scrub.count(db, [SYSTEM_PROJECT_ID]);
}
