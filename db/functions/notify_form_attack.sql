-- Notifies members and endpoints that a form is under attack, once per attack.
create or replace function notify_form_attack() returns trigger language plpgsql as $$
begin
  perform notify_members(new.project_id, 'form.attacked', jsonb_build_object('formId', new.id, 'key', new.key,
    'name', new.name, 'since', json_time(new.attacked_since)));
  perform queue_webhook(new.project_id, 'form.attacked', null, jsonb_build_object('formId', new.id, 'key', new.key,
    'since', json_time(new.attacked_since), 'projectId', new.project_id));
  return null;
end $$;

create or replace trigger forms_notify_attack after update on forms for each row
  when (old.attacked_since is null and new.attacked_since is not null) execute function notify_form_attack();
