import type { Db } from '../../db/connect.ts';
import type { TopicTranslation } from '../../db/models/topic.ts';
import { statement } from '../../db/statement.ts';
import { topicTexts } from './texts.ts';

/** The topic of an email, as far as the email shows it. */
export interface MailTopic {
  key: string;
  name: string;
  translations: Record<string, TopicTranslation>;
}

/** A column with the topic of the alias; null without one. */
export const mailTopic = (alias: string): string =>
  `case when ${alias}.id is not null then jsonb_build_object('key', ${alias}.key, 'name', ${alias}.name,
     'translations', ${alias}.translations) end`;

const read = statement<MailTopic>(
  'topic-in-mail',
  'select key, name, translations from topics where project_id = $1 and id = $2',
);

/** Returns undefined for email without a topic, and for a topic that is deleted. */
export async function findMailTopic(db: Db, projectId: string, id: string | null): Promise<MailTopic | undefined> {
  const [topic] = id === null ? [] : await read(db, [projectId, id]);
  return topic;
}

/** The name in the contact's language, else in the project's, else as it was written. */
export const topicName = (topic: MailTopic, locale: unknown, projectLanguage: string): string =>
  topicTexts({ ...topic, description: '', consentText: '' }, locale, projectLanguage).name;
