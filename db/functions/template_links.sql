-- The addresses of the links of a body, as it has them, and a pattern of the addresses that were made from each one that
-- contains variables.
create or replace function template_links(p_body text) returns table (href text, pattern text)
language sql immutable strict parallel safe as $$
  select distinct href, case when href ~ '\{[{%]' then '^' || replace(regexp_replace(
      regexp_replace(href, '\{\{.*?\}\}|\{%.*?%\}', e'\x01', 'g'), '([].*+?^$|(){}\\[])', '\\\1', 'g'), e'\x01', '.*') || '$' end
  from regexp_matches(p_body, 'href\s*=\s*(?:"([^"]*)"|''([^'']*)''|([^\s"''>]+))', 'gi') as found,
    lateral (select replace(btrim(coalesce(found[1], found[2], found[3])), '&amp;', '&')) as link (href)
  where href ~* '^(https?:|\{[{%])'
$$;
