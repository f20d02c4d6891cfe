-- The dependencies of segments that an email counts for: see services/conditions/email-results.ts.
create or replace function email_dependencies(p_campaign_id uuid, p_template_id uuid, p_step_id uuid) returns text[]
language sql immutable parallel safe as $$
  select array[case when p_campaign_id is not null then 'campaigns' end, 'campaign.' || p_campaign_id,
    'template.' || p_template_id, 'step.' || p_step_id]
$$;
