create or replace function add_activity_delta(p_project_id uuid, p_kind text, p_before timestamptz, p_after timestamptz)
returns void language plpgsql as $$
begin
  if p_before is not null then insert into activity_deltas values (p_project_id, p_kind, p_before, -1); end if;
  if p_after is not null then insert into activity_deltas values (p_project_id, p_kind, p_after, 1); end if;
end $$;
