import { createHash } from 'node:crypto';
import { statement } from '../../db/statement.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { storePreview } from '../emails/previews.ts';
import { type RenderDeps, renderPreview } from '../templates/render.ts';
import { findCampaign } from './find.ts';
import { writtenLinks } from './link-places.ts';

export interface ClickMapLink {
  /** The same for the same address. */
  linkId: string;
  /** Its position among the links of the email; null for clicks in old emails, and for a link that is not in the body. */
  index: number | null;
  link: string;
  text: string | null;
  /** Recipients who clicked here, without automated clicks. */
  uniqueHumanClicks: number;
  /** Of `total`. */
  share: number;
}

export interface ClickMap {
  /** The email with a figure at each link. */
  previewUrl: string;
  /** The sum of the unique clicks of all links. */
  total: number;
  links: ClickMapLink[];
}

interface ClicksRow {
  linkId: string;
  place: number | null;
  link: string;
  clicks: number;
}

// A body with conditions or loops may have a link at another position than the email that was sent: such clicks count for
// the first place of their address.
const readClicks = statement<ClicksRow>(
  'campaign-click-map',
  `with known as materialized (select * from unnest($3::uuid[], $4::smallint[]) as known (link_id, place)),
   clicked as (
     select l.link_id, l.email_id, case when p.place is not null then coalesce(
         (select k.place from known k where k.link_id = l.link_id and k.place = p.place),
         (select min(k.place) from known k where k.link_id = l.link_id)) end as place
     from campaign_link_clicks l left join lateral unnest(l.places) as p (place) on true
     where l.project_id = $1 and l.campaign_id = $2 and coalesce(l.human,
       (select e.human_clicked_at is not null from emails e where e.id = l.email_id and e.project_id = $1))
   )
   select c.link_id, c.place, coalesce((select link from links where project_id = $1 and id = c.link_id), 'other') as link,
     count(distinct c.email_id)::integer as clicks
   from clicked c group by 1, 2 order by count(distinct c.email_id) desc, 1, 2 limit 2000`,
);

/** What is tracked: web addresses, as far as the body shows it, but not the contact's own pages. */
const isTrackable = (link: string): boolean =>
  /^(?:https?:|\{[{%])/i.test(link) &&
  !/^\{\{[{\s]*(?:unsubscribeUrl|unsubscribeAllUrl|subscribeUrl|manageUrl)\b/.test(link);

/** Returns where people clicked in the email of a campaign, place by place. */
export async function clickMap(
  { db, renderer, settings }: RenderDeps & { settings: { baseUrl: string; secretKeys: SigningKeys } },
  projectId: string,
  id: string,
): Promise<ClickMap> {
  const { body, type, topicId } = await findCampaign(db, projectId, id);
  const places = writtenLinks(body, isTrackable).map((place) => ({ ...place, linkId: linkIdOf(place.link) }));
  const rows = await readClicks(db, [
    projectId,
    id,
    places.map(({ linkId }) => linkId),
    places.map(({ index }) => index),
  ]);
  const total = rows.reduce((sum, { clicks }) => sum + clicks, 0);
  const figures = (uniqueHumanClicks: number) => ({
    uniqueHumanClicks,
    share: total > 0 ? uniqueHumanClicks / total : 0,
  });
  const atPlaces = places.map(({ linkId, index, link, text, contentEnd }) => {
    const clicks = rows.find((row) => row.linkId === linkId && row.place === index)?.clicks ?? 0;
    return { contentEnd, shown: { linkId, index, link, text, ...figures(clicks) } };
  });
  const elsewhere = rows
    .filter(({ place }) => place === null)
    .map(({ linkId, link, clicks }) => {
      const text = places.find((place) => place.linkId === linkId)?.text ?? null;
      return { linkId, index: null, link, text, ...figures(clicks) };
    });
  const marked = atPlaces.reduceRight(
    (html, { contentEnd, shown }) => html.slice(0, contentEnd) + badge(shown) + html.slice(contentEnd),
    body,
  );
  const { html } = await renderPreview({ db, renderer, settings }, projectId, { body: marked, type, topicId });
  const previewUrl = await storePreview(db, settings, projectId, html);
  return { previewUrl, total, links: [...atPlaces.map(({ shown }) => shown), ...elsewhere] };
}

/** The id of a link in `campaign_links`. */
const linkIdOf = (link: string): string =>
  createHash('md5')
    .update(link)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

const badge = ({ uniqueHumanClicks, share }: ClickMapLink): string =>
  `<span style="display:inline-block;margin:0 2px;padding:0 5px;border-radius:8px;background:#111;color:#fff;` +
  `font:bold 11px/16px sans-serif;text-decoration:none;vertical-align:middle">${uniqueHumanClicks} · ${Math.round(share * 100)}%</span>`;
