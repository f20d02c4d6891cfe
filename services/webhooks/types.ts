// The vocabulary of webhook types. Types of recorded events have the names of the events.

export interface WebhookType {
  type: string;
  description: string;
}

/** Types with a fixed name, and what they are sent for. */
const fixedTypes = {
  'email.sent': 'The mail relay accepted an email.',
  'email.delivery': 'The receiving server accepted an email.',
  'email.open': 'An email was opened.',
  'email.click': 'A link in an email was clicked.',
  'email.bounce': 'An email bounced.',
  'email.complaint': 'A recipient reported an email as spam.',
  'email.failed': 'An email could not be sent.',
  'email.unknown': 'It is unknown whether the mail relay accepted an email.',
  'contact.created': 'A contact was created.',
  'contact.updated': 'The address, the subscription or the data of a contact changed.',
  'contact.deleted': 'A contact was deleted; only its id is sent.',
  'contact.subscribed': 'A contact subscribed.',
  'contact.unsubscribed': 'A contact unsubscribed.',
  'campaign.started': 'A campaign started sending.',
  'campaign.paused': 'A campaign was paused, by a user or automatically.',
  'campaign.resumed': 'A paused campaign was resumed.',
  'campaign.finished': 'A campaign was sent to all recipients.',
  'campaign.cancelled': 'A campaign was cancelled.',
  'execution.started': 'A contact entered a workflow.',
  'execution.completed': 'An execution completed or reached an EXIT step.',
  'execution.failed': 'A step of an execution failed.',
  'execution.cancelled': 'An execution was cancelled.',
  'domain.verified': 'All DNS records of a domain were found.',
  'domain.lost': 'A domain is no longer verified.',
  'job.completed': 'An import or a bulk change has ended.',
  'job.failed': 'An import or a bulk change failed.',
  'project.disabled': 'The project was disabled.',
  'project.enabled': 'The project was enabled again.',
  'form.attacked': 'A form is under attack by bots.',
  'webhook.test': 'Sent on request to test an endpoint.',
} as const;
export type FixedWebhookType = keyof typeof fixedTypes;

const namedTypes: WebhookType[] = [
  { type: 'topic.<key>.subscribed', description: 'A contact joined a topic.' },
  { type: 'topic.<key>.unsubscribed', description: 'A contact left a topic.' },
  { type: 'topic.<key>.pending', description: 'A contact is asked to confirm that it joins a topic.' },
  { type: 'form.<key>.submitted', description: 'A visitor submitted a form.' },
  { type: 'form.<key>.confirmed', description: 'A visitor confirmed the submission of a form.' },
  { type: 'form.<key>.declined', description: 'The owner of an address declined the submission of a form.' },
  { type: 'form.<key>.expired', description: 'The submission of a form was not confirmed in time.' },
  { type: 'segment.<slug>.entry', description: 'A contact entered a tracked segment.' },
  { type: 'segment.<slug>.exit', description: 'A contact left a tracked segment.' },
  { type: 'event.<name>', description: 'An event with this name was tracked. "*" does not include these.' },
];

export const webhookTypes: WebhookType[] = [
  ...Object.entries(fixedTypes).map(([type, description]) => ({ type, description })),
  ...namedTypes,
];

export const TEST_TYPE: FixedWebhookType = 'webhook.test';

/** The part of a type before its first dot. */
const families = new Set(webhookTypes.map(({ type }) => type.slice(0, type.indexOf('.'))));

/** Whether an endpoint may have this among its types: a name, a prefix such as `email.*`, or `*`. */
export function isTypePattern(pattern: string): boolean {
  if (pattern === '*' || Object.hasOwn(fixedTypes, pattern)) return true;
  const [family = '', ...rest] = pattern.split('.');
  if (!families.has(family) || rest.length === 0) return false;
  if (family === 'event') return rest.join('.') !== '';
  if (rest.length === 1 && rest[0] === '*') return true;
  if (family === 'topic') return /^topic\.[a-z0-9-]+\.(?:subscribed|unsubscribed|pending|\*)$/.test(pattern);
  if (family === 'form') return /^form\.[a-z0-9-]+\.(?:submitted|confirmed|declined|expired|\*)$/.test(pattern);
  return family === 'segment' && /^segment\.[^*]+\.(?:entry|exit|\*)$/s.test(pattern);
}
