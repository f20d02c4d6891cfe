-- The topic of templates, campaigns and emails. Columns without a default: no row is written.

alter table templates add topic_id uuid;
create index templates_topic on templates (topic_id) where topic_id is not null;
alter table campaigns add topic_id uuid;
create index campaigns_topic on campaigns (topic_id) where topic_id is not null;

-- Of email that is not a campaign's. Email that was accepted by the previous version has neither and is asked for its
-- suppression only.
alter table emails add topic_id uuid;
-- True for MARKETING and HEADLESS: it needs a subscribed contact when it begins.
alter table emails add needs_subscription boolean;
