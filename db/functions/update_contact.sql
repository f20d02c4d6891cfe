-- Changes a contact by its id. The address first, so that the rules of write_contact are the only ones.
create or replace function update_contact(
  p_project_id uuid, p_id uuid, p_email text, p_subscribed boolean, p_patch jsonb, p_deletes jsonb,
  p_event_id uuid, p_event_data jsonb default '{}', p_depth integer default null,
  out id uuid, out is_changed boolean
) language plpgsql as $$
declare
  address text;
  written record;
begin
  select c.email into address from contacts c where c.project_id = p_project_id and c.id = p_id for update;
  if not found then return; end if;
  if p_email <> address then
    update contacts c set email = p_email, updated_at = now() where c.id = p_id;
  end if;
  written := write_contact(p_project_id, coalesce(p_email, address), null, p_subscribed, null,
    p_patch, p_deletes, '{}', p_event_id, p_event_data, p_depth);
  id := p_id;
  is_changed := written.is_changed or coalesce(p_email <> address, false);
end $$;
