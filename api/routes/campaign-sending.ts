import joi from 'joi';
import { badRequest } from '../../platform/errors.ts';
import { requireLocalTime } from '../../services/campaigns/local-time.ts';
import { resolutions, resolveUnknown } from '../../services/campaigns/resolve.ts';
import { lateRules } from '../../services/campaigns/save.ts';
import { type LocalStart, sendCampaign } from '../../services/campaigns/send.ts';
import { cancelCampaign, pauseCampaign, resumeCampaign, unscheduleCampaign } from '../../services/campaigns/steer.ts';
import { sendTestMail } from '../../services/campaigns/test-mail.ts';
import { campaignTiming } from '../../services/campaigns/timing.ts';
import { answer, failure, ok, overBillingLimit } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { futureTime, time } from '../http/scheduled-time.ts';
import { namedType, nullable, oneOf, optional, request, wholeNumber } from '../http/schemas.ts';
import { testEmailRequest, testEmailResponse } from '../http/test-email.ts';
import type { Typed } from '../http/typed.ts';
import { documented } from '../http/violations.ts';
import { presentCampaign } from '../presenters/campaign.ts';
import { campaignTimingSchema, presentCampaignTiming } from '../presenters/campaign-timing.ts';
import { noCampaign, oneCampaign, params, unverified, wrongState } from './campaigns.ts';

/** An unreadable time is a 400 here, like one in the past. */
const localTimeField = (): Typed<unknown> =>
  documented(joi.any(), { type: ['string', 'null'], pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}$' }).example(
    '2026-12-01T09:00',
  );

function startOf({ scheduledFor, localTime, late }: StartRequest): Date | LocalStart | undefined {
  const time = futureTime(scheduledFor);
  if (localTime === undefined || localTime === null) return time;
  if (time) throw badRequest('Only one of "scheduledFor" and "localTime" can be given.');
  return { localTime: requireLocalTime(localTime), late: late ?? 'NOW' };
}

interface StartRequest {
  scheduledFor?: unknown;
  localTime?: unknown;
  late?: LocalStart['late'] | null | undefined;
}

const changed = { 200: oneCampaign, 404: noCampaign, 409: wrongState };

export const campaignSending = routes('Campaigns', [
  route({
    method: 'POST',
    path: '/campaigns/:id/send',
    summary: 'Send, schedule or reschedule a campaign',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    body: request('SendCampaignRequest', 'When to send the campaign.', {
      scheduledFor: time().description(
        'When to start sending, in ISO 8601, UTC unless it has an offset; now by default.',
      ),
      localTime: localTimeField().description(
        'Instead of `scheduledFor`: each recipient gets the email when clocks in their time zone (`data.timezone`, else ' +
          "the project's) show this time, such as `2026-12-01T09:00`. Of a time that occurs twice, the first; one that " +
          'the change of clocks skips moves forward by the length of the gap. Recipients are determined when the first ' +
          'place on earth (UTC+14) reaches it, or at once.',
      ),
      late: optional(nullable(oneOf(...lateRules))).description(
        'For recipients whose clocks have shown `localTime` already: NOW, the default, sends at once, NEXT_DAY at that ' +
          'time of the next day that is ahead, SKIP skips them (`too late`). Ignored without `localTime`.',
      ),
    }),
    answers: {
      ...changed,
      400: failure(
        'There are no recipients, a segment no longer exists, `scheduledFor` is not in the future, or `localTime` is ' +
          'unreadable, has passed in every time zone, is over a year ahead or comes with `scheduledFor`.',
        'BAD_REQUEST',
      ),
      402: overBillingLimit,
      403: unverified,
    },
    handle: async ({ db, project, params, body }) =>
      ok(presentCampaign(await sendCampaign(db, project, params.id, startOf(body)))),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id/timing',
    summary: 'Get when recipients would get a campaign by local time',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    query: {
      localTime: localTimeField()
        .meta({ required: true })
        .description('What clocks of recipients show when they get the email.'),
    },
    answers: {
      200: answer('When recipients of each time zone would get the email.', campaignTimingSchema),
      400: failure(
        '`localTime` is unreadable, has passed in every time zone or is over a year ahead, or counting takes too long.',
        'BAD_REQUEST',
      ),
      404: noCampaign,
    },
    handle: async ({ db, project, params, query }) =>
      ok(presentCampaignTiming(await campaignTiming(db, project.projectId, params.id, query.localTime))),
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/unschedule',
    summary: 'Make a campaign that is SCHEDULED a draft again',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    answers: changed,
    handle: async ({ db, project, params }) => ok(presentCampaign(await unscheduleCampaign(db, project, params.id))),
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/cancel',
    summary: 'Cancel a campaign that is SCHEDULED or SENDING',
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
    summary: 'Send a test email of a campaign, without tracking',
    access: 'secretKey',
    scope: 'campaigns:write',
    alsoScope: { scope: 'send:write' },
    params,
    body: testEmailRequest,
    answers: {
      200: answer('The test email was accepted and will be sent. Its subject starts with [TEST].', testEmailResponse),
      402: overBillingLimit,
      403: unverified,
      404: noCampaign,
    },
    handle: async ({ db, project, params, body }) => {
      await sendTestMail(db, project, params.id, body);
      return ok({ success: true });
    },
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/resolve',
    summary: 'Resolve the recipients of a campaign whose status is UNKNOWN',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    body: request('ResolveCampaignRequest', 'What to do with recipients whose status is UNKNOWN.', {
      action: oneOf(...resolutions).description('`resend` sends the emails again, `close` marks them as FAILED.'),
    }),
    answers: {
      200: answer(
        'The recipients are resolved.',
        namedType('CampaignResolution', 'Result of resolving recipients.', {
          resolved: wholeNumber({ min: 0 }).description('Number of recipients that were resolved.'),
        }),
      ),
      402: overBillingLimit,
      404: noCampaign,
      409: failure('The campaign is CANCELLED, so its emails cannot be sent again.', 'CONFLICT'),
    },
    handle: async ({ db, project, params, body }) => ok(await resolveUnknown(db, project, params.id, body.action)),
  }),
]);
