import joi from 'joi';
import type { Settings } from '../../platform/settings.ts';
import { listCampaigns } from '../../services/campaigns/list.ts';
import {
  audienceTypes,
  campaignStatuses,
  createCampaign,
  deleteCampaign,
  duplicateCampaign,
  replaceCampaign,
  templateTypes,
  throttleCampaign,
} from '../../services/campaigns/save.ts';
import { showCampaign } from '../../services/campaigns/view.ts';
import { asAddress, senderAddress } from '../http/addresses.ts';
import { answer, created, failure, missing, noContent, ok, success } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import {
  choice,
  email,
  flag,
  line,
  nullable,
  object,
  offsetPage,
  oneOf,
  optional,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import { subject } from '../http/subject.ts';
import type { Typed, ValueOf } from '../http/typed.ts';
import { documented } from '../http/violations.ts';
import { campaignSchema, presentCampaign } from '../presenters/campaign.ts';
import { offsetListSchema, presentOffsetList } from '../presenters/offset-list.ts';
import { conditionTree } from '../presenters/segment.ts';

const MAX_NAME = 255;
const MAX_DESCRIPTION = 2_000;
const MAX_SEARCH = 1_000;
const MAX_RATE = 10_000_000;

export const params = { id: uuid() };
export const oneCampaign = answer('The campaign.', campaignSchema);
export const noCampaign = missing('campaign', 'CAMPAIGN_NOT_FOUND');
export const wrongState = failure("The campaign's status does not allow it.", 'CONFLICT');
export const unverified = failure(
  'The domain of `from` is not verified, or the project is disabled.',
  'INTERNAL_SERVER_ERROR',
);

const rate = (): Typed<number | null> => nullable(wholeNumber({ min: 1, max: MAX_RATE }));

/** Fields of one audience type; validated with that type. */
const segmentId = (): Typed<unknown> =>
  documented(joi.any(), { type: ['string', 'null'], format: 'uuid' }).description('The id of a segment.');

/** All fields of a campaign. `from` is an address or `Name <address>`. */
const whole = {
  name: text({ max: MAX_NAME }),
  subject: subject(),
  body: text(),
  from: senderAddress(),
  audienceType: oneOf(...audienceTypes),
  description: optional(nullable(text({ min: 0, max: MAX_DESCRIPTION }))),
  fromName: optional(nullable(line({ min: 0, max: 255 }))),
  replyTo: optional(nullable(email())),
  type: optional(oneOf(...templateTypes)),
  segmentId: segmentId(),
  audienceCondition: conditionTree(),
  templateId: optional(nullable(uuid())),
  ratePerMinute: optional(rate()),
};

const withSender = ({ from, ...rest }: ValueOf<typeof whole>) => ({ ...rest, from: asAddress(from) });

const bodyLimit = ({ contentBodyMaxBytes }: Settings) => contentBodyMaxBytes;

const wrongParts = missing('segment or template', 'SEGMENT_NOT_FOUND');

export const campaigns = routes('Campaigns', [
  route({
    method: 'GET',
    path: '/campaigns',
    summary: 'List campaigns, filtered by status and by part of name, subject or sender',
    access: 'secretKey',
    scope: 'campaigns:read',
    query: {
      ...offsetPage(),
      status: optional(oneOf(...campaignStatuses)),
      search: optional(text({ min: 0, max: MAX_SEARCH })),
      sort: choice('createdAt', 'updatedAt', 'name'),
      dir: choice('desc', 'asc'),
    },
    answers: {
      200: answer('A page of campaigns.', offsetListSchema(campaignSchema)),
      413: failure('The bodies on the page are too large together.', 'PAYLOAD_TOO_LARGE'),
    },
    handle: async ({ db, project, query }) =>
      ok(presentOffsetList(await listCampaigns(db, project.projectId, query), presentCampaign)),
  }),
  route({
    method: 'POST',
    path: '/campaigns',
    summary: 'Create a campaign, as a draft',
    access: 'secretKey',
    scope: 'campaigns:write',
    body: whole,
    bodyLimit,
    answers: {
      200: answer('The draft.', object({ success: flag(), data: campaignSchema })),
      403: unverified,
      404: wrongParts,
    },
    handle: async ({ db, project, body }) =>
      success(presentCampaign(await createCampaign(db, project, withSender(body)))),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id',
    summary: 'Get a campaign with its recipient counts and, while SENDING, the estimated duration',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    answers: { 200: oneCampaign, 404: noCampaign },
    handle: async ({ db, project, params }) =>
      ok(presentCampaign(await showCampaign(db, project.projectId, params.id))),
  }),
  route({
    method: 'PUT',
    path: '/campaigns/:id',
    summary: 'Replace a campaign that is DRAFT or SCHEDULED; the scheduled time stays',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    body: whole,
    bodyLimit,
    answers: { 200: oneCampaign, 403: unverified, 404: noCampaign, 409: wrongState },
    handle: async ({ db, project, params, body }) =>
      ok(presentCampaign(await replaceCampaign(db, project, params.id, withSender(body)))),
  }),
  route({
    method: 'PATCH',
    path: '/campaigns/:id',
    summary: "Set a campaign's throttle in mails per minute, also while SENDING; null removes it",
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    body: { ratePerMinute: rate() },
    answers: { 200: oneCampaign, 404: noCampaign },
    handle: async ({ db, project, params, body }) =>
      ok(presentCampaign(await throttleCampaign(db, project, params.id, body.ratePerMinute))),
  }),
  route({
    method: 'DELETE',
    path: '/campaigns/:id',
    summary: 'Delete a campaign; the records of its mail stay',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    answers: {
      204: answer('Deleted.'),
      404: noCampaign,
      409: failure('It is SCHEDULED or SENDING.', 'CONFLICT'),
    },
    handle: async ({ db, project, params }) => {
      await deleteCampaign(db, project, params.id);
      return noContent();
    },
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/duplicate',
    summary: 'Copy a campaign to a new draft',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    answers: { 201: answer('The draft.', campaignSchema), 404: noCampaign },
    handle: async ({ db, project, params }) =>
      created(presentCampaign(await duplicateCampaign(db, project, params.id))),
  }),
]);
