update emails e set step_id = s.step_id from execution_steps s
where e.execution_id is not null and s.execution_id = e.execution_id and s.visit = e.step_visit;
create index emails_step on emails (step_id, contact_id) where step_id is not null;
-- Finds the emails whose age passes a limit of a tracked segment.
create index emails_sent on emails using brin (sent_at) with (autosummarize = on);
