-- Notifies members that a campaign has finished, or has paused itself.
create or replace function notify_campaign() returns trigger language plpgsql as $$
begin
  if new.status = 'SENT' and old.status <> 'SENT' then
    perform notify_members(new.project_id, 'campaign.finished', jsonb_build_object('campaignId', new.id, 'name', new.name));
  elsif new.paused and not old.paused and new.paused_by in ('AUTO_PAUSE', 'BLOCKED') then
    perform notify_members(new.project_id, 'campaign.paused',
      jsonb_build_object('campaignId', new.id, 'name', new.name, 'reason', new.pause_reason));
  end if;
  return null;
end $$;

create or replace trigger campaigns_notify after update on campaigns for each row
  when (old.status is distinct from new.status or old.paused is distinct from new.paused)
  execute function notify_campaign();
