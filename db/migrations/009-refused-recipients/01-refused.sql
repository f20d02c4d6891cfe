-- Mail whose recipient the server refused for good: a hard bounce without having been sent. Bounce rates are of sent
-- plus refused mail. See docs/decisions/notices.md.
alter table activity_hours add column refused bigint not null default 0;
alter table past_rate_hours add column refused bigint not null default 0;
alter table campaign_counts add column refused integer not null default 0;
alter table campaign_count_deltas add column refused integer not null default 0;
alter table campaigns add column baseline_refused integer not null default 0;
