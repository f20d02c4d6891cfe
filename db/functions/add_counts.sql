-- Adds numbers by name: {"sent": 2} and {"sent": 1, "opened": 1} are {"sent": 3, "opened": 1}.
create or replace function add_counts(counts jsonb, added jsonb) returns jsonb language sql immutable parallel safe as $$
  select counts || coalesce(jsonb_object_agg(key, coalesce((counts ->> key)::bigint, 0) + value::bigint), '{}')
  from jsonb_each_text(added)
$$;
