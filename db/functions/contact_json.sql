-- A contact as api/presenters/contact.ts shows it. A test compares both.
create or replace function contact_json(p_contact contacts) returns jsonb language sql stable as $$
  select jsonb_build_object('id', p_contact.id, 'email', p_contact.email, 'subscribed', p_contact.subscribed,
    'data', p_contact.data, 'createdAt', json_time(p_contact.created_at), 'updatedAt', json_time(p_contact.updated_at))
$$;
