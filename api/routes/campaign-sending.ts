import { resolutions, resolveUnknown } from '../../services/campaigns/resolve.ts';
import { sendCampaign } from '../../services/campaigns/send.ts';
import { cancelCampaign, pauseCampaign, resumeCampaign, unscheduleCampaign } from '../../services/campaigns/steer.ts';
import { sendTestMail } from '../../services/campaigns/test-mail.ts';
import { answer, failure, ok, overBillingLimit } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { futureTime, time } from '../http/scheduled-time.ts';
import { namedType, oneOf, request, wholeNumber } from '../http/schemas.ts';
import { testEmailRequest, testEmailResponse } from '../http/test-email.ts';
import { presentCampaign } from '../presenters/campaign.ts';
import { noCampaign, oneCampaign, params, unverified, wrongState } from './campaigns.ts';

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
    }),
    answers: {
      ...changed,
      400: failure(
        'There are no recipients, a segment no longer exists, or `scheduledFor` is not in the future.',
        'BAD_REQUEST',
      ),
      402: overBillingLimit,
      403: unverified,
    },
    handle: async ({ db, project, params, body }) =>
      ok(presentCampaign(await sendCampaign(db, project, params.id, futureTime(body.scheduledFor)))),
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
