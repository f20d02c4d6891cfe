-- A contact as it is now, for a statement that has just written it: the statement's own snapshot is older.
create or replace function current_contact(p_id uuid) returns setof contacts language plpgsql volatile rows 1 as $$
begin
  return query select * from contacts c where c.id = p_id;
end $$;
