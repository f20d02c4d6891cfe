import type joi from 'joi';
import { agentClasses } from '../../services/emails/machines.ts';
import { type WebhookType, webhookTypes } from '../../services/webhooks/types.ts';
import { campaignSchema } from '../presenters/campaign.ts';
import { contactSchema } from '../presenters/contact.ts';
import { domainSchema } from '../presenters/domain.ts';
import { executionSchema } from '../presenters/execution.ts';
import { jobSchema } from '../presenters/job.ts';
import { type JsonSchema, type JsonSchemas, named, referenceTo } from './json-schema.ts';
import {
  dateTime,
  email,
  flag,
  namedType,
  nullable,
  object,
  oneOf,
  optional,
  record,
  text,
  uuid,
  wholeNumber,
} from './schemas.ts';
import type { Shape, Typed } from './typed.ts';

// The `webhooks` of the OpenAPI document: a schema and an example for each type that an endpoint can receive.

const ids = {
  project: '01928c7e-0000-7000-8000-000000000001',
  contact: '01928c7e-0000-7000-8000-000000000002',
  event: '01928c7e-0000-7000-8000-000000000003',
  mail: '01928c7e-0000-7000-8000-000000000004',
  other: '01928c7e-0000-7000-8000-000000000005',
};
const TIME = '2026-11-15T12:00:00.000Z';
const POSITION = 4711;

interface Described {
  schema: Typed<unknown>;
  example: object;
}

const position = {
  position: wholeNumber({ min: 1 }).description(
    'Increases with every webhook of the project, in the order of the changes.',
  ),
};
const withPosition = (schema: Typed<unknown>): Typed<unknown> => (schema as joi.ObjectSchema).append(position);

/** What is left of a payload when its contact is deleted (`db/functions/erase_webhook_payloads.sql`). */
const KEPT = new Set([
  'id',
  'eventId',
  'contactId',
  'projectId',
  'position',
  'name',
  'emailId',
  'templateId',
  'campaignId',
  'workflowId',
  'segmentId',
  'version',
  'status',
]);

/** What the triggers of `campaigns` and `domains` store. The rest is read later, if there is still something to read. */
const OF_CAMPAIGN = new Set(['id', 'status', 'paused', 'pauseReason', 'sentAt', 'updatedAt', 'position']);
const OF_DOMAIN = new Set(['id', 'domain', 'status', 'verified', 'verifiedAt', 'updatedAt', 'position']);

/** A payload about something that may be deleted before it is delivered: only these keys are always there. */
const erasable = (schema: Typed<unknown>, kept = KEPT): Typed<unknown> => {
  const others = Object.keys((schema as joi.ObjectSchema).describe().keys).filter((key) => !kept.has(key));
  return (schema as joi.ObjectSchema).fork(others, (field) => field.optional());
};

const aboutContact = {
  eventId: uuid().description('Event ID.'),
  contactId: uuid().description('Contact ID.'),
  email: nullable(email()).description('Email address of the contact; null if the contact no longer exists.'),
  projectId: uuid().description('Project ID.'),
  ...position,
};
const contactFacts = {
  eventId: ids.event,
  contactId: ids.contact,
  email: 'ann@example.com',
  projectId: ids.project,
  position: POSITION,
};

