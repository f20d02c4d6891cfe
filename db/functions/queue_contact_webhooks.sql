-- Queues contact.created, contact.updated and contact.deleted, whatever writes the contacts. Of a deleted contact only the
-- id is left.
create or replace function queue_contact_webhooks() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from changed c where (select true from wanted_webhook_types w where w.project_id = c.project_id limit 1)
  ) then return null; end if;
  if tg_op = 'UPDATE' then
    with stored as (
      insert into webhook_events (id, project_id, type, contact_id, data)
      select uuidv7(), c.project_id, 'contact.updated', c.id, cut_webhook_data(
        contact_json(row(c.*)::contacts) || jsonb_build_object('position', nextval('event_positions')))
      from changed c join before b on b.id = c.id
      where (c.email, c.subscribed, c.data) is distinct from (b.email, b.subscribed, b.data)
        and wants_webhook(c.project_id, 'contact.updated')
      returning id, project_id, created_at
    )
    insert into webhook_queue (project_id, event_id, event_created_at) select project_id, id, created_at from stored;
    return null;
  end if;
  with stored as (
    insert into webhook_events (id, project_id, type, contact_id, data)
    select uuidv7(), c.project_id, case tg_op when 'INSERT' then 'contact.created' else 'contact.deleted' end, c.id,
      case tg_op
        when 'INSERT' then cut_webhook_data(
          contact_json(row(c.*)::contacts) || jsonb_build_object('position', nextval('event_positions')))
        else jsonb_build_object('id', c.id)
      end
    from changed c
    where wants_webhook(c.project_id, case tg_op when 'INSERT' then 'contact.created' else 'contact.deleted' end)
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
