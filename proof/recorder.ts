// What customers did and what they were answered, kept outside of the system under test.
import type { RecordedAnswer, RequestOutcome } from './client.ts';

export interface RecordedSend {
  to: string;
  outcome: RequestOutcome;
  /** The id of the mail, where the API answered with it. */
  emailId: string | undefined;
  /** With an Idempotency-Key, repeated until the outcome was known. */
  isKeyed: boolean;
}

export interface RecordedTrack {
  email: string;
  event: string;
  outcome: RequestOutcome;
  eventId: string | undefined;
}

export interface SteeredCampaign {
  id: string;
  group: string;
  /** Its recipients are those who receive the topic. */
  topicId?: string;
  /** What was asked and answered, in order. */
  actions: { name: 'send' | 'pause' | 'resume' | 'cancel'; reply: RecordedAnswer }[];
}

export interface RecordedImport {
  outcome: RequestOutcome;
  jobId: string | undefined;
  emails: string[];
}

export interface RecordedBulk {
  outcome: RequestOutcome;
  jobId: string | undefined;
  action: 'subscribe' | 'unsubscribe' | 'delete';
  contactIds: string[];
}

/** The choices of a contact about a topic are in the order in which they were made. */
export interface RecordedChoice {
  contactId: string;
  topicId: string;
  state: 'SUBSCRIBED' | 'UNSUBSCRIBED';
  outcome: RequestOutcome;
  /** Of the first request; it may have been repeated. */
  sentAt: number;
  answeredAt: number;
}

export interface RecordedSubmission {
  email: string;
  outcome: RequestOutcome;
}

/** What the owner of an address answered to the confirmation email. */
export interface RecordedConfirmation {
  kind: 'confirm' | 'decline' | 'none';
  outcome: RequestOutcome;
}

export class AnswerRecorder {
  readonly sends: RecordedSend[] = [];
  readonly tracks: RecordedTrack[] = [];
  readonly campaigns: SteeredCampaign[] = [];
  readonly imports: RecordedImport[] = [];
  readonly bulks: RecordedBulk[] = [];
  /** Ids of contacts whose deletion was answered with 2xx or 404. */
  readonly deleted = new Set<string>();
  /** The last `data.score` that was answered as stored; undefined where it is unknown. */
  readonly scores = new Map<string, number | undefined>();
  readonly choices: RecordedChoice[] = [];
  readonly submissions: RecordedSubmission[] = [];
  /** By address. */
  readonly confirmations = new Map<string, RecordedConfirmation>();
  readonly publications: { workflowId: string; version: number }[] = [];
  /** Operations by kind and outcome. */
  readonly operations = new Map<string, Record<RequestOutcome, number>>();
  /** Answers that no client should get: status and path. */
  readonly unexpected = new Map<string, number>();

  count(operation: string, outcome: RequestOutcome): void {
    const counts = this.operations.get(operation) ?? { accepted: 0, rejected: 0, unknown: 0 };
    counts[outcome]++;
    this.operations.set(operation, counts);
  }

  /** 503 is the honest answer while Postgres is away; every other 5xx is a fault of the program. */
  answered({ status, body }: RecordedAnswer, path: string): void {
    if (status === undefined || status < 500 || status === 503) return;
    const key = `${status} ${path.replace(/[0-9a-f-]{36}/g, ':id')} ${(JSON.stringify(body) ?? '').slice(0, 200)}`;
    this.unexpected.set(key, (this.unexpected.get(key) ?? 0) + 1);
  }
}
