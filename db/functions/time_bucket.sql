-- The bucket of a duration in a histogram whose buckets grow by a fifth, from a millisecond on: the geometric middle of a
-- bucket is within 10 % of every duration in it. Bucket -1 has the shorter ones.
create or replace function time_bucket(p_time interval) returns integer language sql immutable as $$
  select case when extract(epoch from p_time) < 0.001 then -1
    else floor(ln(extract(epoch from p_time)::double precision * 1000) / ln(1.2::double precision))::integer end
$$;
