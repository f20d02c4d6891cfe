-- Notifies members that a webhook endpoint was disabled because it fails. The URL may contain a secret: only its host is
-- shown. The service that calls endpoints mails the members itself.
create or replace function notify_endpoint() returns trigger language plpgsql as $$
begin
  perform notify_members(new.project_id, 'endpoint.disabled', jsonb_build_object('endpointId', new.id,
    'host', substring(new.url from '^[a-z]+://(?:[^/@]*@)?([^/?#]+)'), 'reason', new.disabled_reason), 'none');
  return null;
end $$;

create or replace trigger webhook_endpoints_notify after update on webhook_endpoints for each row
  when (old.enabled and not new.enabled and new.disabled_reason is not null) execute function notify_endpoint();
