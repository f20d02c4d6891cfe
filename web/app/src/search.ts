// The filters that pages keep in their address. Whatever an address has, a page gets only values that it knows.
import type {
  ActivityItem,
  CampaignStatus,
  EmailStatus,
  Execution,
  Job,
  RecipientStatus,
  Suppression,
  Template,
  WebhookDelivery,
} from './api/types.ts';

type Raw = Record<string, unknown>;

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== ''
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : undefined;

const oneOf = <T extends string>(value: unknown, ...allowed: T[]): T | undefined =>
  allowed.find((item) => item === value);

const flagOf = (value: unknown): boolean | undefined =>
  value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined;

/** Leaves out what is not set, so that addresses stay short. */
const compact = <T extends object>(search: T): T =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as T;

/** Only a path of this application: a sign-in must not lead to another site. */
const pathOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\/(?![/\\])/.test(value) ? value : undefined;

/** Names `next` even if it is refused: the router keeps what a page does not name as it is in the address. */
export const signIn = (raw: Raw): { next?: string | undefined } => ({ next: pathOf(raw.next) });

export const text = (raw: Raw): { search?: string | undefined } => compact({ search: textOf(raw.search) });

export const tab = (raw: Raw): { tab?: string | undefined } => compact({ tab: textOf(raw.tab) });

export interface ComposerSearch {
  step?: number | undefined;
  /** Local time, as the browser's input has it. */
  sendAt?: string | undefined;
}

/** Names both even if they are refused: the router keeps what a page does not name as it is in the address. */
export const composer = (raw: Raw): ComposerSearch => ({
  step: typeof raw.step === 'number' ? raw.step : undefined,
  sendAt: typeof raw.sendAt === 'string' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(raw.sendAt) ? raw.sendAt : undefined,
});

export const importJob = (raw: Raw): { job?: string | undefined } => compact({ job: textOf(raw.job) });

export interface ContactsSearch {
  search?: string | undefined;
  subscribed?: boolean | undefined;
  sort?: 'createdAt' | 'email' | undefined;
  dir?: 'asc' | 'desc' | undefined;
  /** Values by field of `data`. */
  fields?: Record<string, string> | undefined;
}

export const contacts = (raw: Raw): ContactsSearch =>
  compact({
    search: textOf(raw.search),
    subscribed: flagOf(raw.subscribed),
    sort: oneOf(raw.sort, 'createdAt', 'email'),
    dir: oneOf(raw.dir, 'asc', 'desc'),
    fields: fieldsOf(raw.fields),
  });