const mailShape: Shape = {
  emailId: uuid().description('Email ID.'),
  from: nullable(email()).description('Sender address; null if it is no longer stored.'),
  templateId: nullable(uuid()).description('Template ID; null if no template was used.'),
  campaignId: nullable(uuid()).description('Campaign ID; null if the email is not part of a campaign.'),
  workflowId: nullable(uuid()).description('Workflow ID; null if no workflow sent the email.'),
  sourceType: text().description('What sent the email: `TRANSACTIONAL`, `WORKFLOW` or `CAMPAIGN`.'),
  subject: nullable(text({ min: 0 })).description('Subject; null if it is no longer stored.'),
  messageId: nullable(text()).description('Message-ID header; null if the sender is no longer stored.'),
  ...aboutContact,
  sentAt: dateTime().description('When the mail relay accepted the email, for `email.sent`.'),
  providerMessageId: nullable(text()).description('Message ID given by the mail relay, for `email.sent`.'),
  deliveredAt: dateTime().description('When the email was delivered, for `email.delivery`.'),
  openedAt: dateTime().description('When the email was opened, for `email.open`.'),
  clickedAt: dateTime().description('When the link was clicked, for `email.click`.'),
  link: nullable(text()).description('The link, for `email.click`; null if the contact no longer exists.'),
  linkIndex: nullable(wholeNumber({ min: 0 })).description(
    'Position of the link among the links of the email, from 0, for `email.click`; null if it is not known.',
  ),
  bouncedAt: dateTime().description('When the email bounced, for `email.bounce`.'),
  bounceType: text().description('`Permanent`, `Transient` or `Undetermined`, for `email.bounce`.'),
  complainedAt: dateTime().description('When the recipient complained, for `email.complaint`.'),
  failedAt: dateTime().description('When sending failed, for `email.failed`.'),
  reason: nullable(text()).description('Why, for `email.bounce`, `email.complaint`, `email.failed`, `email.unknown`.'),
  isFirst: flag().description('Whether it is the first of its type for this email.'),
  machine: flag().description('Whether a program rather than a person opened the email or clicked.'),
  isFirstHuman: flag().description('Whether it is the first by a person.'),
  isFirstReading: flag().description('Whether it is the first open or click by a person.'),
  userAgentClass: nullable(text()).description('Kind of program that opened the email or clicked.'),
  secondsAfterSending: nullable(wholeNumber()).description('Seconds between sending and opening or clicking.'),
};
const mail = (more: object = {}): Described => ({
  schema: named(
    'EmailWebhookData',
    'An email and what happened to it.',
    erasable((object(mailShape) as joi.ObjectSchema).unknown()),
  ),
  example: {
    emailId: ids.mail,
    from: 'shop@example.com',
    templateId: null,
    campaignId: null,
    workflowId: null,
    sourceType: 'TRANSACTIONAL',
    subject: 'Hello',
    messageId: `<${ids.mail}@example.com>`,
    ...more,
    ...contactFacts,
  },
});

const contact = { id: ids.contact, email: 'ann@example.com', subscribed: true, data: { plan: 'pro' } };
const times = { createdAt: TIME, updatedAt: TIME };

const campaign = (status: string, paused = false): Described => ({
  schema: named(
    'CampaignWebhookData',
    'A campaign without its body.',
    (erasable(withPosition(campaignSchema), OF_CAMPAIGN) as joi.ObjectSchema).fork('body', (field) =>
      field.forbidden(),
    ),
  ),
  example: {
    id: ids.other,
    name: 'Spring',
    subject: 'Hello',
    from: 'news@example.com',
    type: 'MARKETING',
    status,
    paused,
    pauseReason: null,
    sentAt: null,
    audienceType: 'ALL',
    totalRecipients: 2000,
    sentCount: 1200,
    projectId: ids.project,
    ...times,
    position: POSITION,
  },
});

const execution = (status: string): Described => ({
  schema: named('ExecutionWebhookData', 'An execution.', erasable(withPosition(executionSchema))),
  example: {
    id: ids.other,
    workflowId: ids.mail,
    version: 1,
    contactId: ids.contact,
    status,
    currentStepId: null,
    exitReason: null,
    error: null,
    context: {},
    startedAt: TIME,
    completedAt: null,
    ...times,
    position: POSITION,
  },
});

const domain = (status: string): Described => ({
  schema: named('DomainWebhookData', 'A sender domain.', erasable(withPosition(domainSchema), OF_DOMAIN)),
  example: {
    id: ids.other,
    domain: 'example.com',
    status,
    verified: status === 'VERIFIED',
    conflict: false,
    records: [],
    verifiedAt: TIME,
    lastCheckedAt: TIME,
    projectId: ids.project,
    ...times,
    position: POSITION,
  },
});

const job = (status: string, failedReason: string | null): Described => ({
  schema: named('JobWebhookData', 'A job.', withPosition(jobSchema)),
  example: {
    id: ids.other,
    type: 'IMPORT',
    status,
    progress: 100,
    total: 200,
    processed: 200,
    result: {},
    failedReason,
    createdAt: TIME,
    startedAt: TIME,
    completedAt: TIME,
    position: POSITION,
  },
});

const project = (reason: string | null): Described => ({
  schema: namedType('ProjectWebhookData', 'A project that was disabled or enabled.', {
    projectId: uuid().description('Project ID.'),
    reason: nullable(text()).description('Why the project was disabled; null if it was enabled.'),
    ...position,
  }),
  example: { projectId: ids.project, reason, position: POSITION },
});

