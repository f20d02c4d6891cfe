-- before tables
-- The type of an event in the activity feed; 'hidden' when the feed does not show it, such as later opens of a mail.
create or replace function activity_type(name text, data jsonb) returns text language sql immutable parallel safe as $$
  select case
    when name like 'email.%' then case name
      when 'email.sent' then 'email.sent'
      when 'email.delivery' then 'email.delivered'
      when 'email.open' then case when data -> 'isFirst' = 'false' then 'hidden' else 'email.opened' end
      when 'email.click' then case when data -> 'isFirst' = 'false' then 'hidden' else 'email.clicked' end
      when 'email.bounce' then 'email.bounced'
      when 'email.complaint' then 'email.complained'
      when 'email.failed' then 'email.failed'
      else 'hidden'
    end
    when name in ('contact.subscribed', 'contact.unsubscribed') then name
    when name like 'topic.%' and data -> 'consentId' is not null then
      case when name like '%.subscribed' then 'topic.subscribed' else 'topic.unsubscribed' end
    when name like 'form.%.confirmed' and data -> 'submissionId' is not null then 'form.confirmed'
    when name like 'segment._%.entry' or name like 'segment._%.exit' then 'hidden'
    else 'event.triggered'
  end
$$;
