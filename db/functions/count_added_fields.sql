create or replace function count_added_fields() returns trigger language plpgsql as $$
begin
  update contact_counts c set fields = c.fields + a.fields
  from (select project_id, count(*) as fields from added group by project_id) a
  where a.project_id = c.project_id;
  return null;
end $$;

create or replace trigger contact_fields_added after insert on contact_fields
  referencing new table as added for each statement execute function count_added_fields();
