-- Queues contact.created, contact.updated and contact.deleted, whatever writes the contacts. Of a deleted contact only the
-- id is left. What is wanted is asked once per project: contacts are often written in sets.
create or replace function queue_contact_webhooks() returns trigger language plpgsql as $$
declare
  news constant text := case tg_op when 'INSERT' then 'contact.created' when 'UPDATE' then 'contact.updated'
    else 'contact.deleted' end;
  wanting uuid[];
begin
  if not exists (
    select 1 from changed c where (select true from wanted_webhook_types w where w.project_id = c.project_id limit 1)
  ) then return null; end if;
  wanting := array(
    with writer as materialized (select distinct project_id from changed)
    select project_id from writer where wants_webhook(project_id, news));
  if wanting = '{}' then return null; end if;
  if tg_op = 'UPDATE' then
    with stored as (
      insert into webhook_events (id, project_id, type, contact_id, data)
      select uuidv7(), c.project_id, news, c.id, cut_webhook_data(
        contact_json(row(c.*)::contacts) || jsonb_build_object('position', nextval('event_positions')))
      from changed c join before b on b.id = c.id
      where c.project_id = any (wanting)
        and (c.email, c.subscribed, c.data) is distinct from (b.email, b.subscribed, b.data)
      returning id, project_id, created_at
    )
    insert into webhook_queue (project_id, event_id, event_created_at) select project_id, id, created_at from stored;
    return null;
  end if;
  with stored as (
    insert into webhook_events (id, project_id, type, contact_id, data)
    select uuidv7(), c.project_id, news, c.id, case tg_op
        when 'DELETE' then jsonb_build_object('id', c.id)
        else cut_webhook_data(
          contact_json(row(c.*)::contacts) || jsonb_build_object('position', nextval('event_positions')))
      end
    from changed c where c.project_id = any (wanting)
    returning id, project_id, created_at
  )
  insert into webhook_queue (project_id, event_id, event_created_at) select project_id, id, created_at from stored;
  return null;
end $$;

create or replace trigger contacts_queue_webhooks_added after insert on contacts
  referencing new table as changed for each statement execute function queue_contact_webhooks();
create or replace trigger contacts_queue_webhooks_changed after update on contacts
  referencing old table as before new table as changed for each statement execute function queue_contact_webhooks();
create or replace trigger contacts_queue_webhooks_removed after delete on contacts
  referencing old table as changed for each statement execute function queue_contact_webhooks();
