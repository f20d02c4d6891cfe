-- The task queues of a worker whose slots are all busy: it does not poll them until one is free.
alter table processes add column busy_queues text[] not null default '{}';
