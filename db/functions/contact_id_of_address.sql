-- The contact id of a test mail to an address without a contact: the same for every such mail, so that a contact that is
-- created and deleted later is erased from it.
create or replace function contact_id_of_address(p_project_id uuid, p_email text) returns uuid
language sql stable parallel safe as $$
  select encode(substring(address_hash(p_project_id, p_email) for 16), 'hex')::uuid
$$;
