-- Emails that a person opened or clicked, by template, recipient domain and hour. From now on events and triggers count
-- them; this counts those before, whose events lack `isFirstReading`.
create temporary table readings on commit drop as
select e.project_id, e.campaign_id, coalesce(e.template_id, k.template_id) as template_id,
  coalesce(nullif(split_part(coalesce(e.to_email, p.email), '@', 2), ''), 'unknown') as domain,
  date_trunc('hour', least(e.human_opened_at, e.human_clicked_at), 'UTC') as hour, count(*) as people
from emails e left join campaigns k on k.id = e.campaign_id left join contacts p on p.id = e.contact_id
where num_nonnulls(e.human_opened_at, e.human_clicked_at) > 0 group by 1, 2, 3, 4, 5;

-- After the emails are read, so that the tables are locked for a short time.
alter table template_days add column people_opened bigint not null default 0;
alter table domain_days add column people_opened bigint not null default 0;
alter table campaign_domains add column people_opened bigint not null default 0;

insert into counter_deltas (project_id, subject, period, counts)
select project_id, 'activity/hours', hour, jsonb_build_object('peopleOpened', sum(people)) from readings group by 1, 3;

update template_days d set people_opened = r.people from (
  select project_id, template_id, date_trunc('day', hour, 'UTC') as day, sum(people) as people from readings group by 1, 2, 3
) r where d.project_id = r.project_id and d.day = r.day and d.template_id = r.template_id;

-- A domain without a row is one of the others.
update domain_days d set people_opened = r.people from (
  select r.project_id, date_trunc('day', hour, 'UTC') as day, coalesce(known.domain, 'other') as domain, sum(people) as people
  from readings r left join domain_days known on known.project_id = r.project_id
    and known.day = date_trunc('day', hour, 'UTC') and known.domain = r.domain
  group by 1, 2, 3
) r where d.project_id = r.project_id and d.day = r.day and d.domain = r.domain;

update campaign_domains d set people_opened = r.people from (
  select r.campaign_id, coalesce(known.domain, 'other') as domain, sum(people) as people
  from readings r left join campaign_domains known on known.campaign_id = r.campaign_id and known.domain = r.domain
  where r.campaign_id is not null group by 1, 2
) r where d.campaign_id = r.campaign_id and d.domain = r.domain;
