-- The step that sent an email. The next migration fills it: this one locks the table for a moment only.
alter table emails add step_id uuid;
