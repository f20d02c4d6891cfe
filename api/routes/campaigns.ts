import joi from 'joi';
import type { Settings } from '../../platform/settings.ts';
import { listCampaigns } from '../../services/campaigns/list.ts';
import {
  audienceTypes,
  campaignStatuses,
  changeSending,
  createCampaign,
  deleteCampaign,
  duplicateCampaign,
  replaceCampaign,
  templateTypes,
} from '../../services/campaigns/save.ts';
import { showCampaignWithChain } from '../../services/campaigns/view.ts';
import { asAddress, type GivenAddress, senderAddress } from '../http/addresses.ts';
import { answer, created, failure, missing, noContent, ok, success } from '../http/answers.ts';
import { givenContent } from '../http/given-content.ts';
import { route, routes } from '../http/route.ts';
import {
  choice,
  dateTime,
  email,
  flag,
  line,
  namedType,
  nullable,
  offsetPage,
  oneOf,
  optional,
  request,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import { subject } from '../http/subject.ts';
import type { Typed } from '../http/typed.ts';
import { documented } from '../http/violations.ts';
import { campaignSchema, presentCampaign, presentListedCampaign } from '../presenters/campaign.ts';
import { offsetListSchema, presentOffsetList } from '../presenters/offset-list.ts';
import { conditionTree } from '../presenters/segment.ts';

const MAX_NAME = 255;
const MAX_DESCRIPTION = 2_000;
const MAX_SEARCH = 1_000;
const MAX_RATE = 10_000_000;

export const params = { id: uuid().description('Campaign ID.') };
export const oneCampaign = answer('The campaign.', campaignSchema);
export const noCampaign = missing('campaign', 'CAMPAIGN_NOT_FOUND');
export const wrongState = failure('The status of the campaign does not allow it.', 'CONFLICT');
export const unverified = failure(
  'The domain of `from` is not verified, or the project is disabled.',
  'INTERNAL_SERVER_ERROR',
);

const rate = (): Typed<number | null> => nullable(wholeNumber({ min: 1, max: MAX_RATE }));

const END =
  'When sending ends, in the future and after `scheduledFor`: recipients that are PENDING then are SKIPPED (`too late`). ' +
  'No end by default.';

/** Fields of one audience type; validated with that type. */
const segmentId = (): Typed<unknown> => documented(joi.any(), { type: ['string', 'null'], format: 'uuid' });

const saveCampaignRequest = request('SaveCampaignRequest', 'All fields of a campaign.', {
  name: text({ max: MAX_NAME }).description('Campaign name.'),
  subject: subject().description('Subject, with variables.'),
  ...givenContent(),
  from: senderAddress().description('Sender, on a verified domain: an address, with or without a name.'),
  audienceType: oneOf(...audienceTypes).description(
    'Audience: ALL contacts, the members of a SEGMENT, or contacts FILTERED by a condition.',
  ),
  description: optional(nullable(text({ min: 0, max: MAX_DESCRIPTION }))).description('Internal description.'),
  fromName: optional(nullable(line({ min: 0, max: 255 }))).description(
    'Name of the sender; takes precedence over the name in `from`.',
  ),
  replyTo: optional(nullable(email())).description('Reply-To address.'),
  type: optional(oneOf(...templateTypes)).description(
    'TRANSACTIONAL is sent to all contacts of the audience, MARKETING and HEADLESS only to subscribed ones. ' +
      'MARKETING, the default, adds an unsubscribe footer.',
  ),
  segmentId: segmentId().description('ID of the segment. Required if `audienceType` is SEGMENT.'),
  audienceCondition: conditionTree().description(
    'Condition that recipients must match. Required if `audienceType` is FILTERED.',
  ),
  templateId: optional(nullable(uuid())).description(
    'ID of the template that the campaign is based on. Its content is not copied.',
  ),
  topicId: optional(nullable(uuid())).description(
    'Topic of the email: of kind NOTIFICATION for TRANSACTIONAL campaigns, of kind MARKETING for others.',
  ),
  ratePerMinute: optional(rate()).description('Maximum number of emails per minute; no limit by default.'),
  sendUntil: optional(nullable(dateTime())).description(END),
  expectedRevision: optional(wholeNumber({ min: 0 })).description(
    'Revision of the campaign that you have read; 409 if it is outdated. A new campaign has none.',
  ),
});

const outdated = failure(
  'The status of the campaign does not allow it, or it has changed since: then `details` has the current campaign.',
  'CONFLICT',
);

const asInput = <B extends { from: GivenAddress; sendUntil?: string | null | undefined }>({
  from,
  sendUntil,
  ...rest
}: B) => ({ ...rest, from: asAddress(from), sendUntil: dateOf(sendUntil) });

const dateOf = (given: string | null | undefined): Date | null | undefined =>
  typeof given === 'string' ? new Date(given) : given;

const bodyLimit = ({ contentBodyMaxBytes }: Settings) => contentBodyMaxBytes;

const wrongParts = missing('segment, template or topic', 'SEGMENT_NOT_FOUND');

export const campaigns = routes('Campaigns', [
  route({
    method: 'GET',
    path: '/campaigns',
    summary: 'List campaigns',
    access: 'secretKey',
    scope: 'campaigns:read',
    query: {
      ...offsetPage(),
      status: optional(oneOf(...campaignStatuses)).description('Only campaigns with this status.'),
      search: optional(text({ min: 0, max: MAX_SEARCH })).description(
        'Part of the name, the subject or the email address of the sender; case-insensitive.',
      ),
      sort: choice('createdAt', 'updatedAt', 'name').description('Sort field.'),
      dir: choice('desc', 'asc').description('Sort direction.'),
    },
    answers: {
      200: answer('A page of campaigns.', offsetListSchema(campaignSchema)),
      413: failure('The campaigns on the page are too large together; request fewer.', 'PAYLOAD_TOO_LARGE'),
    },
    handle: async ({ db, project, query }) =>
      ok(presentOffsetList(await listCampaigns(db, project.projectId, query), presentListedCampaign)),
  }),
  route({
    method: 'POST',
    path: '/campaigns',
    summary: 'Create a campaign as a draft',
    access: 'secretKey',
    scope: 'campaigns:write',
    body: saveCampaignRequest,
    bodyLimit,
    answers: {
      200: answer(
        'The new campaign.',
        namedType('CampaignResponse', 'A campaign that was created.', {
          success: flag().description('Always true.'),
          data: campaignSchema.description('The campaign.'),
        }),
      ),
      403: unverified,
      404: wrongParts,
    },
    handle: async ({ db, project, body }) => success(presentCampaign(await createCampaign(db, project, asInput(body)))),
  }),
  route({
    method: 'GET',
    path: '/campaigns/:id',
    summary: 'Get a campaign',
    access: 'secretKey',
    scope: 'campaigns:read',
    params,
    answers: { 200: oneCampaign, 404: noCampaign },
    handle: async ({ db, project, params }) =>
      ok(presentCampaign(await showCampaignWithChain(db, project.projectId, params.id))),
  }),
  route({
    method: 'PUT',
    path: '/campaigns/:id',
    summary: 'Replace a campaign that is DRAFT or SCHEDULED, keeping its scheduled time',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    body: saveCampaignRequest,
    bodyLimit,
    answers: { 200: oneCampaign, 403: unverified, 404: noCampaign, 409: outdated },
    handle: async ({ db, project, params, body }) =>
      ok(presentCampaign(await replaceCampaign(db, project, params.id, asInput(body)))),
  }),
  route({
    method: 'PATCH',
    path: '/campaigns/:id',
    summary: 'Change the sending limit and the end of sending, even while SENDING',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    body: request('UpdateCampaignRequest', 'The changes; fields that are left out stay as they are.', {
      ratePerMinute: optional(rate()).description('Maximum number of emails per minute; null removes the limit.'),
      sendUntil: optional(nullable(dateTime())).description(
        'When sending ends, in the future and after `scheduledFor`: recipients that are PENDING then are SKIPPED ' +
          '(`too late`). null removes the end.',
      ),
    }),
    answers: { 200: oneCampaign, 404: noCampaign },
    handle: async ({ db, project, params, body: { sendUntil, ...body } }) => {
      const change = { ...body, sendUntil: dateOf(sendUntil) };
      return ok(presentCampaign(await changeSending(db, project, params.id, change)));
    },
  }),
  route({
    method: 'DELETE',
    path: '/campaigns/:id',
    summary: 'Delete a campaign, keeping the records of its emails',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    answers: {
      204: answer('Deleted.'),
      404: noCampaign,
      409: failure('The campaign is SCHEDULED or SENDING.', 'CONFLICT'),
    },
    handle: async ({ db, project, params }) => {
      await deleteCampaign(db, project, params.id);
      return noContent();
    },
  }),
  route({
    method: 'POST',
    path: '/campaigns/:id/duplicate',
    summary: 'Duplicate a campaign as a draft',
    access: 'secretKey',
    scope: 'campaigns:write',
    params,
    answers: { 201: answer('The copy.', campaignSchema), 404: noCampaign },
    handle: async ({ db, project, params }) =>
      created(presentCampaign(await duplicateCampaign(db, project, params.id))),
  }),
]);
