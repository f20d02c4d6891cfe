-- Counts mail that is inserted with a result already.
create or replace function count_added_email() returns trigger language plpgsql as $$
begin
  perform add_activity_delta(new.project_id, kind, null, at)
  from (values ('sent', new.sent_at), ('delivered', new.delivered_at), ('opened', new.opened_at),
    ('clicked', new.clicked_at), ('bounced', new.bounced_at), ('complained', new.complained_at),
    ('refused', case when new.sent_at is null then new.bounced_at end)) as times (kind, at)
  where at is not null;
  insert into human_activity_deltas (project_id, kind, at, delta)
  select new.project_id, kind, at, 1
  from (values ('humanOpened', new.human_opened_at), ('humanClicked', new.human_clicked_at)) as times (kind, at)
  where at is not null;
  return null;
end $$;

create or replace trigger emails_count_added after insert on emails for each row
  when (num_nonnulls(new.sent_at, new.delivered_at, new.opened_at, new.clicked_at, new.bounced_at, new.complained_at) > 0)
  execute function count_added_email();
