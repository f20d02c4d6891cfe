-- What an endpoint may have among its types to want a type: the name, its prefixes, and * for all but tracked events.
-- services/webhooks/types.ts has the same rule.
create or replace function webhook_patterns(p_type text) returns text[] language sql immutable parallel safe as $$
  select array[p_type]
    || array(select array_to_string(parts[1:n], '.') || '.*' from generate_series(1, cardinality(parts) - 1) as n)
    || case when p_type like 'event.%' then '{}' else array['*'] end
  from string_to_array(p_type, '.') as parts
$$;
