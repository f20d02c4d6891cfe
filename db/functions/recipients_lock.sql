-- The advisory lock of the recipients of a project: shared by those who persist results, exclusive for the deletion of
-- contacts. Taken before rows, and by a statement of its own, so that the next one sees what was committed meanwhile.
create or replace function recipients_lock(p_project_id uuid) returns bigint language sql immutable parallel safe as $$
  select hashtextextended('recipients/' || p_project_id::text, 0)
$$;
