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
     exists (select 1 from domains where project_id = $1) as domain_added,
     exists (select 1 from domains where project_id = $1 and status = 'VERIFIED') as domain_verified,
     exists (select 1 from contacts where project_id = $1) as contact_created,
     exists (select 1 from templates where project_id = $1) as template_created,
     exists (select 1 from event_names where project_id = $1 and name not like 'email.%' and name not like 'contact.%'
       and name not like 'segment.%')
       or exists (select 1 from event_deltas where project_id = $1 and name not like 'email.%'
       and name not like 'contact.%' and name not like 'segment.%') as event_tracked,
     exists (select 1 from counters where project_id = $1 and subject = 'activity/days' and (counts ->> 'sent')::bigint > 0)
       or exists (select 1 from counter_deltas where project_id = $1 and subject = 'activity/hours'
       and (counts ->> 'sent')::bigint > 0) as email_sent,
     exists (select 1 from campaigns where project_id = $1 and status in ('SENDING', 'SENT')) as campaign_sent,
     exists (select 1 from workflows where project_id = $1 and enabled) as workflow_enabled,
     (select count(*) > 1 from memberships where project_id = $1) as member_invited`,
);

/** Returns which setup steps a new project has completed. */
export async function setupState(db: Db, projectId: string): Promise<SetupState> {
  const [row] = await steps(db, [projectId]);
  if (!row) throw new Error('the setup state returned no row');
  return row;
}
