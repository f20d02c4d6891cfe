import { outboundHttp } from '../../platform/http/outbound-http.ts';
import { LINK_TIMEOUT_MS } from '../../services/campaigns/check-links.ts';
import { runCampaignChecks } from '../../services/campaigns/checks.ts';
import { answer, failure, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { flag, list, namedType, nullable, object, optional, request, text, wholeNumber } from '../http/schemas.ts';
import { domainRecordsShape } from '../presenters/domain.ts';
import { emailWarningSchema } from '../presenters/email-warning.ts';
import { noCampaign, params } from './campaigns.ts';

const count = () => wholeNumber({ min: 0 });

const variableSchema = object({
  name: text().description('Name of the variable.').example('firstName'),
  empty: count().description('Number of recipients without a value.'),
  total: count().description('Number of recipients.'),
  hasFallback: flag().description('Whether the variable has a fallback wherever it is used.'),
});

const linkSchema = object({
  link: text().description('URL of the link.').example('https://example.com/offer'),
  status: nullable(wholeNumber({ min: 100 })).description('HTTP status of the response; null if there was none.'),
  error: nullable(text()).description('What is wrong with the link; null if nothing is.'),
});

const checksSchema = namedType('CampaignChecks', 'What may be wrong with a campaign.', {
  warnings: list(emailWarningSchema).description('What may be wrong with the content.'),
  variables: list(variableSchema).description('Custom fields in the content, counted over the recipients.'),
  domain: object(domainRecordsShape).description('Domain of the sender.'),
  links: optional(list(linkSchema)).description('Responses of up to 50 links; absent unless asked for.'),
});

/** Reads next to nothing of an answer: only its status counts. */
const MAX_ANSWER_BYTES = 1_024;

export const campaignChecks = ({ resolver, settings }: Pick<AppParts, 'resolver' | 'settings'>): RouteGroup => {
  const call = outboundHttp({
    resolver,
    allowedHosts: settings.webhookAllowedHosts,
    timeoutMs: LINK_TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
  return routes('Campaigns', [
    route({
      method: 'POST',
      path: '/campaigns/:id/checks',
      heavy: 'checks',
      summary: 'Check the content of a campaign for its recipients',
      access: 'secretKey',
      scope: 'campaigns:write',
      params,
      body: request('CheckCampaignRequest', 'What to check besides the content.', {
        links: optional(flag()).description('Whether links are called; false by default.'),
      }),
      answers: {
        200: answer('What was found.', checksSchema),
        400: failure('Counting the recipients takes too long.', 'BAD_REQUEST'),
        404: noCampaign,
      },
      handle: async ({ db, project, settings, params, body }) =>
        ok(await runCampaignChecks({ db, settings, call }, project.projectId, params.id, body)),
    }),
  ]);
};
