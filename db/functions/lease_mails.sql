-- Leases due transactional mail (priority 0) or workflow mail (priority 1) for a sender, projects in round-robin.
-- Returns nothing to a sender whose own lease has run out.
-- A function, because its statements must see what was committed while it waited for the lock. Senders call it over
-- connections whose plans only use indexes (db/connect.ts), so that plans stay right while the tables grow. The inner
-- limits make the planner look each mail up in outgoing_mails: by its statistics that table is empty, so with NOT EXISTS
-- it reads all of it for each mail.
create or replace function lease_mails(p_sender_id uuid, p_priority smallint, p_limit integer)
returns table (id uuid, project_id uuid, relay text, is_retry_of_unknown boolean, body_bytes integer) language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  -- Senders lease one after the other, so that none finds its mails taken by another.
  perform pg_advisory_xact_lock(hashtext('lease_mails'), p_priority);
  if not exists (select 1 from senders s where s.id = p_sender_id and s.lease_until > clock_timestamp()) then return; end if;
  return query
    -- Walks the index from one project to the next, so that a backlog costs no more than one mail.
    with recursive project as (
      (select e.project_id from emails e
       where e.priority = p_priority and e.status = 'PENDING' and e.campaign_id is null order by e.project_id limit 1)
      union all
      select (select e.project_id from emails e
        where e.priority = p_priority and e.status = 'PENDING' and e.campaign_id is null
          and e.project_id > project.project_id order by e.project_id limit 1)
      from project where project.project_id is not null
    ),
    share as (select greatest(ceil(p_limit * 2.0 / greatest(count(project_id), 1)), 1) as mails from project),
    due as materialized (
      select mail.* from project cross join lateral (
        select first.*, row_number() over (order by first.due_at, first.id) as place from (
          select e.id, e.project_id, e.contact_id, e.due_at, e.unknown_outcomes, e.attempt_log from emails e
          where e.priority = p_priority and e.status = 'PENDING' and e.campaign_id is null
            and e.project_id = project.project_id and e.due_at <= now()
            and (select true from outgoing_mails o where o.email_id = e.id limit 1) is null
          order by e.due_at limit (select mails from share)
        ) first
      ) mail
      order by mail.place, mail.due_at, mail.id limit p_limit
    ),
    leased as (
      insert into outgoing_mails (email_id, sender_id, project_id, contact_id)
      select due.id, p_sender_id, due.project_id, due.contact_id from due on conflict do nothing
    )
    select due.id, due.project_id, due.attempt_log -> -1 ->> 'relay', due.unknown_outcomes > 0, coalesce(body.bytes, 0)
    from due
    left join lateral (select c.body_id from email_contents c where c.email_id = due.id limit 1) content on true
    left join lateral (
      select octet_length(b.html) as bytes from email_bodies b where b.id = content.body_id limit 1) body on true
    order by due.place, due.due_at, due.id;
end $$;
