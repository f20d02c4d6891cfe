-- The instant of a full ISO 8601 date-time, for conditions on dates inside data; null, never an error, for anything
-- else. The offset is part of the text, so the result does not depend on any setting.
create or replace function iso_timestamp(value text) returns timestamptz language sql immutable strict parallel safe as $$
  select case
    when value ~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$'
      and pg_input_is_valid(value, 'timestamptz')
    then regexp_replace(value, '(\.[0-9]{3})[0-9]+', '\1')::timestamptz
  end
$$;
