import type { Actor } from '../audit/record.ts';
import type { ProjectAccess } from './keys.ts';

export const consentMethods = [
  'FORM',
  'PAGE',
  'ONE_CLICK',
  'API',
  'IMPORT',
  'WORKFLOW',
  'MEMBER',
  'BOUNCE',
  'COMPLAINT',
  'SYSTEM',
] as const;
export type ConsentMethod = (typeof consentMethods)[number];

/** What a caller gives as proof of a consent that it has obtained. */
export interface ConsentEvidence {
  at?: string | undefined;
  ip?: string | undefined;
  source?: string | undefined;
  text?: string | undefined;
  note?: string | undefined;
}

/** Who changes a subscription and how, as the database functions `write_consent` and `choose_topics` read it. */
export interface ConsentContext {
  method: ConsentMethod;
  actor?: Pick<Actor, 'type' | 'id'>;
  requestId?: string | null;
  ip?: string | undefined;
  userAgent?: string | undefined;
  /** Of a page: for the event, not for the record. */
  userAgentClass?: string;
  /** Without the token. */
  pageUrl?: string;
  locale?: string;
  /** What was shown. */
  text?: string;
  emailId?: string;
  campaignId?: string | null;
  workflowId?: string | null;
  evidence?: ConsentEvidence;
  /** The job that writes it; confirmations of jobs go out at a limited rate. */
  jobId?: string;
  /** The caller proves consent, which subscribes a contact and is not consent to the other topics. */
  consent?: true;
  /** The request has just created the contact. */
  isNew?: true;
  /** The mailbox is proven, so a topic with doubleOptIn needs no confirmation. */
  proven?: true;
}

/** The context of a request with a key or a session. */
export function consentContextOf({ actor }: Pick<ProjectAccess, 'actor'>): ConsentContext {
  if (!actor || actor.type === 'SYSTEM') return { method: 'SYSTEM' };
  const { type, id, requestId } = actor;
  return { method: type === 'USER' ? 'MEMBER' : 'API', actor: { type, id }, requestId };
}

/** The data of the event of a changed subscription, with who changed it: `write_contact` keeps the second apart. */
export const withConsent = (consent: ConsentContext, data: object = {}): string => JSON.stringify({ ...data, consent });
