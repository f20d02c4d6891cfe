-- The id of a Temporal workflow: its kind and what it works on. services/outbox/ids.ts has the same rule.
create or replace function workflow_id(kind text, variadic parts text[]) returns text language sql immutable parallel safe as $$
  select kind || '/' || array_to_string(parts, '/')
$$;