function fieldsOf(value: unknown): Record<string, string> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const entries = Object.entries(value).flatMap(([name, wanted]) => {
    const found = textOf(wanted);
    return found === undefined ? [] : [[name, found] as const];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

export interface TemplatesSearch {
  search?: string | undefined;
  type?: Template['type'] | undefined;
}

export const templates = (raw: Raw): TemplatesSearch =>
  compact({ search: textOf(raw.search), type: oneOf(raw.type, 'TRANSACTIONAL', 'MARKETING', 'HEADLESS') });

export interface CampaignsSearch {
  search?: string | undefined;
  status?: CampaignStatus | undefined;
}

export const campaignStatuses = ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'] as const;

export const campaigns = (raw: Raw): CampaignsSearch =>
  compact({ search: textOf(raw.search), status: oneOf(raw.status, ...campaignStatuses) });

export const newCampaign = (raw: Raw): { segmentId?: string | undefined; templateId?: string | undefined } =>
  compact({ segmentId: textOf(raw.segmentId), templateId: textOf(raw.templateId) });

export const recipientStatuses = ['PENDING', 'SENT', 'FAILED', 'SKIPPED', 'CANCELLED', 'UNKNOWN'] as const;

export const campaign = (raw: Raw): { tab?: string | undefined; recipients?: RecipientStatus | undefined } =>
  compact({ tab: textOf(raw.tab), recipients: oneOf(raw.recipients, ...recipientStatuses) });

export const emailStatuses = [
  'PENDING',
  'SENDING',
  'SENT',
  'DELIVERED',
  'OPENED',
  'CLICKED',
  'BOUNCED',
  'COMPLAINED',
  'FAILED',
  'SKIPPED',
  'CANCELLED',
  'UNKNOWN',
] as const satisfies EmailStatus[];

/** `BLOCKED` is waiting mail that policy keeps from being sent. */
export type EmailFilter = EmailStatus | 'BLOCKED';
export const emailFilters = [...emailStatuses, 'BLOCKED'] as const satisfies EmailFilter[];

export interface EmailsSearch {
  status?: EmailFilter | undefined;
  /** The recipient's address. */
  email?: string | undefined;
  contactId?: string | undefined;
  campaignId?: string | undefined;
  templateId?: string | undefined;
  workflowId?: string | undefined;
  /** Days, as YYYY-MM-DD. */
  from?: string | undefined;
  to?: string | undefined;
}

export const emails = (raw: Raw): EmailsSearch =>
  compact({
    status: oneOf(raw.status, ...emailFilters),
    email: textOf(raw.email),
    contactId: textOf(raw.contactId),
    campaignId: textOf(raw.campaignId),
    templateId: textOf(raw.templateId),
    workflowId: textOf(raw.workflowId),
    from: dayOf(raw.from),
    to: dayOf(raw.to),
  });

const dayOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) ? value : undefined;

export interface WorkflowsSearch {
  search?: string | undefined;
  status?: 'active' | 'disabled' | undefined;
}

export const workflows = (raw: Raw): WorkflowsSearch =>
  compact({ search: textOf(raw.search), status: oneOf(raw.status, 'active', 'disabled') });

export const executionStatuses = [
  'RUNNING',
  'WAITING',
  'COMPLETED',
  'EXITED',
  'FAILED',
  'CANCELLED',
] as const satisfies Execution['status'][];

export interface ExecutionsSearch {
  status?: Execution['status'] | undefined;
  workflowId?: string | undefined;
  contactId?: string | undefined;
  stepId?: string | undefined;
  enteredStepId?: string | undefined;
}

export const executions = (raw: Raw): ExecutionsSearch =>
  compact({
    status: oneOf(raw.status, ...executionStatuses),
    workflowId: textOf(raw.workflowId),
    contactId: textOf(raw.contactId),
    stepId: textOf(raw.stepId),
    enteredStepId: textOf(raw.enteredStepId),
  });

/** Which way of showing an execution. */
export const execution = (raw: Raw): { tab?: 'play' | undefined } => compact({ tab: oneOf(raw.tab, 'play') });

export interface PlaySearch {
  /** Without it the draft, if there is one. */
  version?: 'published' | undefined;
  /** A contact of the project; without it an invented one. */
  contactId?: string | undefined;
}

export const play = (raw: Raw): PlaySearch =>
  compact({ version: oneOf(raw.version, 'published'), contactId: textOf(raw.contactId) });

export const members = (raw: Raw): { invite?: boolean | undefined } => compact({ invite: flagOf(raw.invite) });

export interface AuditSearch {
  /** USER, KEY, SYSTEM, or the id of a user or key. */
  actor?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  /** Days, as YYYY-MM-DD. */
  from?: string | undefined;
  to?: string | undefined;
}

export const audit = (raw: Raw): AuditSearch =>
  compact({
    actor: textOf(raw.actor),
    action: textOf(raw.action),
    target: textOf(raw.target),
    from: dayOf(raw.from),
    to: dayOf(raw.to),
  });
/** Opens the dialog that adds one; links of the command palette set it. */
interface Adding {
  add?: true | undefined;
}

const addOf = (value: unknown): true | undefined => flagOf(value) || undefined;

export const adding = (raw: Raw): Adding => compact({ add: addOf(raw.add) });

export const suppressionReasons = ['HARD_BOUNCE', 'COMPLAINT', 'MANUAL'] as const satisfies Suppression['reason'][];

export interface SuppressionsSearch extends Adding {
  search?: string | undefined;
  reason?: Suppression['reason'] | undefined;
}

export const suppressions = (raw: Raw): SuppressionsSearch =>
  compact({ search: textOf(raw.search), reason: oneOf(raw.reason, ...suppressionReasons), add: addOf(raw.add) });

export const deliveryStatuses = [
  'PENDING',
  'DELIVERED',
  'FAILED',
  'DISCARDED',
] as const satisfies WebhookDelivery['status'][];

export interface DeliveriesSearch {
  status?: WebhookDelivery['status'] | undefined;
  type?: string | undefined;
}

export const deliveries = (raw: Raw): DeliveriesSearch =>
  compact({ status: oneOf(raw.status, ...deliveryStatuses), type: textOf(raw.type) });

export interface DevelopersSearch extends Adding {
  tab?: 'keys' | 'examples' | 'policy' | 'requests' | undefined;
  /** Of failed requests. */
  status?: number | undefined;
  route?: string | undefined;
}

const statusOf = (value: unknown): number | undefined => {
  const status = Number(value);
  return Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined;
};

export const developers = (raw: Raw): DevelopersSearch =>
  compact({
    tab: oneOf(raw.tab, 'keys', 'examples', 'policy', 'requests'),
    status: statusOf(raw.status),
    route: textOf(raw.route),
    add: addOf(raw.add),
  });

export interface EventsSearch {
  tab?: 'events' | 'fields' | undefined;
  search?: string | undefined;
  kind?: 'own' | 'reserved' | undefined;
}

export const events = (raw: Raw): EventsSearch =>
  compact({
    tab: oneOf(raw.tab, 'events', 'fields'),
    search: textOf(raw.search),
    kind: oneOf(raw.kind, 'own', 'reserved'),
  });

export const jobTypes = [
  'IMPORT',
  'SUPPRESSION_IMPORT',
  'BULK_SUBSCRIBE',
  'BULK_UNSUBSCRIBE',
  'BULK_DELETE',
  'RETRY_EXECUTIONS',
] as const satisfies Job['type'][];
export const jobStatuses = ['QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const satisfies Job['status'][];

export interface JobsSearch {
  type?: Job['type'] | undefined;
  status?: Job['status'] | undefined;
}

export const jobs = (raw: Raw): JobsSearch =>
  compact({ type: oneOf(raw.type, ...jobTypes), status: oneOf(raw.status, ...jobStatuses) });

export const analyticsDays = [7, 30, 90] as const;

export interface AnalyticsSearch {
  days?: (typeof analyticsDays)[number] | undefined;
  /** An own period: days, as YYYY-MM-DD. */
  from?: string | undefined;
  to?: string | undefined;
  compare?: boolean | undefined;
  metric?: 'humanOpens' | 'humanClicks' | 'sent' | undefined;
}

export const analytics = (raw: Raw): AnalyticsSearch =>
  compact({
    days: analyticsDays.find((days) => days === Number(raw.days)),
    from: realDayOf(raw.from),
    to: realDayOf(raw.to),
    compare: flagOf(raw.compare) || undefined,
    metric: oneOf(raw.metric, 'humanOpens', 'humanClicks', 'sent'),
  });

const realDayOf = (value: unknown): string | undefined => {
  const day = dayOf(value);
  return day !== undefined && !Number.isNaN(Date.parse(day)) ? day : undefined;
};

export const activityTypes = [
  'event.triggered',
  'email.sent',
  'email.delivered',
  'email.opened',
  'email.clicked',
  'email.bounced',
  'email.complained',
  'email.failed',
  'contact.subscribed',
  'contact.unsubscribed',
  'campaign.scheduled',
  'campaign.sent',
  'workflow.started',
  'workflow.completed',
] as const satisfies ActivityItem['type'][];

/** Types that people look for together. */
export const activityGroups = {
  mail: activityTypes.filter((type) => type.startsWith('email.')),
  reading: ['email.opened', 'email.clicked'],
  problems: ['email.bounced', 'email.complained', 'email.failed'],
  people: ['contact.subscribed', 'contact.unsubscribed'],
  campaigns: ['campaign.scheduled', 'campaign.sent'],
  workflows: ['workflow.started', 'workflow.completed'],
} satisfies Record<string, ActivityItem['type'][]>;

type ActivityGroup = keyof typeof activityGroups;

export interface ActivitySearch {
  type?: ActivityGroup | ActivityItem['type'] | undefined;
  contactId?: string | undefined;
}

export const activity = (raw: Raw): ActivitySearch =>
  compact({
    type: oneOf(raw.type, ...(Object.keys(activityGroups) as ActivityGroup[]), ...activityTypes),
    contactId: textOf(raw.contactId),
  });
