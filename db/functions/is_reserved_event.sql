-- Whether only the service records events of this name. services/events/reserved.ts has the same rule.
create or replace function is_reserved_event(name text) returns boolean language sql immutable parallel safe as $$
  select name like 'email.%' or name in ('contact.subscribed', 'contact.unsubscribed')
    or name ~ '^segment\..+\.(entry|exit)$'
$$;
