import joi from 'joi';
import { badRequest } from '../../platform/errors.ts';
import { campaignDomains, campaignLinks } from '../../services/campaigns/breakdown.ts';
import { listRecipients, recipientStates } from '../../services/campaigns/recipients.ts';
import { resolutions, resolveUnknown } from '../../services/campaigns/resolve.ts';
import { sendCampaign } from '../../services/campaigns/send.ts';
import { cancelCampaign, pauseCampaign, resumeCampaign } from '../../services/campaigns/steer.ts';
import { sendTestMail } from '../../services/campaigns/test-mail.ts';
import { showCampaign } from '../../services/campaigns/view.ts';
import { parseMoment } from '../../services/conditions/instants.ts';
import { answer, failure, ok, overCap } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import {
  cursorPage,
  email,
  flag,
  limit,
  list,
  object,
  oneOf,
  optional,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented } from '../http/violations.ts';
import {
  campaignStatsSchema,
  presentCampaign,
  presentCampaignStats,
  presentRecipient,
  recipientSchema,
} from '../presenters/campaign.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { mailCounts } from '../presenters/mail-counts.ts';
import { noCampaign, oneCampaign, params, unverified, wrongState } from './campaigns.ts';

/** An unreadable time is a 400 here, like one in the past. */
const time = (): Typed<unknown> =>
  documented(joi.any(), { type: ['string', 'null'], format: 'date-time' })
    .description('A time to come, in ISO 8601.')
    .example('2099-01-31T09:00:00Z');

function futureTime(given: unknown): Date | undefined {
  if (given === undefined || given === null) return undefined;
  const time = typeof given === 'string' ? timeOf(given.trim()) : undefined;
  if (time === undefined)
    throw badRequest('"scheduledFor" must be a date and time in ISO 8601, such as 2027-01-31T09:00:00Z.');
  if (time <= Date.now()) throw badRequest('"scheduledFor" has passed.');
  return new Date(time);
}

const LAX = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(?:(Z)|([+-]\d{2}):?(\d{2}))?$/i;

/** Accepts times without seconds, without the colon of the offset, or without offset (UTC). */
function timeOf(text: string): number | undefined {
  const [, day, minute, second = ':00', , hours, minutes] = LAX.exec(text) ?? [];
  return parseMoment(day ? `${day}T${minute}${second}${hours ? `${hours}:${minutes}` : 'Z'}` : text);
}

const changed = { 200: oneCampaign, 404: noCampaign, 409: wrongState };

export const campaignSending = routes('Campaigns', [
  route({
    method: 'POST',
    path: '/campaigns/:id/send',
    summary: 'Send a campaign now, schedule it, or reschedule it',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    body: { scheduledFor: time() },
    answers: {
      ...changed,
      400: failure(
        'There are no recipients or no such segment, or `scheduledFor` is not in the future.',
        'BAD_REQUEST',
      ),
      402: overCap,
      403: unverified,
    },
    handle: async ({ db, project, params, body }) =>
      ok(presentCampaign(await sendCampaign(db, project, params.id, futureTime(body.scheduledFor)))),
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/cancel',
    summary: 'Cancel a campaign that is SCHEDULED or SENDING; remaining recipients get no mail',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    answers: changed,
    handle: async ({ db, project, params }) => ok(presentCampaign(await cancelCampaign(db, project, params.id))),
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/pause',
    summary: 'Pause a campaign that is SENDING',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    answers: changed,
    handle: async ({ db, project, params }) => ok(presentCampaign(await pauseCampaign(db, project, params.id))),
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/resume',
    summary: 'Resume a paused campaign',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    answers: changed,
    handle: async ({ db, project, params }) => ok(presentCampaign(await resumeCampaign(db, project, params.id))),
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/test',
    summary: 'Send a campaign to one address, marked as a test and not tracked',
    access: 'secretKey',
    scope: 'campaigns:write',
    alsoScope: { scope: 'send:write' },
    params,
    body: { email: email() },
    answers: {
      200: answer('It will be sent.', object({ success: flag() })),
      402: overCap,
      403: unverified,
      404: noCampaign,
    },
    handle: async ({ db, project, params, body }) => {
      await sendTestMail(db, project, params.id, body.email);
      return ok({ success: true });
    },
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/resolve',
    summary: 'Resolve recipients with an unknown outcome: send again, or close',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    body: { action: oneOf(...resolutions) },
    answers: {
      200: answer('The number of resolved recipients.', object({ resolved: wholeNumber({ min: 0 }) })),
      402: overCap,
      404: noCampaign,
      409: failure('The campaign is CANCELLED.', 'CONFLICT'),
    },
    handle: async ({ db, project, params, body }) => ok(await resolveUnknown(db, project, params.id, body.action)),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/stats',
    summary: 'Get counts and rates of a campaign',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    answers: { 200: answer('Counts and rates.', campaignStatsSchema), 404: noCampaign },
    handle: async ({ db, project, params }) =>
      ok(presentCampaignStats(await showCampaign(db, project.projectId, params.id))),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/links',
    summary: 'List the links of a campaign that were clicked, the most clicked first; a few seconds behind',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    query: { limit: limit({ fallback: 100, max: 1_000 }) },
    answers: {
      200: answer(
        'The links. `uniqueClicks` counts a recipient once, `humanClicks` leaves out machines.',
        object({
          data: list(
            object({
              link: text(),
              clicks: wholeNumber(),
              uniqueClicks: wholeNumber(),
              humanClicks: wholeNumber(),
            }),
          ),
        }),
      ),
      404: noCampaign,
    },
    handle: async ({ db, project, params, query }) =>
      ok({ data: await campaignLinks(db, project.projectId, params.id, query.limit) }),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/domains',
    summary: 'List results by the domain of the recipient, the largest first; a few seconds behind',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    query: { limit: limit({ fallback: 100, max: 1_000 }) },
    answers: {
      200: answer('The domains.', object({ data: list(object({ domain: text(), ...mailCounts() })) })),
      404: noCampaign,
    },
    handle: async ({ db, project, params, query }) =>
      ok({ data: await campaignDomains(db, project.projectId, params.id, query.limit) }),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/recipients',
    summary: 'List the recipients of a campaign with their results',
    access: 'secretKey',
    scope: 'campaigns:read',
    params: { id: uuid() },
    query: { ...cursorPage(), status: optional(oneOf(...recipientStates)) },
    answers: { 200: answer('A page of recipients.', cursorListSchema(recipientSchema)), 404: noCampaign },
    handle: async ({ db, project, settings, params, query }) =>
      ok(
        presentCursorList(
          await listRecipients(db, project.projectId, settings.secretKeys, params.id, query),
          presentRecipient,
        ),
      ),
  }),
]);
