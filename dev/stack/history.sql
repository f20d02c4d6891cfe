-- What happened in the sample shop in sixty days, in temporary tables: who joined, bought and left, and what became of every
-- email. Nothing here touches a table of the product. `shop`, `letters` and `names` are given (history.ts).

-- Always the same for the same arguments, so that every sample is alike: 0 up to 1.
create or replace function pg_temp.chance(seed bigint, about text) returns float8 language sql immutable as $$
  select (hashtextextended(about, seed) & 1048575)::float8 / 1048576
$$;

-- Waiting times in which most happens early: half of the mean after 0.7 times the mean.
create or replace function pg_temp.delay(seed bigint, about text, mean interval) returns interval language sql immutable as $$
  select mean * -ln(1 - pg_temp.chance(seed, about))
$$;

-- 420 people from before, then more every week, and half as many at weekends.
create temporary table people on commit drop as
with days as (
  select ago, date_trunc('day', now(), 'UTC') - make_interval(days => ago) as day from generate_series(0, 59) as ago
),
joins as (
  select now() - make_interval(days => 60) - make_interval(hours => (2880 * pg_temp.chance(i, 'before'))::integer)
    as joined_at
  from generate_series(1, 420) as i
  union all
  select day + interval '6 hours' + interval '15 hours' * pg_temp.chance(i, 'hour of ' || ago)
  from days, generate_series(1, round((5 + 15 * (60 - ago) / 60.0)
    * case extract(isodow from day at time zone 'UTC') when 6 then 0.6 when 7 then 0.5 else 1.1 end)::integer) as i
),
numbered as (
  select row_number() over (order by joined_at)::integer as n, joined_at from joins
  where joined_at < now() - interval '1 hour'
)
select n, joined_at, uuidv7(joined_at - now()) as id,
  lower(first || '.' || last || '.' || n || '@' || (array['example.com', 'example.net', 'example.org', 'mail.example',
    'post.example'])[1 + floor(5 * pg_temp.chance(n, 'domain') ^ 1.6)]) as email,
  jsonb_build_object('firstName', first, 'lastName', last,
    'plan', case when pg_temp.chance(n, 'plan') < 0.1 then 'pro' when pg_temp.chance(n, 'plan') < 0.4 then 'starter'
      else 'free' end,
    'city', cities[1 + n % cardinality(cities)],
    'signedUpAt', to_char(joined_at at time zone 'UTC', 'YYYY-MM-DD')) as data,
  (select min(number) from letters where sent_at > joined_at) as first_letter,
  -- A mailbox that is gone; the letter after which the subscription ended; when it did.
  n <= 420 and pg_temp.chance(n, 'dead') < 0.01 as is_dead, null::integer as last_letter, null::timestamptz as left_at
from numbered, names, lateral (select first_names[1 + n % cardinality(first_names)] as first,
  last_names[1 + n / 7 % cardinality(last_names)] as last) as person;
update people set last_letter = case
    when is_dead then first_letter
    -- Not with the first letter, so that everyone is still subscribed at the end of the welcome series.
    when pg_temp.chance(n, 'leaves') < 0.05 then first_letter + 1 + floor(5 * pg_temp.chance(n, 'when'))
  end;
update people p set left_at = l.sent_at + case when is_dead then interval '40 seconds'
    else interval '20 minutes' + pg_temp.delay(n, 'leaving', interval '9 hours') end
from letters l where l.number = p.last_letter;
update people set left_at = null, last_letter = null where left_at > now() - interval '10 minutes';

create temporary table orders on commit drop as
select p.n, p.id as contact_id, at, 'A-' || 20000 + row_number() over (order by at) as number,
  round((12 + 90 * pg_temp.chance(p.n * 5 + i, 'total'))::numeric, 2) as total
from people p, generate_series(1, 4) as i, lateral (select
  case when p.joined_at < now() - interval '60 days'
    then now() - interval '60 days' * pg_temp.chance(p.n * 5 + i, 'time')
    else p.joined_at + interval '20 minutes' + pg_temp.delay(p.n * 5 + i, 'order', make_interval(days => 4 + 12 * (i - 1)))
  end as at) as o
where pg_temp.chance(p.n, 'buys') < 0.55 and not p.is_dead and (i = 1 or pg_temp.chance(p.n * 5 + i, 'again') < 0.6)
  and at < now() - interval '20 minutes';

update people p set data = p.data || jsonb_build_object('orders',
  (select count(*) from orders o where o.n = p.n) + case when n <= 420 then floor(8 * pg_temp.chance(n, 'earlier')) else 0 end);

