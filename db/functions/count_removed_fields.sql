create or replace function count_removed_fields() returns trigger language plpgsql as $$
begin
  update contact_counts c set fields = c.fields - r.fields
  from (select project_id, count(*) as fields from removed group by project_id) r
  where r.project_id = c.project_id;
  return null;
end $$;

create or replace trigger contact_fields_removed after delete on contact_fields
  referencing old table as removed for each statement execute function count_removed_fields();
