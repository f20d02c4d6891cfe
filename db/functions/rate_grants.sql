-- Decides how many tokens of a rate window to grant. granted and settled describe the open window before the grant.
create or replace function rate_grants(
  call_limit integer, ceiling integer, granted integer, secret_granted integer, settled integer,
  secret_settled integer, tight boolean, secret_tight boolean, waiting_public integer, waiting_secret integer,
  spare_limit integer,
  out public_grant integer, out secret_grant integer, out now_tight boolean, out now_secret_tight boolean
) language plpgsql immutable as $$
declare
  public_unspent integer := greatest(0, (granted - secret_granted) - (settled - secret_settled));
  -- A public call must not pass once call_limit calls have passed. So the secret key gets more than that only when no
  -- process has a public token left.
  total_limit integer := case when public_unspent = 0 then ceiling else call_limit end;
  secret_room integer := greatest(0, least(call_limit - secret_granted, total_limit - granted));
  secret_now integer := least(waiting_secret, secret_room);
  public_room integer := greatest(0, call_limit - granted - secret_now);
  public_now integer := least(waiting_public, public_room);
  public_spare integer := 0;
  secret_spare integer := 0;
begin
  now_secret_tight := secret_tight or (secret_now < waiting_secret and settled < granted);
  now_tight := tight or (public_now < waiting_public and settled < granted)
    or (secret_now < waiting_secret and public_unspent > 0);
  -- A tenth of what is left is granted in advance, so that few calls ask far from the limit, and each one near it.
  if waiting_public > 0 and not now_tight and not now_secret_tight then
    public_spare := least(spare_limit, (public_room - public_now) / 10);
  end if;
  -- A tight window stops mattering to the secret key when all calls that the public key may make have passed.
  if waiting_secret > 0 and not now_secret_tight
    and (not now_tight or settled + public_now + secret_now >= call_limit) then
    secret_spare := least(spare_limit, greatest(0, least(
      secret_room - secret_now,
      case when public_spare > 0 then call_limit else total_limit end - granted - secret_now - public_now - public_spare
    )) / 10);
  end if;
  public_grant := public_now + public_spare;
  secret_grant := secret_now + secret_spare;
end $$;
