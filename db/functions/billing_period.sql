-- The start of the period in which mail counts: the subscription's, else the month of UTC.
create or replace function billing_period(p_project_id uuid) returns timestamptz language sql stable as $$
  select coalesce(
    (select period_start from project_billing where project_id = p_project_id and period_end > now()),
    date_trunc('month', now(), 'UTC'))
$$;
