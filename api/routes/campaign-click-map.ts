import { clickMap } from '../../services/campaigns/click-map.ts';
import { answer, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { fraction, list, namedType, nullable, object, text, uuid, wholeNumber } from '../http/schemas.ts';
import { noCampaign, params } from './campaigns.ts';

const count = () => wholeNumber({ min: 0 });

const clickMapSchema = namedType('CampaignClickMap', 'Where people clicked in the email of a campaign.', {
  previewUrl: text().description('URL of a page that shows the email with a figure at each link; valid for an hour.'),
  total: count().description('Sum of the unique clicks of all links.'),
  links: list(
    object({
      linkId: uuid().description('ID of the link. The same address has the same ID.'),
      index: nullable(count()).description(
        'Position among the links of the email, from 0; null for clicks in emails that were sent before positions were recorded, ' +
          'and for a link that is not in the campaign as written.',
      ),
      link: text().description('URL of the link, with its variables where the campaign has some.'),
      text: nullable(text({ min: 0 })).description(
        'Text of the link, or the alternative text of its picture; null if the link is not in the campaign as written.',
      ),
      uniqueHumanClicks: count().description('Number of recipients who clicked here, without automated clicks.'),
      share: fraction().description('Share of `total`, 0 to 1.'),
    }),
  ).description('Links in the order of the email, then those without a position.'),
});

export const campaignClickMap = ({ renderer }: Pick<AppParts, 'renderer'>): RouteGroup =>
  routes('Campaigns', [
    route({
      method: 'GET',
      path: '/campaigns/:id/click-map',
      heavy: 'render',
      summary: 'Get the clicks of a campaign by their place in the email',
      access: 'secretKey',
      scope: 'campaigns:read',
      params,
      answers: {
        200: answer('The links and a preview. Counts are a few seconds behind.', clickMapSchema),
        404: noCampaign,
      },
      handle: async ({ db, settings, project, params }) =>
        ok(await clickMap({ db, renderer, settings }, project.projectId, params.id)),
    }),
  ]);
