import { campaignDomains, campaignLinks, campaignReasons } from '../../services/campaigns/breakdown.ts';
import { exportRecipients } from '../../services/campaigns/export-recipients.ts';
import { createRecipientSegment } from '../../services/campaigns/recipient-segment.ts';
import {
  COMPARED_REASON,
  listRecipients,
  recipientOutcomes,
  recipientStates,
} from '../../services/campaigns/recipients.ts';
import { campaignTimeline, timelineGranularities } from '../../services/campaigns/timeline.ts';
import { showCampaign } from '../../services/campaigns/view.ts';
import { createResendJob } from '../../services/jobs/resend-recipients.ts';
import { accepted, answer, created, csvFile, failure, ok, overBillingLimit } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { cursorPage, limit, list, namedType, oneOf, optional, request, text } from '../http/schemas.ts';
import { documented } from '../http/violations.ts';
import {
  campaignStatsSchema,
  presentCampaignStats,
  presentRecipient,
  recipientSchema,
} from '../presenters/campaign.ts';
import {
  campaignLinkSchema,
  presentCampaignLink,
  presentTimelinePoint,
  reasonCountSchema,
  timelinePointSchema,
} from '../presenters/campaign-results.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { queuedJobSchema } from '../presenters/job.ts';
import { domainStatsSchema } from '../presenters/mail-counts.ts';
import { presentSegment, segmentSchema } from '../presenters/segment.ts';
import { noCampaign, params } from './campaigns.ts';

/** A million members are inserted in one statement. */
const SEGMENT_MS = 30_000;
// Of what a request has in its address, which must fit into it.
const MAX_LINK = 2_000;
const MAX_SEARCH = 320;
const MAX_REASON = 2_000;

const recipientFilter = () => ({
  status: optional(oneOf(...recipientStates)).description('Only recipients with this status.'),
  outcome: optional(oneOf(...recipientOutcomes)).description(
    'Only recipients with this outcome, without automated opens and clicks. OPENED includes CLICKED; NOT_OPENED and NOT_CLICKED are recipients who received the email.',
  ),
  link: optional(documented(text({ max: MAX_LINK }), { pattern: '^[ -~]+$' }))
    .description('With CLICKED (the default) or NOT_CLICKED: only this link, by ID or address, or a prefix and `*`.')
    .example('https://example.com/*'),
  reason: optional(text({ max: COMPARED_REASON })).description(
    `Only recipients with this reason, of which the first ${COMPARED_REASON} characters are compared.`,
  ),
  search: optional(text({ min: 0, max: MAX_SEARCH })).description(
    'Only recipients whose email address contains this text; case-insensitive.',
  ),
});

const wrongFilter = failure('A parameter is invalid, or `link` does not go with the outcome.', 'BAD_REQUEST');

