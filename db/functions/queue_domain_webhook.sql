-- Queues domain.verified and domain.lost. The relay adds what GET shows besides.
create or replace function queue_domain_webhook() returns trigger language plpgsql as $$
begin
  perform queue_webhook(new.project_id, case new.status when 'VERIFIED' then 'domain.verified' else 'domain.lost' end, null,
    jsonb_build_object('id', new.id, 'domain', new.domain, 'status', new.status, 'verified', new.status = 'VERIFIED',
      'verifiedAt', json_time(new.verified_at), 'updatedAt', json_time(new.updated_at)), true);
  return null;
end $$;

create or replace trigger domains_queue_webhook after update on domains for each row
  when (old.status is distinct from new.status) execute function queue_domain_webhook();
