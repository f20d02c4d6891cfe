-- Leases due mail of a campaign for a sender, in the order (due_at, id), after the given position, and returns its
-- contacts, without an email where they are deleted. Returns nothing while the campaign is not sending, or to a sender whose
-- own lease has run out. The inner limits make the planner look each mail up in outgoing_mails: by its statistics that table
-- is empty, so with NOT EXISTS it reads all of it for each mail.
create or replace function lease_campaign_recipients(
  p_sender_id uuid, p_campaign_id uuid, p_limit integer, p_after_due timestamptz, p_after_id uuid
) returns table (
  id uuid, due_at timestamptz, contact_id uuid, email text, subscribed boolean, created_at timestamptz, data jsonb
) language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock(hashtextextended('lease/' || p_campaign_id::text, 0));
  if not exists (select 1 from senders s where s.id = p_sender_id and s.lease_until > clock_timestamp())
    or not exists (select 1 from campaigns c where c.id = p_campaign_id and c.status = 'SENDING' and not c.paused)
    then return; end if;
  return query
    with due as materialized (
      select e.id, e.project_id, e.contact_id, e.due_at from emails e
      where e.campaign_id = p_campaign_id and e.status = 'PENDING' and e.due_at <= now()
        and (e.due_at, e.id) > (p_after_due, p_after_id)
        and (select true from outgoing_mails o where o.email_id = e.id limit 1) is null
      order by e.due_at, e.id limit p_limit
    ),
    leased as (
      insert into outgoing_mails (email_id, sender_id, project_id, contact_id, campaign_id)
      select due.id, p_sender_id, due.project_id, due.contact_id, p_campaign_id from due on conflict do nothing
    )
    select due.id, due.due_at, due.contact_id, k.email, k.subscribed, k.created_at, k.data
    from due left join lateral (select * from contacts where contacts.id = due.contact_id limit 1) k on true
    order by due.due_at, due.id;
end $$;
