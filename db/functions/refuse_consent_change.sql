-- Keeps consent records append-only, for every role. Only an erasure may change them, and only remove personal data.
create or replace function refuse_consent_change() returns trigger language plpgsql as $$
begin
  if (new.id, new.project_id, new.at, new.contact_id, new.address_hash, new.action, new.method)
      is distinct from (old.id, old.project_id, old.at, old.contact_id, old.address_hash, old.action, old.method)
    or (new.topic_id, new.form_id, new.form_version, new.text_id, new.email_id, new.actor, new.request_id)
      is distinct from (old.topic_id, old.form_id, old.form_version, old.text_id, old.email_id, old.actor, old.request_id)
    or (new.page_url, new.locale) is distinct from (old.page_url, old.locale)
    or (new.email is not null and new.email is distinct from old.email)
    or (new.ip is not null and new.ip is distinct from old.ip)
    or (new.user_agent is not null and new.user_agent is distinct from old.user_agent)
    or (new.evidence is not null and new.evidence is distinct from old.evidence and new.evidence is distinct from old.evidence - 'ip')
  then
    raise exception 'consent records are append-only' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

create or replace trigger consents_append_only before update on consents
  for each row execute function refuse_consent_change();
