-- The newest time step whose code was accepted, whatever for. Replaces totp_sign_in_step and totp_confirm_step, which the
-- previous version still reads.
alter table users add column totp_last_step integer;
update users set totp_last_step = greatest(totp_sign_in_step, totp_confirm_step)
  where totp_sign_in_step is not null or totp_confirm_step is not null;
