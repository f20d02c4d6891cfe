import type { Db } from '../../db/connect.ts';
import { SYSTEM_PROJECT_ID } from './project.ts';

/**
 * Takes the links out of our own mails that have left: the tokens in them open accounts, and only their hashes are kept
 * anywhere else. Looks back as far as a token may live. Gives back how many there were.
 */
export async function scrubSystemMail(db: Db): Promise<number> {
  const { rowCount } = await db.raw(
    `update email_contents c set variables = c.variables #- '{systemMail,link}'
     from emails e
     where e.project_id = ? and e.id > uuid_floor(now() - interval '8 days') and e.status not in ('PENDING', 'SENDING')
       and c.email_id = e.id and c.variables #> '{systemMail,link}' is not null`,
    [SYSTEM_PROJECT_ID],
  );
  return rowCount;
}
