-- Carries the counts of campaigns over. The lock of the aggregation keeps workers of the previous version from moving deltas
-- meanwhile, the locks of the tables let writers finish first.
select pg_advisory_xact_lock(x'63616d70'::integer);
lock table human_campaign_deltas, campaign_count_deltas, campaign_counts in access exclusive mode;
insert into counters (project_id, subject, counts)
select project_id, 'campaign/' || id, jsonb_object_agg(name, count) from (
  select k.project_id, k.id, case key when 'hard_bounced' then 'hardBounced' when 'human_opened' then 'humanOpened'
    when 'human_clicked' then 'humanClicked' else key end as name, sum(value::bigint) as count
  from campaigns k join (
    select campaign_id, to_jsonb(c) - 'campaign_id' as counts from campaign_counts c
    union all
    select campaign_id, to_jsonb(d) - 'campaign_id' from campaign_count_deltas d
    union all
    select campaign_id, to_jsonb(h) - 'campaign_id' from human_campaign_deltas h
  ) stored on stored.campaign_id = k.id, jsonb_each_text(stored.counts)
  group by 1, 2, 3 having sum(value::bigint) <> 0
) sums group by 1, 2;
delete from campaign_counts;
drop table campaign_count_deltas, human_campaign_deltas;

-- Until the next release, for processes of the previous version: it sums up the three relations, and aggregates the second
-- and the third into the first. The view of the second has all numbers. It reads a function, because what it reads would
-- otherwise be locked; deleting from it does nothing. Inserting is what the freeze of the
-- previous version does, and its triggers until `migrate` has replaced their functions.
create function previous_campaign_counts() returns table (campaign_id uuid, counts jsonb) language sql stable as $$
  select k.id, counted.counts from campaigns k, lateral (
    select counts from counters where project_id = k.project_id and subject = 'campaign/' || k.id
    union all
    select counts from counter_deltas where project_id = k.project_id and subject = 'campaign/' || k.id
  ) counted
$$;
create function previous_campaign_deltas() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into counter_deltas (project_id, subject, counts)
    select k.project_id, 'campaign/' || k.id, coalesce((
      select jsonb_object_agg(case key when 'hard_bounced' then 'hardBounced' when 'human_opened' then 'humanOpened'
        when 'human_clicked' then 'humanClicked' else key end, value)
      from jsonb_each(to_jsonb(new) - array['ctid', 'campaign_id']) where value not in ('0', 'null')), '{}')
    from campaigns k where k.id = new.campaign_id;
    return new;
  end if;
  return null;
end $$;
create view campaign_count_deltas as
  select null::tid as ctid, campaign_id,
    coalesce((counts ->> 'pending')::bigint, 0) as pending, coalesce((counts ->> 'sent')::bigint, 0) as sent,
    coalesce((counts ->> 'failed')::bigint, 0) as failed, coalesce((counts ->> 'skipped')::bigint, 0) as skipped,
    coalesce((counts ->> 'cancelled')::bigint, 0) as cancelled, coalesce((counts ->> 'unknown')::bigint, 0) as unknown,
    coalesce((counts ->> 'delivered')::bigint, 0) as delivered, coalesce((counts ->> 'opened')::bigint, 0) as opened,
    coalesce((counts ->> 'clicked')::bigint, 0) as clicked, coalesce((counts ->> 'bounced')::bigint, 0) as bounced,
    coalesce((counts ->> 'hardBounced')::bigint, 0) as hard_bounced,
    coalesce((counts ->> 'complained')::bigint, 0) as complained,
    coalesce((counts ->> 'unsubscribed')::bigint, 0) as unsubscribed,
    coalesce((counts ->> 'refused')::bigint, 0) as refused
  from previous_campaign_counts();
create view human_campaign_deltas as
  select null::tid as ctid, campaign_id, coalesce((counts ->> 'humanOpened')::bigint, 0) as human_opened,
    coalesce((counts ->> 'humanClicked')::bigint, 0) as human_clicked
  from previous_campaign_counts();
create trigger previous_campaign_deltas instead of insert or delete on campaign_count_deltas
  for each row execute function previous_campaign_deltas();
create trigger previous_campaign_deltas instead of insert or delete on human_campaign_deltas
  for each row execute function previous_campaign_deltas();
