// The campaign as the composer edits it.
import type { Campaign, Template } from '../../api/types.ts';
import { type Condition, isComplete, isCondition, newCondition, requestedCondition } from '../../conditions/model.ts';
import { contentRequest, type EmailContent, emailContentOf } from '../../editor/content.ts';
import { t } from '../../texts/index.ts';
import { lastMoment, type Schedule } from './schedule.ts';

/** What the API stores. */
export interface CampaignContent {
  name: string;
  type: Template['type'];
  topicId: string | null;
  audienceType: Campaign['audienceType'];
  segmentId: string | null;
  condition: Condition;
  fromLocal: string;
  fromDomain: string | null;
  fromName: string;
  replyTo: string;
  /** Undefined until the user has chosen what to begin with. */
  email: EmailContent | undefined;
  ratePerMinute: number | '';
  /** As the API has it, so that a time with seconds stays as it is. */
  sendUntil: string | null;
}

export type Draft = CampaignContent & Schedule;

export const emptyContent = (): CampaignContent => ({
  name: '',
  type: 'MARKETING',
  topicId: null,
  audienceType: 'ALL',
  segmentId: null,
  condition: newCondition(),
  fromLocal: 'news',
  fromDomain: null,
  fromName: '',
  replyTo: '',
  email: undefined,
  ratePerMinute: '',
  sendUntil: null,
});

export function contentOf(campaign: Campaign): CampaignContent {
  const [fromLocal = '', fromDomain = null] = campaign.from.split('@');
  return {
    name: campaign.name,
    type: campaign.type,
    topicId: campaign.topicId,
    audienceType: campaign.audienceType,
    segmentId: campaign.segmentId,
    condition: isCondition(campaign.audienceCondition) ? campaign.audienceCondition : newCondition(),
    fromLocal,
    fromDomain,
    fromName: campaign.fromName ?? '',
    replyTo: campaign.replyTo ?? '',
    email: emailContentOf(campaign),
    ratePerMinute: campaign.ratePerMinute ?? '',
    sendUntil: campaign.sendUntil,
  };
}

/** The body of the API. */
export const requestOf = (draft: CampaignContent, email: EmailContent) => ({
  name: draft.name.trim(),
  type: draft.type,
  topicId: draft.topicId,
  audienceType: draft.audienceType,
  segmentId: draft.audienceType === 'SEGMENT' ? draft.segmentId : null,
  audienceCondition: draft.audienceType === 'FILTERED' ? requestedCondition(draft.condition) : null,
  from: `${draft.fromLocal.trim()}@${draft.fromDomain ?? ''}`,
  fromName: draft.fromName.trim() || null,
  replyTo: draft.replyTo.trim() || null,
  subject: email.subject.trim(),
  ...contentRequest(email),
  ratePerMinute: draft.ratePerMinute === '' ? null : draft.ratePerMinute,
  sendUntil: draft.sendUntil,
});

/** Another type, with the topic only if it goes with that type too. */
export const withType = ({ type: before, topicId }: Draft, type: Draft['type']): Pick<Draft, 'type' | 'topicId'> => ({
  type,
  topicId: (type === 'TRANSACTIONAL') === (before === 'TRANSACTIONAL') ? topicId : null,
});

/** Who would get it, as a condition; marketing mail goes to subscribed contacts only. */
export function audienceCondition(draft: CampaignContent): Condition | undefined {
  const parts: Condition[] = [];
  if (draft.type !== 'TRANSACTIONAL') parts.push(filter('subscribed', 'equals', true));
  if (draft.topicId) parts.push(filter(`topic.${draft.topicId}`, 'subscribed'));
  if (draft.audienceType === 'SEGMENT') {
    if (!draft.segmentId) return undefined;
    parts.push(filter(`segment.${draft.segmentId}`, 'memberOfSegment'));
  }
  if (draft.audienceType === 'FILTERED') parts.push(draft.condition);
  // A condition needs at least one filter.
  if (parts.length === 0) parts.push(filter('email', 'contains', '@'));
  return { logic: 'AND', groups: parts.map((conditions) => ({ filters: [], conditions })) };
}

const filter = (field: string, operator: string, value?: unknown): Condition => ({
  logic: 'AND',
  groups: [{ filters: [{ field, operator, value }] }],
});

export const stepNames = ['audience', 'sender', 'content', 'schedule', 'review'] as const;
export type StepName = (typeof stepNames)[number];

// The API has the last word; these find what people mistype. A part between dots has the characters of RFC 5322's
// atom, or any beyond ASCII.
const ATOM = "[\\w!#$%&'*+/=?^`{|}~\\u0080-\\uffff-]+";
const LOCAL_PART = new RegExp(`^(?=.{1,64}$)${ATOM}(\\.${ATOM})*$`);
const ADDRESS = new RegExp(`^(?=.{1,254}$)(?=.{1,64}@)${ATOM}(\\.${ATOM})*@[^\\s@.,;<>]+(\\.[^\\s@.,;<>]+)+$`);
export const MAX_RATE = 1_000_000;

export type Faults = Partial<Record<keyof Draft | 'subject', string>>;

/** What is missing or wrong in a step, by field. */
export function faultsOf(draft: Draft, step: StepName): Faults {
  const faults: Faults = {};
  if (step === 'audience') {
    if (!draft.name.trim()) faults.name = t.campaigns.nameNeeded;
    if (draft.audienceType === 'SEGMENT' && !draft.segmentId) faults.segmentId = t.campaigns.segmentNeeded;
    if (draft.audienceType === 'FILTERED' && !isComplete(draft.condition)) faults.condition = t.segments.incomplete;
  }
  if (step === 'sender') {
    if (!draft.fromLocal.trim()) faults.fromLocal = t.campaigns.fromNeeded;
    else if (!LOCAL_PART.test(draft.fromLocal.trim())) faults.fromLocal = t.campaigns.fromInvalid;
    if (!draft.fromDomain) faults.fromDomain = t.campaigns.noDomain;
    if (draft.replyTo.trim() && !ADDRESS.test(draft.replyTo.trim())) faults.replyTo = t.campaigns.replyToInvalid;
  }
  if (step === 'content') {
    if (!draft.email?.subject.trim()) faults.subject = t.campaigns.subjectNeeded;
    if (!draft.email) faults.email = t.campaigns.startNeeded;
    else if (draft.email.body?.trim() === '') faults.email = t.campaigns.bodyNeeded;
  }
  if (step === 'schedule') {
    if (draft.later && !(lastMoment(draft) > Date.now()))
      faults.sendAt = draft.byClocks ? t.timing.sendAtNeeded : t.campaigns.sendAtNeeded;
    const rate = draft.ratePerMinute;
    if (rate !== '' && !(Number.isInteger(rate) && rate >= 1 && rate <= MAX_RATE))
      faults.ratePerMinute = t.campaigns.rateInvalid(MAX_RATE);
    const start = draft.later && !draft.byClocks ? Date.parse(draft.sendAt) || Date.now() : Date.now();
    if (draft.sendUntil && new Date(draft.sendUntil).getTime() <= start) faults.sendUntil = t.campaigns.sendUntilNeeded;
  }
  return faults;
}
