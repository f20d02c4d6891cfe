-- before tables
-- How many workflows deep the current transaction was caused.
create or replace function cascade_depth() returns smallint language sql stable as $$
  select coalesce(nullif(current_setting('everpost.depth', true), ''), '0')::smallint
$$;
