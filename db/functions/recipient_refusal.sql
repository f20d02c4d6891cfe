-- email_refusal for a contact that the statement has just written: volatile, so that it sees the row and its choices.
create or replace function recipient_refusal(
  p_project_id uuid, p_contact_id uuid, p_needs_subscription boolean, p_suppressed boolean, p_topic_id uuid
) returns text language plpgsql volatile as $$
begin
  return (
    select email_refusal(p_needs_subscription, p_suppressed, c.subscribed, c.snoozed_until, p_topic_id,
      (select t.archived from topics t where t.id = p_topic_id and t.project_id = p_project_id),
      topic_state(p_project_id, p_topic_id, c.id, c.created_at))
    from contacts c where c.id = p_contact_id and c.project_id = p_project_id);
end $$;
