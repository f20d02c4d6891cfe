// Erases recipients from the ledger, which keeps its rows for the counts.

/**
 * SQL that ends and erases the emails of a condition: $1 is the reason of those that have not been sent. A recipient of a
 * campaign counts as skipped. Emails of campaigns have address and subject in the ledger itself. Reasons with an @ and the
 * replies of relays are erased, because relays repeat the address in them.
 */
export const eraseEmailsSql = (condition: string): string => `update emails set
    status = case when status <> 'PENDING' then status when campaign_id is null then 'CANCELLED' else 'SKIPPED' end,
    reason = case when status = 'PENDING' then $1 when reason like '%@%' then null else reason end,
    attempt_log = (
      select jsonb_agg(entry || '{"answer": null}' order by place)
      from jsonb_array_elements(attempt_log) with ordinality as log (entry, place)),
    to_email = null, rendered_subject = null, updated_at = now()
  where id in (
    select id from emails
    where ${condition}
      and (status = 'PENDING' or to_email is not null or reason like '%@%' or attempt_log is not null)
    order by id for update)`;
