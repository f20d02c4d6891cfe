-- When emails of a campaign may be sent. Columns without a default: no row is written.

-- What is still pending then is skipped.
alter table campaigns add send_until timestamptz;
-- What clocks of a recipient show when the email is sent: 2026-12-01T09:00. Text, because Postgres takes the second of a
-- time that occurs twice and has other zones than Node: Node finds the moments (platform/time-zones.ts).
alter table campaigns add local_time text;
-- What happens to recipients whose clocks have shown it already.
alter table campaigns add late text check (late in ('NOW', 'NEXT_DAY', 'SKIP'));
alter table campaigns add check ((local_time is null) = (late is null));
