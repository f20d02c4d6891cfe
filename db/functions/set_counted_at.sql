-- Every count of the members of a segment says when it was made, whatever statement writes it.
create or replace function set_counted_at() returns trigger language plpgsql as $$
begin
  new.counted_at := now();
  return new;
end $$;

create or replace trigger segments_counted before update of member_count on segments
  for each row execute function set_counted_at();
