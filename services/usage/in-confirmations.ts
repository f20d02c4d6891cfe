import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

export interface ConfirmationUser {
  type: 'FORM' | 'TOPIC';
  id: string;
  name: string;
}

const usersOf = statement<ConfirmationUser>(
  'confirmations-with-template',
  `select 'FORM' as type, f.id, f.name from forms f
   where f.project_id = $1 and f.confirmation_template_id = $2 and f.deleted_at is null
   union all
   select 'TOPIC', t.id, t.name from topics t where t.project_id = $1 and t.confirmation ->> 'templateId' = $2::uuid::text
   order by type, name, id`,
);

/** Returns the forms and topics whose confirmation email is a template. */
export const confirmationsWithTemplate = (db: Db, projectId: string, templateId: string): Promise<ConfirmationUser[]> =>
  usersOf(db, [projectId, templateId]);
