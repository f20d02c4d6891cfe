-- Recipients of campaigns that have no row in `emails` yet: from the freeze until their result is persisted. A recipient is
-- in one of both tables at every moment. Most of each page is free and no indexed column changes, so that a row is updated
-- in place. See docs/decisions/campaign-ledger.md.
create table campaign_recipients (
  -- Grows in the order of the freeze. Links and Message-IDs contain it.
  email_id uuid primary key,
  project_id uuid not null,
  campaign_id uuid not null,
  contact_id uuid not null,
  -- 0 waiting, 1 leased, 2 in flight, 3 ended with its result.
  state smallint not null default 0 check (state between 0 and 3),
  -- Who leases or sends it.
  sender_id uuid,
  recipient text,
  -- The rendered subject, where it is not the campaign's.
  subject text,
  relay text,
  started_at timestamptz,
  ended_at timestamptz,
  -- What the attempt means for the row in `emails` (`AttemptResult`), as JSON.
  result text,
  check ((state = 0) = (sender_id is null)),
  check ((state >= 2) = (started_at is not null)),
  check ((state = 3) = (result is not null))
) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
create index campaign_recipients_campaign on campaign_recipients (campaign_id, email_id);
-- One email per contact of a campaign; finds the emails of a contact.
create unique index campaign_recipients_contact on campaign_recipients (contact_id, campaign_id);

-- Where the recipients of a campaign are: in `campaign_recipients` until they have a result (1), or in `emails` from the
-- freeze on (null).
alter table campaigns add column ledger smallint;
