-- Adds the partition of a week (UTC, from its Monday) of a table with created_at, with the rows that the default partition
-- has for it. False: it exists.
create or replace function add_week_partition(p_table text, p_monday date) returns boolean language plpgsql as $$
declare
  part text := p_table || to_char(p_monday, '_YYYY_MM_DD');
  rest text := p_table || '_default';
  first timestamptz := p_monday::timestamp at time zone 'UTC';
  next timestamptz := (p_monday + 7)::timestamp at time zone 'UTC';
begin
  if to_regclass(part) is not null then return false; end if;
  execute format('lock table %I in share update exclusive mode', p_table);
  if to_regclass(part) is not null then return false; end if;
  execute format('lock table %I in access exclusive mode', rest);
  execute format('create table %I (like %I including all excluding indexes)', part, p_table);
  execute format('with moved as (delete from %I where created_at >= %L and created_at < %L returning *)
    insert into %I select * from moved', rest, first, next, part);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', p_table, part, first, next);
  return true;
end $$;
