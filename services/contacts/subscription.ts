import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { type Language, languageOf } from '../../platform/languages.ts';
import type { PageToken } from '../emails/links.ts';

/** The content of a contact's subscription page. */
export interface Subscription {
  email: string;
  subscribed: boolean;
  sender: string;
  language: Language;
}

interface SubscriptionRow {
  project_id: string;
  email: string;
  subscribed: boolean;
  locale: unknown;
  sender: string;
  language: string;
  campaign_id: string | null;
  workflow_id: string | null;
}

const read = statement<SubscriptionRow>(
  'subscription-read',
  `select c.project_id, c.email, c.subscribed, c.data -> 'locale' as locale, p.name as sender, p.language,
     e.campaign_id, e.workflow_id
   from contacts c
   join projects p on p.id = c.project_id
   left join emails e on e.id = $2 and e.project_id = c.project_id
   where c.id = $1`,
);

/** Undefined: the contact has been deleted. */
export async function findSubscription(db: Db, token: PageToken): Promise<Subscription | undefined> {
  const [row] = await read(db, [token.contactId, token.emailId]);
  return row && present(row);
}

const change = statement<{ is_changed: boolean }>(
  'subscription-change',
  `select is_changed from update_contact($1::uuid, $2::uuid, null, $3::boolean, '{}', '[]', $4::uuid, $5::jsonb)
   where id is not null`,
);

const recordUnsubscribed = statement(
  'subscription-count',
  `update emails set unsubscribed_at = now() where id = $2 and project_id = $1 and unsubscribed_at is null`,
);

/**
 * Applies what the contact chose on its page or in its mail program, for a disabled project too. The event names the
 * reason and the mail.
 */
export async function changeSubscription(
  db: Db,
  token: PageToken,
  subscribed: boolean,
  reason: string,
): Promise<Subscription | undefined> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const [row] = await read(trx, [token.contactId, token.emailId]);
      if (!row) return undefined;
      const { project_id, campaign_id: campaignId, workflow_id: workflowId } = row;
      const data = { reason, emailId: token.emailId, campaignId, workflowId };
      const [changed] = await change(trx, [project_id, token.contactId, subscribed, newId(), JSON.stringify(data)]);
      if (!changed) return undefined;
      if (changed.is_changed && !subscribed) await recordUnsubscribed(trx, [project_id, token.emailId]);
      return { ...present(row), subscribed };
    }),
  );
}

const present = ({ email, subscribed, sender, locale, language }: SubscriptionRow): Subscription => ({
  email,
  subscribed,
  sender,
  language: languageOf(locale, language),
});
