-- The addresses of clicked links. A template that writes an address with variables has one.
create table links (
  project_id uuid not null,
  -- md5 of the address.
  id uuid not null,
  link text not null,
  primary key (project_id, id)
);
insert into links (project_id, id, link)
select c.project_id, l.link_id, l.link from campaign_links l join campaigns c on c.id = l.campaign_id
on conflict do nothing;
insert into links (project_id, id, link) select project_id, link_id, link from link_days on conflict do nothing;
