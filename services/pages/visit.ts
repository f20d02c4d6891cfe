import { createHash } from 'node:crypto';
import type { Db } from '../../db/connect.ts';
import type { TopicKind, TopicState, TopicTranslation, TopicVisibility } from '../../db/models/topic.ts';
import { statement } from '../../db/statement.ts';
import { type Language, languageOf } from '../../platform/languages.ts';
import type { PageToken } from '../emails/links.ts';
import type { Frequency } from '../topics/choices.ts';
import { type TopicTexts, topicTexts } from '../topics/texts.ts';

/** A topic as a page shows it. */
export interface ShownTopic extends TopicTexts {
  id: string;
  key: string;
  kind: TopicKind;
  archived: boolean;
  state: TopicState;
  isJoined: boolean;
  /** Names the texts and their language: a page that shows others was rendered before a change. */
  version: string;
}

/** What the pages of a contact show. */
export interface PageVisit {
  projectId: string;
  contactId: string;
  emailId: string;
  email: string;
  sender: string;
  language: Language;
  subscribed: boolean;
  snoozedUntil: Date | null;
  frequency: Frequency | null;
  campaignId: string | null;
  workflowId: string | null;
  /** That of the email whose link was used; undefined for email without one, and where it was deleted. */
  topic: ShownTopic | undefined;
  /** By position: public ones, and those that the contact gets, has chosen or came from. */
  topics: ShownTopic[];
}

interface VisitRow {
  projectId: string;
  email: string;
  subscribed: boolean;
  snoozedUntil: Date | null;
  frequency: Frequency | null;
  locale: unknown;
  sender: string;
  language: string;
  campaignId: string | null;
  workflowId: string | null;
  topicId: string | null;
}

// The signed token names the contact.
const readVisit = statement<VisitRow>(
  'page-visit',
  `select c.project_id, c.email, c.subscribed, c.snoozed_until, c.frequency, c.data -> 'locale' as locale,
     coalesce(g.sender_name, p.name) as sender, p.language, e.campaign_id, e.workflow_id,
     coalesce(k.topic_id, e.topic_id) as topic_id
   from contacts c
   join projects p on p.id = c.project_id
   left join project_pages g on g.project_id = c.project_id
   left join emails e on e.id = $2 and e.project_id = c.project_id
   left join campaigns k on k.id = e.campaign_id and k.project_id = c.project_id
   where c.id = $1`,
);

interface TopicRow {
  id: string;
  key: string;
  kind: TopicKind;
  name: string;
  description: string;
  consentText: string;
  translations: Record<string, TopicTranslation>;
  archived: boolean;
  visibility: TopicVisibility;
  state: TopicState;
  isChosen: boolean;
}

// What the service set to UNSUBSCRIBED, the contact has not chosen.
const readTopics = statement<TopicRow>(
  'page-topics',
  `select t.id, t.key, t.kind, t.name, t.description, t.consent_text, t.translations, t.archived, t.visibility,
     topic_state($1, t.id, c.id, c.created_at) as state,
     ct.topic_id is not null and (ct.state <> 'UNSUBSCRIBED' or ct.withdrawn_at is not null) as is_chosen
   from contacts c join topics t on t.project_id = c.project_id
   left join contact_topics ct on ct.project_id = c.project_id and ct.contact_id = c.id and ct.topic_id = t.id
   where c.project_id = $1 and c.id = $2 order by t.position, t.id`,
);

/** Returns what the pages of the token show; undefined once the contact is deleted. */
export async function readPage(db: Db, { contactId, emailId }: PageToken): Promise<PageVisit | undefined> {
  const [row] = await readVisit(db, [contactId, emailId]);
  if (!row) return undefined;
  const { locale, language: projectLanguage, topicId, ...visit } = row;
  const language = languageOf(locale, projectLanguage);
  const topics = (await readTopics(db, [visit.projectId, contactId])).map((topic) => ({
    topic,
    shown: show(topic, language, topicTexts(topic, locale, projectLanguage)),
  }));
  return {
    ...visit,
    snoozedUntil: visit.snoozedUntil && visit.snoozedUntil > new Date() ? visit.snoozedUntil : null,
    contactId,
    emailId,
    language,
    topic: topics.find(({ topic }) => topic.id === topicId)?.shown,
    topics: topics.flatMap(({ topic, shown }) => (isShown(topic, topicId) ? [shown] : [])),
  };
}

const isShown = ({ id, archived, visibility, state, isChosen }: TopicRow, topicId: string | null): boolean =>
  !archived && (visibility === 'PUBLIC' || state === 'SUBSCRIBED' || isChosen || id === topicId);

const show = ({ id, key, kind, archived, state }: TopicRow, language: Language, texts: TopicTexts): ShownTopic => ({
  ...texts,
  id,
  key,
  kind,
  archived,
  state,
  isJoined: state === 'SUBSCRIBED',
  version: createHash('sha256')
    .update(JSON.stringify([language, shownText(texts)]))
    .digest('base64url')
    .slice(0, 12),
});

/** The wording of a topic on a page, as consent records keep it. */
export const shownText = ({ name, description, consentText }: TopicTexts): string =>
  [name, description, consentText].filter(Boolean).join('\n');
