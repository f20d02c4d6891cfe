-- An execution as api/presenters/execution.ts shows it in lists. A test compares both.
create or replace function execution_json(p_execution executions) returns jsonb language sql stable as $$
  select jsonb_build_object('id', p_execution.id, 'workflowId', p_execution.workflow_id,
    'version', p_execution.version, 'contactId', p_execution.contact_id, 'status', p_execution.status,
    'currentStepId', p_execution.current_step_id, 'exitReason', p_execution.exit_reason, 'error', p_execution.error,
    'context', p_execution.context, 'startedAt', json_time(p_execution.started_at),
    'completedAt', json_time(p_execution.completed_at), 'createdAt', json_time(p_execution.created_at),
    'updatedAt', json_time(p_execution.updated_at))
$$;
