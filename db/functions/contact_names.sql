-- before tables
-- The values of the fields whose names contain "name", in lower case, for the index that finds contacts by name; null
-- without one. Of each value the first 500 characters.
create or replace function contact_names(data jsonb) returns text language sql immutable parallel safe as $$
  select string_agg(lower(left(value, 500)), e'\n' order by key) from jsonb_each_text(data)
  where key ilike '%name%' and value is not null
$$;
