// What a submission asks for, together with its form or its topic.
import type { Db } from '../../db/connect.ts';
import type { FormTranslation } from '../../db/models/form.ts';
import { Topic, type TopicConfirmation, type TopicKind } from '../../db/models/topic.ts';
import { statement } from '../../db/statement.ts';
import { EXPIRY_HOURS, REMINDER_HOURS } from '../topics/confirmation.ts';
import { topicTexts, translationsIn } from '../topics/texts.ts';
import type { ConfirmationRequest } from './confirmation-email.ts';
import type { ConfirmationKind } from './email-texts.ts';

export const submissionStatuses = [
  'RECEIVED',
  'PENDING',
  'CONFIRMED',
  'DECLINED',
  'EXPIRED',
  'ALREADY',
  'REFUSED',
] as const;
export type SubmissionStatus = (typeof submissionStatuses)[number];
export const refusalReasons = ['throttled', 'suppressed', 'declined before', 'disposable', 'no mail server'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** A row of form_submissions with what it needs of its form. */
export interface Submission {
  id: string;
  projectId: string;
  projectName: string;
  formId: string | null;
  formName: string | null;
  topicIds: string[];
  addressHash: Buffer;
  email: string | null;
  status: SubmissionStatus;
  contactId: string | null;
  locale: string | null;
  sentAt: Date | null;
  lastSentAt: Date | null;
  remindedAt: Date | null;
  expiresAt: Date | null;
  createdAt: Date;
  doubleOptIn: boolean | null;
  blockDisposable: boolean | null;
  from: string | null;
  fromName: string | null;
  templateId: string | null;
  reminderAfterHours: number | null;
  expiresAfterHours: number | null;
  deletedAt: Date | null;
  translations: Record<string, FormTranslation> | null;
}

const COLUMNS = `s.id, s.project_id, p.name as project_name, s.form_id, f.name as form_name, s.topic_ids, s.address_hash,
  s.email, s.status, s.contact_id, s.context ->> 'locale' as locale, s.sent_at, s.last_sent_at, s.reminded_at, s.expires_at,
  s.created_at, f.double_opt_in, f.block_disposable, f.from_email as from, f.from_name,
  f.confirmation_template_id as template_id, f.reminder_after_hours, f.expires_after_hours, f.deleted_at,
  f.translations`;
const JOINS = `form_submissions s join projects p on p.id = s.project_id
  left join forms f on f.id = s.form_id and f.project_id = s.project_id`;

/** SQL: the submissions of a condition. */
export const selectSubmissions = (condition: string): string => `select ${COLUMNS} from ${JOINS} where ${condition}`;

const lock = statement<Submission>(
  'submission-lock',
  `${selectSubmissions('s.project_id = $1 and s.id = $2')} for update of s skip locked`,
);

/** Locks a submission; undefined where another transaction has it. */
export async function lockSubmission(trx: Db, projectId: string, id: string): Promise<Submission | undefined> {
  const [row] = await lock(trx, [projectId, id]);
  return row;
}

export interface AskedTopic {
  id: string;
  key: string;
  name: string;
  /** Shown with the choice. */
  consentText: string;
  kind: TopicKind;
  archived: boolean;
  doubleOptIn: boolean;
  confirmation: TopicConfirmation | null;
}

/** Returns the topics by position, named in the language of the visitor. */
export async function topicsOf(
  db: Db,
  { projectId, topicIds, locale }: Pick<Submission, 'projectId' | 'topicIds' | 'locale'>,
): Promise<AskedTopic[]> {
  if (topicIds.length === 0) return [];
  const topics = await Topic.query(db).where({ projectId }).whereIn('id', topicIds).orderBy('position').orderBy('id');
  return topics.map((topic) => {
    const { id, key, kind, archived, doubleOptIn, confirmation } = topic;
    const { name, consentText } = topicTexts(topic, locale);
    return { id, key, name, consentText, kind, archived, doubleOptIn, confirmation };
  });
}

/** Returns the name of a form in a language, else as it was written. */
export const formNameIn = (
  { name, translations }: { name: string; translations: Record<string, FormTranslation> },
  locale: string | null,
): string => translationsIn(translations, locale).find((texts) => texts.name)?.name ?? name;

/** Hours, sender and texts of the confirmation: those of the form, else of the topic, by default as for forms. */
export function confirmationOf(
  submission: Submission & { email: string },
  topics: AskedTopic[],
  kind: ConfirmationKind,
): ConfirmationRequest & { reminderAfterHours: number | null; expiresAfterHours: number } {
  const { projectId, id, email, locale, formId, contactId } = submission;
  const of = formId === null ? topics[0]?.confirmation : submission;
  return {
    projectId,
    submissionId: id,
    email,
    contactId,
    kind,
    locale,
    formName: formNameIn(
      { name: submission.formName ?? submission.projectName, translations: submission.translations ?? {} },
      locale,
    ),
    topicNames: topics.map(({ name }) => name),
    templateId: of?.templateId ?? null,
    from: of?.from ?? null,
    fromName: of?.fromName ?? null,
    reminderAfterHours: of ? of.reminderAfterHours : REMINDER_HOURS,
    expiresAfterHours: of?.expiresAfterHours ?? EXPIRY_HOURS,
  };
}
