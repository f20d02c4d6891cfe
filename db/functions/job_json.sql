-- A job as api/presenters/job.ts shows it. A test compares both.
create or replace function job_json(p_job jobs) returns jsonb language sql stable as $$
  select jsonb_build_object('id', p_job.id, 'type', p_job.type, 'status', p_job.status,
    'progress', case when p_job.total = 0 then (p_job.status = 'COMPLETED')::integer * 100
      else floor(p_job.processed * 100.0 / p_job.total) end,
    'total', p_job.total, 'processed', p_job.processed, 'result', p_job.result, 'failedReason', p_job.failed_reason,
    'createdAt', json_time(p_job.created_at), 'startedAt', json_time(p_job.started_at),
    'completedAt', json_time(p_job.completed_at))
$$;
