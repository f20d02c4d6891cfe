-- Notifies the active members of a project, each unless turned off. `p_mail`: 'due' where the worker mails it, 'none' where
-- the caller does (services/notifications/recipients.ts). A member who has set nothing is mailed what needs a person.
create or replace function notify_members(
  p_project_id uuid, p_type text, p_data jsonb, p_mail text default 'due', p_managers_only boolean default false
) returns void language plpgsql as $$
begin
  insert into notifications (project_id, user_id, type, data, in_app, mail_due)
  select p_project_id, m.user_id, p_type, p_data, coalesce(s.app, true),
    p_mail = 'due' and coalesce(s.email, p_type not in ('campaign.finished', 'import.finished'))
  from memberships m left join notification_settings s on s.user_id = m.user_id and s.type = p_type
  where m.project_id = p_project_id and m.status = 'ACTIVE' and (not p_managers_only or m.role in ('ADMIN', 'OWNER'))
    and (coalesce(s.app, true)
      or p_mail = 'due' and coalesce(s.email, p_type not in ('campaign.finished', 'import.finished')));
end $$;