-- Everyone who joined goes through the welcome series: an email, three days for a first order, otherwise a reminder.
create temporary table journeys on commit drop as
select uuidv7(p.joined_at - now()) as id, p.n, p.id as contact_id, p.joined_at + interval '0.8 seconds' as started_at,
  p.joined_at + interval '1 second' as waits_at, p.joined_at + interval '3 days 1 second' as until, o.at as ordered_at,
  case when o.at is not null then 'EXITED' when p.joined_at < now() - interval '3 days 10 minutes' then 'COMPLETED'
    else 'WAITING' end as status,
  coalesce(o.at, p.joined_at + interval '3 days 1 second') + interval '0.5 seconds' as ended_at
from people p left join lateral (
  select min(at) as at from orders o where o.n = p.n and o.at < p.joined_at + interval '3 days'
) o on true
where p.joined_at >= now() - interval '60 days';

-- Who gets which email when. `appeal` is the share of attentive readers that open it.
create temporary table mails on commit drop as
select uuidv7(due_at - now()) as id, m.* from (
  select p.n * 10 + l.number as seed, p.n, p.id as contact_id, 'CAMPAIGN' as source, l.template_id, l.campaign_id,
    null::uuid as execution_id, null::integer as visit,
    l.sent_at + interval '25 milliseconds' * row_number() over (partition by l.number order by p.n) as due_at,
    0.62 + 0.18 * pg_temp.chance(l.number, 'appeal') as appeal, 0.3 as temptation, l.link, null::jsonb as variables,
    replace(l.subject, '{{firstName ?? "Hello"}}', p.data ->> 'firstName') as subject, l.number = p.last_letter as is_last
  from people p, letters l
  where p.joined_at < l.sent_at and (p.last_letter is null or l.number <= p.last_letter)
  union all
  select -10 * j.n, j.n, j.contact_id, 'WORKFLOW', shop.welcome_id, null, j.id, 1, j.started_at, 0.85, 0.4,
    'https://example.com/new', '{"event": {}}', 'Welcome, ' || (p.data ->> 'firstName') || '!', false
  from journeys j join people p using (n), shop
  union all
  select -10 * j.n - 1, j.n, j.contact_id, 'WORKFLOW', shop.reminder_id, null, j.id, 3, j.until, 0.5, 0.25,
    'https://example.com/new', '{"event": {}}', (p.data ->> 'firstName') || ', your first order ships for free', false
  from journeys j join people p using (n), shop where j.status = 'COMPLETED'
  union all
  select -1000000 - row_number() over (order by o.at), o.n, o.contact_id, 'TRANSACTIONAL', shop.receipt_id, null, null,
    null, o.at + interval '0.3 seconds', 0.9, 0.15, 'https://example.com/orders',
    jsonb_build_object('event', jsonb_build_object('number', o.number)), 'Your order ' || o.number, false
  from orders o, shop
) m;

alter table mails add column sent_at timestamptz, add column delivered_at timestamptz, add column bounced_at timestamptz,
  add column bounce_type text, add column machine_opened_at timestamptz, add column human_opened_at timestamptz,
  add column human_clicked_at timestamptz, add column unsubscribed_at timestamptz;
update mails set sent_at = due_at + interval '0.4 seconds' + interval '3 seconds' * pg_temp.chance(seed, 'sending');
update mails m set bounce_type = case when p.is_dead and is_last then 'Permanent'
    when pg_temp.chance(seed, 'full mailbox') < 0.004 then 'Transient' end
from people p where p.n = m.n;
update mails m set
  bounced_at = case when bounce_type is not null then sent_at + interval '30 seconds' end,
  delivered_at = case when bounce_type is null then sent_at + interval '1 second' + pg_temp.delay(seed, 'delivery', interval '8 seconds') end,
  -- Every fifth reads with a program that loads all pictures on arrival.
  machine_opened_at = case when bounce_type is null and pg_temp.chance(m.n, 'proxy') < 0.2
    then sent_at + interval '40 seconds' + pg_temp.delay(seed, 'proxy', interval '1 minute') end,
  human_opened_at = case
    when bounce_type is null and (is_last and left_at is not null or pg_temp.chance(seed, 'opens') < appeal * (0.25 + 0.75 * pg_temp.chance(m.n, 'reader')))
    then least(sent_at + interval '90 seconds' + pg_temp.delay(seed, 'opening', interval '11 hours'),
      case when is_last then left_at - interval '1 minute' end) end,
  unsubscribed_at = case when is_last and not is_dead then left_at end
from people p where p.n = m.n;
update mails set human_opened_at = null where human_opened_at > now() - interval '5 minutes';
update mails set machine_opened_at = null where machine_opened_at > now() - interval '5 minutes';
update mails set human_clicked_at = human_opened_at + interval '15 seconds' + pg_temp.delay(seed, 'clicking', interval '2 minutes')
where human_opened_at is not null and pg_temp.chance(seed, 'clicks') < temptation;
update mails set human_clicked_at = null where human_clicked_at > now() - interval '1 minute';
