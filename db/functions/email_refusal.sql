-- The one rule that decides whether a contact may get an email: null, or why not. The caller passes what it knows of the
-- contact with the recipient's address and of the topic's state (topic_state); an address that is no contact counts as
-- subscribed. TRANSACTIONAL email needs no subscription. A topic that no longer exists counts as archived: what was left
-- is not known any more. One expression that uses the state once, so that Postgres inlines it where audiences are selected.
create or replace function email_refusal(
  p_needs_subscription boolean, p_suppressed boolean, p_subscribed boolean, p_snoozed_until timestamptz,
  p_topic_id uuid, p_topic_archived boolean, p_topic_state text
) returns text language sql stable parallel safe as $$
  select case
    when p_suppressed then 'suppressed'
    when p_needs_subscription and not p_subscribed then 'unsubscribed'
    when p_needs_subscription and p_snoozed_until > now() then 'snoozed'
    when p_topic_id is null then null
    when coalesce(p_topic_archived, true) then 'topic archived'
    else case p_topic_state
      when 'SUBSCRIBED' then null when 'PENDING' then 'topic pending' else 'topic unsubscribed' end
  end
$$;
