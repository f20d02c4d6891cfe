-- before tables
-- The keys of a contact's data, for the index that finds contacts by key.
create or replace function data_keys(data jsonb) returns text[] language sql immutable strict parallel safe as $$
  select array(select jsonb_object_keys(data))
$$;
