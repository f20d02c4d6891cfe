import type { Db } from '../../db/connect.ts';
import { type FoundSuppression, findSuppressionOf, type SuppressionReason } from '../../db/models/suppression.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { type ConsentContext, consentContextOf, withConsent } from '../access/consent-context.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';

export { type SuppressionReason, suppressionReasons } from '../../db/models/suppression.ts';

/** An address that a person puts on the suppression list. */
export interface SuppressedAddress {
  email: string;
  reason: SuppressionReason;
  note?: string | null;
}

const lockContacts = statement<{ id: string; email: string; subscribed: boolean }>(
  'suppress-lock-contacts',
  `select id, email, subscribed from contacts where project_id = $1 and email = any ($2::text[])
   order by email collate "C" for update`,
);

// In the order of the hashes, so that concurrent statements do not deadlock. A hard bounce is never replaced, and a
// complaint replaces nothing.
const insert = statement<{ email: string; isNew: boolean }>(
  'suppress-insert',
  `insert into suppressions as s (id, project_id, address_hash, email, contact_id, reason, note)
   select given.id, $1::uuid, address_hash($1::uuid, given.email), given.email, c.id, given.reason, given.note
   from unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) as given (id, email, reason, note)
   left join contacts c on c.project_id = $1 and c.email = given.email
   order by 3
   on conflict (project_id, address_hash) do update set
     email = excluded.email,
     contact_id = coalesce(excluded.contact_id, s.contact_id),
     reason = case when s.reason = 'HARD_BOUNCE' or excluded.reason = 'COMPLAINT' then s.reason else excluded.reason end,
     note = coalesce(excluded.note, s.note)
   returning new.email, old.id is null as is_new`,
);

const unsubscribe = statement(
  'suppress-unsubscribe',
  `select 1 from unnest($2::uuid[], $3::uuid[]) as given (id, event_id),
     update_contact($1::uuid, given.id, null, false, '{}', '[]', given.event_id, $4::jsonb)`,
);

/** Suppresses addresses and unsubscribes their contacts. Returns which of the addresses were not on the list before. */
export async function suppressAddresses(
  trx: Db,
  projectId: string,
  addresses: SuppressedAddress[],
  consent: ConsentContext = { method: 'SYSTEM' },
): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const emails = addresses.map(({ email }) => email);
  const contacts = await lockContacts(trx, [projectId, emails]);
  const rows = await insert(trx, [
    projectId,
    addresses.map(() => newId()),
    emails,
    addresses.map(({ reason }) => reason),
    addresses.map(({ note }) => note ?? null),
  ]);
  const subscribed = contacts.filter((contact) => contact.subscribed).map(({ id }) => id);
  if (subscribed.length > 0) {
    const data = withConsent(consent, { reason: 'suppressed' });
    await unsubscribe(trx, [projectId, subscribed, subscribed.map(() => newId()), data]);
  }
  return new Set(rows.filter(({ isNew }) => isNew).map(({ email }) => email));
}

/** Suppresses one address. */
export async function suppressAddress(
  db: Db,
  project: ProjectAccess,
  address: SuppressedAddress,
): Promise<FoundSuppression> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    await suppressAddresses(trx, projectId, [address], consentContextOf(project));
    const suppression = await findSuppressionOf(trx, projectId, address.email);
    if (!suppression) throw new Error('the suppressed address was not found');
    const { id, contactId, reason } = suppression;
    // The address itself is not recorded: it could not be erased.
    await recordAudit(trx, project, {
      action: 'suppression.added',
      target: contactId ? { type: 'contact', id: contactId } : { type: 'suppression', id },
      changes: changesOf({}, { reason }),
    });
    return suppression;
  });
}
