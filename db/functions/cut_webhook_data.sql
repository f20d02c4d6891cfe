-- Keeps a payload within 20 kB: empties the largest values until the rest fits. Leaves half a kilobyte for what
-- surrounds the data. Most payloads are so small that their text need not be measured.
create or replace function cut_webhook_data(p_data jsonb) returns jsonb language plpgsql immutable parallel safe as $$
declare
  max_bytes constant integer := 19500;
  kept jsonb := p_data;
  largest text;
begin
  if pg_column_size(p_data) < 1500 or octet_length(kept::text) <= max_bytes then return kept; end if;
  kept := kept || '{"truncated": true}';
  for largest in select key from jsonb_each(p_data) order by octet_length(value::text) desc, key loop
    kept := kept || jsonb_build_object(largest, case jsonb_typeof(p_data -> largest)
      when 'object' then '{}'::jsonb when 'array' then '[]'::jsonb else 'null'::jsonb end);
    exit when octet_length(kept::text) <= max_bytes;
  end loop;
  return kept;
end $$;