const segment: Described = {
  schema: erasable(
    namedType('SegmentWebhookData', 'A contact that entered or left a segment.', {
      segmentId: uuid().description('Segment ID.'),
      segmentName: text().description('Segment name.'),
      ...aboutContact,
    }),
  ),
  example: { segmentId: ids.other, segmentName: 'VIPs', ...contactFacts },
};

const form: Described = {
  schema: erasable(
    namedType('FormWebhookData', 'A submission of a form.', {
      formId: uuid().description('Form ID.'),
      key: text().description('Key of the form.'),
      submissionId: uuid().description('Submission ID.'),
      email: nullable(text()).description('Email address; null once declined or expired.'),
      pageUrl: nullable(text()).description('Page on which it was submitted; null if it is not known.'),
      fields: optional(record()).description('Values by key of the field, once confirmed.'),
      projectId: uuid().description('Project ID.'),
      contactId: optional(uuid()).description('Contact ID, once confirmed.'),
      eventId: optional(uuid()).description('Event ID, once confirmed.'),
      ...position,
    }),
  ),
  example: {
    formId: ids.other,
    key: 'newsletter',
    submissionId: ids.event,
    email: 'ann@example.com',
    pageUrl: 'https://example.com/',
    projectId: ids.project,
    position: POSITION,
  },
};

const topic: Described = {
  schema: erasable(
    namedType('TopicWebhookData', 'A contact that joined or left a topic, or is asked to confirm that it joins.', {
      topicId: uuid().description('Topic ID.'),
      key: text().description('Key of the topic.'),
      method: text().description('How the contact did it.'),
      consentId: uuid().description('ID of the consent record.'),
      formId: nullable(uuid()).description('Form ID; null if no form was used.'),
      emailId: nullable(uuid()).description('Email whose link was used; null if none was.'),
      campaignId: nullable(uuid()).description('Campaign of that email; null if there is none.'),
      workflowId: nullable(uuid()).description('Workflow that changed it, or sent that email; null if there is none.'),
      userAgentClass: optional(oneOf(...agentClasses)).description(
        'Of a page or one click: the kind of program that sent it, such as CLIENT or SCANNER.',
      ),
      ...aboutContact,
      eventId: optional(uuid()).description('Event ID; not for `topic.<key>.pending`, which is no event.'),
    }),
  ),
  example: {
    topicId: ids.other,
    key: 'product-news',
    method: 'PAGE',
    consentId: ids.event,
    formId: null,
    emailId: ids.mail,
    campaignId: null,
    workflowId: null,
    ...contactFacts,
  },
};

const contactChange: Described = {
  schema: named('ContactWebhookData', 'A contact.', erasable(withPosition(contactSchema))),
  example: { ...contact, ...times, position: POSITION },
};
const subscription = (subscribed: boolean): Described => ({
  schema: named(
    'SubscriptionWebhookData',
    'A contact whose subscription changed.',
    erasable((contactSchema as joi.ObjectSchema).append(aboutContact).unknown()),
  ),
  example: { ...contact, ...times, subscribed, reason: 'link', ...contactFacts },
});

/** Of opens and clicks. */
const reader = {
  machine: false,
  isFirstHuman: true,
  isFirstReading: true,
  userAgentClass: 'CLIENT',
  secondsAfterSending: 3600,
};

