-- Graphs are stored in `workflow_versions` only. Programs from before `013-stored-graphs` read these rows.
drop trigger if exists workflow_versions_copy on workflow_versions;
drop table workflow_transitions, workflow_steps;
