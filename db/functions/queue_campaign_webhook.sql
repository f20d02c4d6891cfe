-- Queues campaign.started, .paused, .resumed, .finished and .cancelled. The relay adds what GET shows besides.
create or replace function queue_campaign_webhook() returns trigger language plpgsql as $$
declare
  news text := case
    when new.status <> old.status then
      case new.status when 'SENDING' then 'started' when 'SENT' then 'finished' when 'CANCELLED' then 'cancelled' end
    when new.status = 'SENDING' then case when new.paused then 'paused' else 'resumed' end
  end;
begin
  if news is not null then
    perform queue_webhook(new.project_id, 'campaign.' || news, null, jsonb_build_object('id', new.id,
      'status', new.status, 'paused', new.paused, 'pauseReason', new.pause_reason, 'sentAt', json_time(new.sent_at),
      'updatedAt', json_time(new.updated_at)), true);
  end if;
  return null;
end $$;

create or replace trigger campaigns_queue_webhook after update on campaigns for each row
  when (old.status is distinct from new.status or old.paused is distinct from new.paused)
  execute function queue_campaign_webhook();
