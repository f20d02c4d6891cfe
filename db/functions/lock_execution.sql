-- Locks an execution that is to take a step, after its contact. What the step does to the contact is one workflow deeper
-- than what caused the execution. A function: what it reads is as new as the locks it waited for.
create or replace function lock_execution(p_id uuid) returns setof execution_states language plpgsql rows 1 as $$
declare
  locked execution_states;
begin
  perform 1 from contacts where id = (select contact_id from executions where id = p_id) for update;
  perform 1 from executions where id = p_id for update;
  if not found then return; end if;
  select * into locked from execution_states where id = p_id;
  perform set_config('everpost.depth', (locked.depth + 1)::text, true);
  return next locked;
end $$;