/** The data of each type. A test checks that every type is here, and every example fits its schema. */
export const webhookData: Record<string, Described> = {
  'email.sent': mail({ sentAt: TIME }),
  'email.delivery': mail({ deliveredAt: TIME, isFirst: true }),
  'email.open': mail({ ...reader, openedAt: TIME, isFirst: true }),
  'email.click': mail({ ...reader, clickedAt: TIME, isFirst: true, link: 'https://example.com/offer', linkIndex: 0 }),
  'email.bounce': mail({ bouncedAt: TIME, isFirst: true, bounceType: 'Permanent', reason: '550 no such user' }),
  'email.complaint': mail({ complainedAt: TIME, isFirst: true, reason: null }),
  'email.failed': mail({ failedAt: TIME, reason: '550 no such user' }),
  'email.unknown': mail({ reason: 'the connection broke' }),
  'contact.created': contactChange,
  'contact.updated': contactChange,
  'contact.deleted': {
    schema: namedType('DeletedContactWebhookData', 'A contact that was deleted.', {
      id: uuid().description('Contact ID.'),
    }),
    example: { id: ids.contact },
  },
  'contact.subscribed': subscription(true),
  'contact.unsubscribed': subscription(false),
  'campaign.started': campaign('SENDING'),
  'campaign.paused': campaign('SENDING', true),
  'campaign.resumed': campaign('SENDING'),
  'campaign.finished': campaign('SENT'),
  'campaign.cancelled': campaign('CANCELLED'),
  'execution.started': execution('RUNNING'),
  'execution.completed': execution('COMPLETED'),
  'execution.failed': execution('FAILED'),
  'execution.cancelled': execution('CANCELLED'),
  'domain.verified': domain('VERIFIED'),
  'domain.lost': domain('PENDING'),
  'job.completed': job('COMPLETED', null),
  'job.failed': job('FAILED', 'The file cannot be read.'),
  'form.attacked': {
    schema: namedType('AttackedFormWebhookData', 'A form that is under attack.', {
      formId: uuid().description('Form ID.'),
      key: text().description('Key of the form.'),
      since: dateTime().description('Since when it is under attack.'),
      projectId: uuid().description('Project ID.'),
      ...position,
    }),
    example: { formId: ids.other, key: 'newsletter', since: TIME, projectId: ids.project, position: POSITION },
  },
  'project.disabled': project('10.0 % of its emails bounced'),
  'project.enabled': project(null),
  'webhook.test': {
    schema: namedType('TestWebhookData', 'A test delivery.', {
      projectId: uuid().description('Project ID.'),
      endpointId: uuid().description('Webhook endpoint ID.'),
      message: text().description('Test message.'),
      ...position,
    }),
    example: { projectId: ids.project, endpointId: ids.other, message: 'This is a test.', position: POSITION },
  },
  'topic.<key>.subscribed': topic,
  'topic.<key>.unsubscribed': topic,
  'topic.<key>.pending': topic,
  'form.<key>.submitted': form,
  'form.<key>.confirmed': form,
  'form.<key>.declined': form,
  'form.<key>.expired': form,
  'segment.<slug>.entry': segment,
  'segment.<slug>.exit': segment,
  'event.<name>': {
    schema: erasable(
      namedType('EventWebhookData', 'A tracked event.', {
        name: text().description('Event name.'),
        data: record().description('Data of the event.'),
        ...aboutContact,
      }),
    ),
    example: { name: 'bought', data: { total: 3 }, ...contactFacts },
  },
};

const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
});

export const webhookResponses: Record<string, object> = {
  WebhookReceived: {
    description: 'Delivered, if the response arrives within 15 seconds. Anything else is retried for several days.',
  },
  WebhookGone: { description: 'Disables the endpoint.' },
};

export const webhookParameters: Record<string, object> = {
  WebhookId: header('webhook-id', 'ID of the webhook, the same for every attempt and replay.', ids.event),
  WebhookTimestamp: header('webhook-timestamp', 'When the attempt was made, in Unix seconds.', '1794744000'),
  WebhookSignature: header(
    'webhook-signature',
    'Standard Webhooks signature: `v1,<base64>`, one per secret during a rotation.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
};

/** The fields that all types share. */
const payloadField = (name: string): JsonSchema => referenceTo(`WebhookPayload/properties/${name}`);

function operationOf({ type, description }: WebhookType, schemas: JsonSchemas): object {
  const described = webhookData[type];
  const data = described ? schemas.of(described.schema, 'answer') : { type: 'object' };
  const schema = {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { description: 'Webhook type.', ...(type.includes('<') ? { type: 'string' } : { const: type }) },
      timestamp: payloadField('timestamp'),
      data,
      truncated: payloadField('truncated'),
    },
  };
  const example = { type: exampleOf(type), timestamp: TIME, data: described?.example };
  return {
    post: {
      operationId: `webhook${type.replace(/[^a-z]+(\w?)/gi, (_all, letter: string) => letter.toUpperCase()).replace(/^\w/, (letter) => letter.toUpperCase())}`,
      summary: description,
      security: [],
      tags: ['Webhooks'],
      parameters: Object.keys(webhookParameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
      requestBody: { required: true, content: { 'application/json': { schema, example } } },
      responses: {
        '2XX': { $ref: '#/components/responses/WebhookReceived' },
        '410': { $ref: '#/components/responses/WebhookGone' },
      },
    },
  };
}

const exampleOf = (type: string): string => type.replace('<slug>', 'vips').replace('<name>', 'bought');

export const openApiWebhooks = (schemas: JsonSchemas): Record<string, object> =>
  Object.fromEntries(webhookTypes.map((type) => [type.type, operationOf(type, schemas)]));
