import type { Db } from '../../db/connect.ts';
import type { SuppressionReason } from '../../db/models/suppression.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';

export interface NewSuppression {
  projectId: string;
  address: string;
  contactId: string;
  reason: SuppressionReason;
  emailId: string;
}

// A hard bounce replaces all, a complaint nothing. The address is stored only while its contact exists. Rows are
// inserted in the order of their hashes, so that concurrent statements do not deadlock.
const add = statement(
  'suppressions-add',
  `insert into suppressions as s (id, project_id, address_hash, email, contact_id, reason, email_id)
   select distinct on (address_hash) given.id, given.project_id, address_hash,
     case when c.id is not null then given.address end, c.id, given.reason, given.email_id
   from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::uuid[])
     as given (id, project_id, address, contact_id, reason, email_id)
   cross join lateral (select address_hash(given.project_id, given.address) as address_hash) h
   left join contacts c on c.id = given.contact_id
   order by address_hash, given.reason desc
   on conflict (project_id, address_hash) do update set
     email = coalesce(excluded.email, s.email),
     contact_id = coalesce(excluded.contact_id, s.contact_id),
     reason = case when s.reason = 'HARD_BOUNCE' or excluded.reason = 'COMPLAINT' then s.reason else excluded.reason end,
     email_id = case when s.reason = 'HARD_BOUNCE' or excluded.reason = 'COMPLAINT' then s.email_id
       else excluded.email_id end`,
);

/** Adds addresses to the suppression lists of their projects. The contacts must be locked. */
export async function addSuppressions(trx: Db, suppressions: NewSuppression[]): Promise<void> {
  if (suppressions.length === 0) return;
  await add(trx, [
    suppressions.map(() => newId()),
    suppressions.map(({ projectId }) => projectId),
    suppressions.map(({ address }) => address),
    suppressions.map(({ contactId }) => contactId),
    suppressions.map(({ reason }) => reason),
    suppressions.map(({ emailId }) => emailId),
  ]);
}
