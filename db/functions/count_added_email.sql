-- Counts mail that is inserted with a result already.
create or replace function count_added_email() returns trigger language plpgsql as $$
begin
  insert into counter_deltas (project_id, subject, period, counts)
  select new.project_id, 'activity/hours', date_trunc('hour', at, 'UTC'), jsonb_object_agg(kind, 1)
  from (values ('sent', new.sent_at), ('delivered', new.delivered_at), ('opened', new.opened_at),
    ('clicked', new.clicked_at), ('humanOpened', new.human_opened_at), ('humanClicked', new.human_clicked_at),
    ('peopleOpened', least(new.human_opened_at, new.human_clicked_at)),
    ('bounced', new.bounced_at), ('complained', new.complained_at),
    ('refused', case when new.sent_at is null then new.bounced_at end)) as times (kind, at)
  where at is not null group by 3;
  return null;
end $$;

create or replace trigger emails_count_added after insert on emails for each row
  when (num_nonnulls(new.sent_at, new.delivered_at, new.opened_at, new.clicked_at, new.bounced_at, new.complained_at) > 0)
  execute function count_added_email();
