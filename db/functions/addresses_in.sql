-- before tables
-- Returns the e-mail addresses in a text such as `Ann <Ann@example.com>;`, in lower case.
create or replace function addresses_in(p_text text) returns text[] language sql immutable parallel safe as $$
  select array(
    select rtrim(lower(found[1]), '.') from regexp_matches(p_text, '[^\s<>()\[\],;:"'']+@[^\s<>()\[\],;:"'']+', 'g') as found)
$$;
