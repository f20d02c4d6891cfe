-- Which link of the email was clicked, by its position; null for email of the version before.
alter table email_notices add column link_index smallint;
-- The positions at which a person clicked the link.
alter table campaign_link_clicks add column places smallint[];
