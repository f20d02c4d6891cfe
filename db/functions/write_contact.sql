-- The only way in which a contact is written: created, or locked and patched. The row stays locked to the end of the
-- transaction, so that everything recorded about a contact is recorded in order. A change of subscription is recorded
-- as an event and as a consent record: "consent" in p_event_data says who changed it and how (write_consent), and is no
-- part of the event. A function and not a statement: it distinguishes the state before from the state after, leaves an
-- unchanged contact untouched, and takes half the time of the same rule as common table expressions.
create or replace function write_contact(
  p_project_id uuid, p_email text, p_new_id uuid, p_subscribed boolean, p_subscribed_when_new boolean,
  p_patch jsonb, p_deletes jsonb, p_defaults jsonb, p_event_id uuid, p_event_data jsonb default '{}',
  p_depth integer default null,
  out id uuid, out subscribed boolean, out is_new boolean, out is_changed boolean
) language plpgsql as $$
declare
  known record;
  new_data jsonb;
begin
  loop
    select c.id, c.subscribed, c.data into known
    from contacts c where c.project_id = p_project_id and c.email = p_email for update;
    exit when found;
    insert into contacts as c (id, project_id, email, subscribed, data)
    values (p_new_id, p_project_id, p_email,
      case when p_subscribed is null and p_subscribed_when_new then not has_left_all(p_project_id, p_email)
        else coalesce(p_subscribed, p_subscribed_when_new) end,
      p_defaults || p_patch)
    on conflict (project_id, email) do nothing
    returning c.id, c.subscribed, true, true into id, subscribed, is_new, is_changed;
    -- Otherwise another transaction has just created it, and it is visible now.
    if found then return; end if;
  end loop;

  id := known.id;
  is_new := false;
  subscribed := coalesce(p_subscribed, known.subscribed);
  new_data := known.data;
  if p_deletes <> '[]' then new_data := new_data - array(select jsonb_array_elements_text(p_deletes)); end if;
  new_data := p_defaults || new_data || p_patch;
  is_changed := subscribed <> known.subscribed or new_data <> known.data;
  if is_changed then
    if subscribed <> known.subscribed then
      perform set_config('everpost.consent', coalesce(p_event_data ->> 'consent', ''), true);
    end if;
    update contacts c set subscribed = write_contact.subscribed, data = new_data, updated_at = now()
    where c.id = known.id;
  end if;
  if subscribed <> known.subscribed then
    perform record_event(p_event_id, p_project_id, known.id,
      case when subscribed then 'contact.subscribed' else 'contact.unsubscribed' end, p_event_data - 'consent', null, p_depth);
  end if;
end $$;
