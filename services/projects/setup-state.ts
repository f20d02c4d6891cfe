import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

export interface SetupState {
  domainAdded: boolean;
  domainVerified: boolean;
  contactCreated: boolean;
  templateCreated: boolean;
  eventTracked: boolean;
  emailSent: boolean;
  campaignSent: boolean;
  workflowEnabled: boolean;
  memberInvited: boolean;
}

// Each subquery stops at its first row.
const steps = statement<SetupState>(
  'setup-state',
  `select
     exists (select 1 from domains where project_id = $1) as "domainAdded",
     exists (select 1 from domains where project_id = $1 and status = 'VERIFIED') as "domainVerified",
     exists (select 1 from contacts where project_id = $1) as "contactCreated",
     exists (select 1 from templates where project_id = $1) as "templateCreated",
     exists (select 1 from event_names where project_id = $1 and name not like 'email.%' and name not like 'contact.%'
       and name not like 'segment.%')
       or exists (select 1 from event_deltas where project_id = $1 and name not like 'email.%'
       and name not like 'contact.%' and name not like 'segment.%') as "eventTracked",
     exists (select 1 from activity_hours where project_id = $1 and sent > 0)
       or exists (select 1 from activity_deltas where project_id = $1 and kind = 'sent') as "emailSent",
     exists (select 1 from campaigns where project_id = $1 and status in ('SENDING', 'SENT')) as "campaignSent",
     exists (select 1 from workflows where project_id = $1 and enabled) as "workflowEnabled",
     (select count(*) > 1 from memberships where project_id = $1) as "memberInvited"`,
);

/** Returns which setup steps a new project has completed. */
export async function setupState(db: Db, projectId: string): Promise<SetupState> {
  const [row] = await steps(db, [projectId]);
  if (!row) throw new Error('the setup state returned no row');
  return row;
}
