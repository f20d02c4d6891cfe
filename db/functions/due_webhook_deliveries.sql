-- The next due deliveries of an endpoint with their payloads, in the order (next_attempt_at, id), after the given position.
create or replace function due_webhook_deliveries(
  p_endpoint_id uuid, p_now timestamptz, p_after_due timestamptz, p_after_id uuid, p_limit integer
) returns table (
  id uuid, event_id uuid, type text, attempts integer, attempts_before integer, created_at text, due_at text, data text,
  truncated boolean, happened_at text
) language plpgsql
-- Planning for each page takes as long as reading it. Partitions of this week may have no statistics yet, and the planner
-- would sort all that is due for every page.
set plan_cache_mode = force_generic_plan
set enable_sort = off
set enable_bitmapscan = off
set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
    select d.id, d.event_id, d.type, d.attempts, d.attempts_before, d.created_at::text, d.next_attempt_at::text,
      e.data::text, coalesce(e.data -> 'truncated' = 'true', false), json_time(e.happened_at)
    from webhook_deliveries d
    -- The inner limit makes the planner look each event up by its id.
    cross join lateral (
      select * from webhook_events where id = d.event_id and created_at = d.created_at limit 1) e
    where d.endpoint_id = p_endpoint_id and d.status = 'PENDING' and d.next_attempt_at <= p_now
      and (d.next_attempt_at, d.id) > (p_after_due, p_after_id) and d.created_at > p_now - interval '30 days'
    order by d.next_attempt_at, d.id limit p_limit;
end $$;
