-- The inferred type of a custom field's value.
create or replace function contact_value_type(value jsonb) returns text language sql immutable parallel safe as $$
  select case jsonb_typeof(value)
    when 'number' then 'number'
    when 'boolean' then 'boolean'
    when 'string' then
      case when value #>> '{}' ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z)?$'
        then 'date' else 'string' end
    else 'string'
  end
$$;
