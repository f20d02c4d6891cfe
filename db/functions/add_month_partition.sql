-- Adds the partition of a month (UTC), with the rows that the default partition has for it. False: it exists.
create or replace function add_month_partition(p_table text, p_month date) returns boolean language plpgsql as $$
declare
  part text := p_table || to_char(p_month, '_YYYY_MM');
  rest text := p_table || '_default';
  key text := case p_table when 'events' then 'created_at' when 'audit_log' then 'at' when 'email_bodies' then 'id' when 'consents' then 'id'
    else 'email_id' end;
  by_id boolean := p_table in ('email_contents', 'email_bodies', 'consents');
  first timestamptz := p_month::timestamp at time zone 'UTC';
  next timestamptz := (p_month + interval '1 month') at time zone 'UTC';
  low text := case when by_id then uuid_floor(first)::text else first::text end;
  high text := case when by_id then uuid_floor(next)::text else next::text end;
begin
  if to_regclass(part) is not null then return false; end if;
  execute format('lock table %I in share update exclusive mode', p_table);
  if to_regclass(part) is not null then return false; end if;
  execute format('lock table %I in access exclusive mode', rest);
  execute format('create table %I (like %I including all excluding indexes)', part, p_table);
  -- Moving is the only deletion that the audit log allows; the table is locked meanwhile.
  if p_table = 'audit_log' then execute format('alter table %I disable trigger audit_log_append_only', rest); end if;
  execute format('with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I select * from moved',
    rest, key, low, key, high, part);
  if p_table = 'audit_log' then execute format('alter table %I enable trigger audit_log_append_only', rest); end if;
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', p_table, part, low, high);
  return true;
end $$;
