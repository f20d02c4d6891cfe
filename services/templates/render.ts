import type { Db } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import type { BrandKit } from '../../platform/mail-document/index.ts';
import { checkTemplate, plainMail, type Renderer, type RenderItem } from '../../platform/templates/index.ts';
import type { Data } from '../contacts/data.ts';
import { findContact } from '../contacts/find.ts';
import { checkContent, renderedColumns, requireNoBodyBeside } from '../mail-documents/content.ts';
import { requireTopicFor } from '../topics/find.ts';
import { topicName } from '../topics/in-mail.ts';
import { emailWarnings, type WarnedContent } from './email-warnings.ts';
import { footerFor } from './footer.ts';
import { variablesOf } from './variables.ts';
import type { EmailWarning } from './warnings.ts';

/** The texts to render, and the contact or the values to render them with; both together override the contact's data. */
export interface RenderRequest {
  subject?: string | undefined;
  body?: string | null | undefined;
  /** In place of the body; not validated yet. */
  document?: unknown;
  /** In place of the stored one, for the document. */
  brandKit?: BrandKit | undefined;
  /** The text part. Made from the body when it is missing. */
  text?: string | undefined;
  type?: TemplateType | undefined;
  topicId?: string | null | undefined;
  contactId?: string | undefined;
  data?: Data | undefined;
  locale?: string | undefined;
}

export interface RenderedPreview {
  subject: string;
  html: string;
  text: string;
  /** Bytes of the HTML. */
  size: number;
  faults: { part: 'subject' | 'body' | 'text'; line: number; column: number; message: string }[];
  warnings: EmailWarning[];
}

export interface RenderDeps {
  db: Db;
  renderer: Pick<Renderer, 'render'>;
  settings: { baseUrl: string };
}

const MAX_FAULTS = 50;
const SAMPLE_ADDRESS = 'someone@example.com';

/** The pages of a contact, for a mail that is only looked at: the links lead nowhere. */
export const placeholderLinks = (baseUrl: string) => ({
  unsubscribeUrl: `${baseUrl}/unsubscribe/preview`,
  unsubscribeAllUrl: `${baseUrl}/unsubscribe/preview?all=1`,
  subscribeUrl: `${baseUrl}/subscribe/preview`,
  manageUrl: `${baseUrl}/manage/preview`,
});

/** Renders a mail without sending or storing anything. */
export async function renderPreview(
  deps: RenderDeps,
  projectId: string,
  request: RenderRequest,
): Promise<RenderedPreview> {
  const { subject = '', text: textSource, type = 'TRANSACTIONAL', contactId, topicId, data = {}, locale } = request;
  const { db, renderer, settings } = deps;
  const content = await previewContent(db, projectId, request);
  const html = content.body;
  const contact = contactId === undefined ? undefined : await findContact(db, projectId, contactId);
  // An archived one too: what has it is still looked at.
  const topic = topicId ? await requireTopicFor(db, projectId, { id: topicId, type, before: topicId }) : undefined;
  const language = (await Project.query(db).findById(projectId).select('language'))?.language ?? 'en';
  const name = topic && topicName(topic, locale ?? data.locale ?? contact?.data.locale, language);
  const variables = variablesOf({
    contact: contact ?? { id: newId(), email: SAMPLE_ADDRESS, subscribed: true, createdAt: new Date(), data: {} },
    passing: { ...data, ...(locale !== undefined && { locale }) },
    links: placeholderLinks(settings.baseUrl),
    topicName: name,
    language,
  });
  const item: RenderItem =
    type === 'MARKETING' ? { ...variables, footer: footerFor(variables.data.locale, language, html, name) } : variables;
  const [mail, text] = await Promise.all([
    renderer.render({ subject, html, items: [item] }),
    textSource === undefined ? [] : renderer.render({ subject: '', html: textSource, plain: true, items: [variables] }),
  ]);
  const rendered = mail[0]?.ok ? mail[0] : undefined;
  const shown = rendered ?? { ...plainMail({ subject, html: html + (item.footer ?? '') }, item), text: '' };
  const textPart = textSource === undefined ? shown.text : text[0]?.ok ? text[0].html : textSource;
  const size = Buffer.byteLength(shown.html);
  const warn = (code: string, message: string): EmailWarning => ({ code, level: 'WARNING', message });
  const warnings = [
    ...(request.subject !== undefined && shown.subject === ''
      ? [warn('subject_empty', 'The subject is empty for this contact.')]
      : []),
    ...(await emailWarnings(db, projectId, {
      ...content,
      type,
      rendered: shown.html,
      values: variables.data,
      baseUrl: settings.baseUrl,
    })),
    ...[mail[0], text[0]].flatMap((result) =>
      result && !result.ok ? [warn('limit_exceeded', `Not rendered as a template: ${result.message}.`)] : [],
    ),
    ...(contact && !contact.subscribed && type !== 'TRANSACTIONAL'
      ? [warn('contact_unsubscribed', 'This contact is unsubscribed and would not receive the email.')]
      : []),
    ...(contact && topic && !(await receives(db, projectId, contact.id, topic.id))
      ? [warn('topic_not_received', 'This contact does not receive the topic and would not receive the email.')]
      : []),
  ];
  const faults = faultsOf({ subject, body: html, text: textSource ?? '' });
  return { subject: shown.subject, html: shown.html, text: textPart, size, faults, warnings };
}

const readState = statement<{ state: string }>(
  'render-topic-state',
  'select topic_state($1, $3, id, created_at) as state from contacts where project_id = $1 and id = $2',
);

async function receives(db: Db, projectId: string, contactId: string, topicId: string): Promise<boolean> {
  const [row] = await readState(db, [projectId, contactId, topicId]);
  return row?.state === 'SUBSCRIBED';
}

function faultsOf(parts: Record<'subject' | 'body' | 'text', string>): RenderedPreview['faults'] {
  return (['subject', 'body', 'text'] as const)
    .flatMap((part) => checkTemplate(parts[part]).map(({ line, column, message }) => ({ part, line, column, message })))
    .slice(0, MAX_FAULTS);
}

/** Returns the body to render, and the document that it is rendered from. */
async function previewContent(db: Db, projectId: string, given: RenderRequest): Promise<WarnedContent> {
  const { brandKit } = given;
  const content = checkContent(given);
  // The schema of the request requires a body or a document.
  if (!content) throw new Error('an email without content');
  if ('body' in content) return { body: content.body, document: null };
  requireNoBodyBeside(content);
  const { body } = await renderedColumns(db, projectId, content.document, { isPreview: true, kit: brandKit });
  return { body, document: content.document, cleaned: content.warnings, brandKit };
}