export const campaignResults = routes('Campaigns', [
  route({
    method: 'GET',
    path: '/campaigns/:id/stats',
    summary: 'Get the counts and rates of a campaign',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    answers: { 200: answer('The counts and rates.', campaignStatsSchema), 404: noCampaign },
    handle: async ({ db, project, params }) =>
      ok(presentCampaignStats(await showCampaign(db, project.projectId, params.id))),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/timeline',
    heavy: 'read',
    summary: 'Get the results of a campaign by hour or day',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    query: {
      granularity: optional(oneOf(...timelineGranularities)).description('Length of a point; `hour` by default.'),
    },
    answers: {
      200: answer(
        'The hours or days in which something happened, in order; the newest 2,000.',
        namedType('CampaignTimeline', 'The results of a campaign over time.', {
          data: list(timelinePointSchema).description('The points, oldest first.'),
        }),
      ),
      404: noCampaign,
    },
    handle: async ({ db, project, params, query: { granularity = 'hour' } }) =>
      ok({ data: (await campaignTimeline(db, project.projectId, params.id, granularity)).map(presentTimelinePoint) }),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/links',
    summary: 'List the clicked links of a campaign, most clicked first',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    query: { limit: limit({ fallback: 100, max: 1_000 }) },
    answers: {
      200: answer(
        'The links. Counts are a few seconds behind.',
        namedType('CampaignLinkReport', 'The clicked links of a campaign.', {
          data: list(campaignLinkSchema).description('The links, most clicked first.'),
        }),
      ),
      404: noCampaign,
    },
    handle: async ({ db, project, params, query }) =>
      ok({ data: (await campaignLinks(db, project.projectId, params.id, query.limit)).map(presentCampaignLink) }),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/domains',
    summary: 'List the results of a campaign by recipient domain, largest first',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    query: { limit: limit({ fallback: 100, max: 1_000 }) },
    answers: {
      200: answer(
        'The domains. Counts are a few seconds behind.',
        namedType('CampaignDomainReport', 'The results of a campaign by recipient domain.', {
          data: list(domainStatsSchema).description('The domains, most sent emails first.'),
        }),
      ),
      404: noCampaign,
    },
    handle: async ({ db, project, params, query }) =>
      ok({ data: await campaignDomains(db, project.projectId, params.id, query.limit) }),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/reasons',
    heavy: 'read',
    summary: 'List why recipients of a campaign got no email, most frequent first',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    answers: {
      200: answer(
        'The reasons, at most 100.',
        namedType('CampaignReasonReport', 'Why recipients of a campaign got no email.', {
          data: list(reasonCountSchema).description('The reasons, most recipients first.'),
        }),
      ),
      404: noCampaign,
    },
    handle: async ({ db, project, params }) => ok({ data: await campaignReasons(db, project.projectId, params.id) }),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/recipients',
    summary: 'List the recipients of a campaign with their results',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    query: { ...cursorPage(), ...recipientFilter() },
    answers: {
      200: answer('A page of recipients.', cursorListSchema(recipientSchema)),
      400: wrongFilter,
      404: noCampaign,
    },
    handle: async ({ db, project, settings, params, query }) =>
      ok(
        presentCursorList(
          await listRecipients(db, project.projectId, settings.secretKeys, params.id, query),
          presentRecipient,
        ),
      ),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/recipients/export',
    summary: 'Export the recipients of a campaign with their results as CSV',
    access: 'secretKey',
    scope: 'campaigns:read',
    role: 'MEMBER',
    projectInQuery: true,
    params,
    query: recipientFilter(),
    answers: { 200: { description: 'The file.', contentType: 'text/csv' }, 400: wrongFilter, 404: noCampaign },
    handle: async ({ db, project, params, query }) =>
      csvFile('recipients.csv', await exportRecipients(db, project, params.id, query)),
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/recipients/segment',
    summary: 'Create a static segment of recipients of a campaign',
    access: 'secretKey',
    scope: 'segments:write',
    alsoScope: { scope: 'campaigns:read' },
    params,
    body: request('CreateRecipientSegmentRequest', 'Which recipients become members; all without a filter.', {
      name: text({ max: 255 }).description('Name of the segment.'),
      ...recipientFilter(),
    }),
    statementTimeoutMs: SEGMENT_MS,
    answers: {
      201: answer('The segment, with the recipients that match now.', segmentSchema),
      400: wrongFilter,
      404: noCampaign,
      409: failure('The project has the maximum number of segments.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, params, body: { name, ...filter } }) =>
      created(presentSegment(await createRecipientSegment(db, project, params.id, name, filter, settings.limits))),
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/recipients/resend',
    summary: 'Send a campaign again to recipients whose email failed',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    body: request('ResendRecipientsRequest', 'Which recipients get the campaign again. Suppressed ones are left out.', {
      status: oneOf('FAILED').description('Status of the recipients.'),
      reason: optional(text({ max: MAX_REASON })).description('Only recipients with exactly this reason.'),
    }),
    answers: {
      202: answer('The job was queued. A campaign that is SENT goes back to SENDING.', queuedJobSchema),
      402: overBillingLimit,
      404: noCampaign,
      409: failure('The campaign is neither SENT nor SENDING, or too many jobs are open.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, params, body }) =>
      accepted({ jobId: await createResendJob(db, project, params.id, body.reason, settings.limits) }),
  }),
]);
