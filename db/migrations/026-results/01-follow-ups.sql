-- A follow-up: the campaign that it follows, the first of their chain, and whom of its recipients it was made for.
alter table campaigns
  add column follow_up_of uuid,
  add column chain_id uuid,
  add column follow_up_to text,
  add column follow_up_link text;
create index campaigns_chain on campaigns (chain_id) where chain_id is not null;
