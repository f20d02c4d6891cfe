-- Appends a consent record and returns its id. The context says who did it and how: method, actor, requestId, ip, userAgent,
-- pageUrl, locale, formId, formVersion, text, emailId, evidence and at.
create or replace function write_consent(
  p_project_id uuid, p_contact_id uuid, p_email text, p_topic_id uuid, p_action text, p_context jsonb
) returns uuid language plpgsql as $$
declare
  v_id uuid := uuidv7();
  v_text_id uuid;
  v_text text := p_context ->> 'text';
  v_locale text := p_context ->> 'locale';
begin
  if v_text is not null then
    loop
      select t.id into v_text_id from consent_texts t
      where t.project_id = p_project_id and t.hash = sha256(convert_to(v_text, 'UTF8')) and t.locale is not distinct from v_locale
      -- Retention removes wordings that no record has.
      for key share;
      exit when found;
      insert into consent_texts (id, project_id, hash, text, locale)
      values (uuidv7(), p_project_id, sha256(convert_to(v_text, 'UTF8')), v_text, v_locale) on conflict do nothing;
    end loop;
  end if;
  insert into consents (id, project_id, at, contact_id, address_hash, email, topic_id, action, method, ip, user_agent,
    page_url, locale, form_id, form_version, text_id, email_id, actor, request_id, evidence)
  values (v_id, p_project_id, coalesce((p_context ->> 'at')::timestamptz, now()), p_contact_id,
    address_hash(p_project_id, p_email), p_email, p_topic_id, p_action, coalesce(p_context ->> 'method', 'SYSTEM'),
    p_context ->> 'ip', p_context ->> 'userAgent', p_context ->> 'pageUrl', v_locale, (p_context ->> 'formId')::uuid,
    (p_context ->> 'formVersion')::integer, v_text_id, (p_context ->> 'emailId')::uuid, nullif(p_context -> 'actor', 'null'),
    p_context ->> 'requestId', nullif(p_context -> 'evidence', 'null'));
  return v_id;
end $$;
