import { createFollowUp, followUpTargets } from '../../services/campaigns/follow-up.ts';
import { answer, created, failure } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { futureTime, time } from '../http/scheduled-time.ts';
import { nullable, oneOf, optional, request, text } from '../http/schemas.ts';
import { subject } from '../http/subject.ts';
import { campaignSchema, presentCampaign } from '../presenters/campaign.ts';
import { noCampaign, params, unverified } from './campaigns.ts';

const MAX_NAME = 255;
const MAX_LINK = 2_000;

export const campaignFollowUps = routes('Campaigns', [
  route({
    method: 'POST',
    path: '/campaigns/:id/follow-up',
    summary: 'Create a campaign to some recipients of another one',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    body: request('CreateFollowUpRequest', 'Whom to write to, and what is different from the original.', {
      to: oneOf(...followUpTargets).description(
        'Recipients, determined when sending starts: NOT_OPENED, OPENED_NOT_CLICKED, CLICKED and NOT_CLICKED without automated ' +
          'opens and clicks; NOT_RECEIVED: failed, soft bounced or skipped by a frequency cap; HOLDOUT: held out. Who no longer ' +
          'matches the audience of the original is left out.',
      ),
      link: optional(nullable(text({ max: MAX_LINK })))
        .description(
          'With CLICKED or NOT_CLICKED: only this link, as the original has it with its variables, or a prefix and `*`.',
        )
        .example('https://example.com/*'),
      name: optional(nullable(text({ max: MAX_NAME }))).description(
        'Campaign name; that of the original and "(Follow-up)" by default.',
      ),
      subject: optional(nullable(subject())).description('Subject, with variables; that of the original by default.'),
      body: optional(nullable(text())).description('HTML body, with variables; content of the original by default.'),
      scheduledFor: time().description(
        'When to start sending, in ISO 8601, UTC unless it has an offset; without it the follow-up is a draft.',
      ),
    }),
    bodyLimit: ({ contentBodyMaxBytes }) => contentBodyMaxBytes,
    answers: {
      201: answer('The follow-up: DRAFT, or SCHEDULED with `scheduledFor`.', campaignSchema),
      400: failure(
        '`scheduledFor` is not in the future or before the time of the original, or a segment or topic no longer exists.',
        'BAD_REQUEST',
      ),
      403: unverified,
      404: noCampaign,
      409: failure('The original is DRAFT or CANCELLED, or has three follow-ups, counting theirs.', 'CONFLICT'),
    },
    handle: async ({ db, project, params, body: { scheduledFor, ...input } }) => {
      const followUp = { ...input, scheduledFor: futureTime(scheduledFor) };
      return created(presentCampaign(await createFollowUp(db, project, params.id, followUp)));
    },
  }),
]);
