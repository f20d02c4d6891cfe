-- Whether the log of requests has those that succeeded too.
alter table projects add column log_requests boolean not null default false;
