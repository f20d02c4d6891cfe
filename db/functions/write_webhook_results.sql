-- Writes the results of calls to an endpoint. A result whose delivery has changed in the meantime is dropped.
create or replace function write_webhook_results(
  p_ids uuid[], p_created_at timestamptz[], p_attempts integer[], p_statuses text[], p_next_attempt_at timestamptz[],
  p_status_codes integer[], p_errors text[], p_delivered_at timestamptz[], p_log_entries jsonb[], p_longest_log integer
) returns void language plpgsql
-- Keeps one plan for sets of any size; planning each of them took about 2 ms.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
begin
  update webhook_deliveries d
  set status = r.status, attempts = d.attempts + 1, next_attempt_at = r.next_attempt_at,
    last_status_code = r.status_code, last_error = r.error, delivered_at = r.delivered_at,
    -- The oldest entry is dropped from a full log: deliveries can be recovered again and again.
    attempt_log = case when jsonb_array_length(d.attempt_log) >= p_longest_log then d.attempt_log - 0
      else d.attempt_log end || r.log_entry
  from unnest(p_ids, p_created_at, p_attempts, p_statuses, p_next_attempt_at, p_status_codes, p_errors, p_delivered_at,
    p_log_entries) as r (id, created_at, attempts, status, next_attempt_at, status_code, error, delivered_at, log_entry)
  where d.id = r.id and d.created_at = r.created_at and d.attempts = r.attempts and d.status = 'PENDING';
end $$;
