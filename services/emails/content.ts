import type { Db } from '../../db/connect.ts';
import { type ContactInMail, contactInMail } from '../../db/models/contact.ts';
import type { Email } from '../../db/models/email.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { statement } from '../../db/statement.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import { messageId } from '../../platform/mime/compose.ts';
import { plainMail, type Renderer, type RenderItem } from '../../platform/templates/index.ts';
import type { Data } from '../contacts/data.ts';
import { footerFor } from '../templates/footer.ts';
import { placeholderLinks } from '../templates/render.ts';
import { confirmationVariables, variablesOf } from '../templates/variables.ts';
import { type MailTopic, mailTopic, topicName } from '../topics/in-mail.ts';
import { bulkHeaders, listIdOf } from './bulk-headers.ts';

/** A mail as it was sent, as far as that is known. */
export interface ShownContent {
  subject: string;
  html: string;
  text: string;
  headers: Record<string, string>;
  /** It was rendered again with the present data of the contact. */
  reproduced: boolean;
  /** The contact that it was rendered for. */
  contactId: string;
}

/** What is stored of a mail: its templates and the values of its request. */
interface StoredContent {
  id: string;
  projectId: string;
  contactId: string;
  campaignId: string | null;
  sourceType: Email['sourceType'];
  sentAt: Date | null;
  subject: string;
  renderedSubject: string | null;
  html: string | null;
  type: TemplateType;
  toEmail: string | null;
  toName: string | null;
  fromEmail: string;
  fromName: string | null;
  replyTo: string | null;
  variables: Data | null;
  headers: Record<string, string> | null;
  language: string | null;
  contact: ContactInMail | null;
  submissionId: string | null;
  topic: MailTopic | null;
}

// Campaign mail takes its content from the campaign.
const read = statement<StoredContent>(
  'email-content',
  `select e.id, e.project_id, e.contact_id, e.campaign_id, e.source_type, e.sent_at,
     coalesce(c.subject, k.subject) as subject, coalesce(c.rendered_subject, e.rendered_subject) as rendered_subject,
     coalesce(b.html, k.body) as html, coalesce(c.type, k.type) as type, coalesce(c.to_email, e.to_email) as to_email,
     c.to_name, coalesce(c.from_email, k.from_email) as from_email, coalesce(c.from_name, k.from_name) as from_name,
     coalesce(c.reply_to, k.reply_to) as reply_to, c.variables, b.headers, p.language, e.submission_id,
     ${contactInMail('t')} as contact, ${mailTopic('o')} as topic
   from emails e
   left join email_contents c on c.email_id = e.id
   left join email_bodies b on b.id = c.body_id and b.project_id = e.project_id
   left join campaigns k on k.id = e.campaign_id
   left join contacts t on t.id = e.contact_id and t.project_id = e.project_id
   left join projects p on p.id = e.project_id
   left join topics o on o.id = coalesce(k.topic_id, e.topic_id) and o.project_id = e.project_id
   where e.id = $2 and e.project_id = $1`,
);

/** Reads what is stored. Answers 410 when retention or the deletion of the contact has removed it. */
async function storedContentOf(db: Db, projectId: string, id: string): Promise<StoredContent & { html: string }> {
  const [row] = await read(db, [projectId, id]);
  if (!row) throw notFound('email');
  const { html, campaignId, contact } = row;
  if (html === null || (campaignId !== null && contact === null))
    throw new ApiError(410, 'RESOURCE_NOT_FOUND', 'The content of this email is no longer stored.', {
      suggestion: 'Content is kept for EMAIL_BODY_RETENTION_DAYS days, and erased with its contact.',
    });
  return { ...row, html };
}

export interface ContentDeps {
  db: Db;
  renderer: Pick<Renderer, 'render'>;
  settings: { baseUrl: string };
}

/** Returns the content of a mail, without tracking and without links that act for its recipient. */
export async function readMailContent({ db, renderer, settings }: ContentDeps, projectId: string, id: string) {
  const stored = await storedContentOf(db, projectId, id);
  const item = itemOf(stored, settings.baseUrl);
  const { subject, html } = stored;
  const [rendered] = await renderer.render({ subject, html, items: [item] });
  const mail = rendered?.ok
    ? rendered
    : { ...plainMail({ subject, html: html + (item.footer ?? '') }, item), text: '' };
  const shown = stored.renderedSubject ?? mail.subject;
  const content: ShownContent = {
    subject: shown,
    html: mail.html,
    text: mail.text,
    headers: headersOf(stored, shown, item),
    reproduced: isTemplate(html) || item.footer !== undefined || (isTemplate(subject) && !stored.renderedSubject),
    contactId: stored.contactId,
  };
  return content;
}

const isTemplate = (text: string): boolean => /\{[{%]/.test(text);

function itemOf(stored: StoredContent & { html: string }, baseUrl: string): RenderItem {
  const { contactId: id, contact, toEmail, variables: passing, topic, type } = stored;
  if (stored.submissionId)
    return confirmationVariables(passing, {
      confirmUrl: `${baseUrl}/confirm/preview`,
      declineUrl: `${baseUrl}/decline/preview`,
      ...placeholderLinks(baseUrl),
    });
  const language = stored.language ?? 'en';
  const { email = toEmail ?? '', subscribed = false, created_at = 0, data = {} } = contact ?? {};
  const name = topic ? topicName(topic, passing?.locale ?? data.locale, language) : undefined;
  const variables = variablesOf({
    contact: { id, email, subscribed, createdAt: new Date(created_at), data },
    ...(passing && { passing }),
    links: placeholderLinks(baseUrl),
    topicName: name,
    language,
    ...(stored.sourceType === 'WORKFLOW' && { event: passing?.event }),
  });
  if (type !== 'MARKETING') return variables;
  return { ...variables, footer: footerFor(variables.data.locale, language, stored.html, name) };
}

const named = (email: string, name: string | null): string => (name ? `${name} <${email}>` : email);

function headersOf(stored: StoredContent, subject: string, { builtIn }: RenderItem): Record<string, string> {
  const { id, projectId, campaignId, fromEmail: from, replyTo, sentAt, contact, topic } = stored;
  return {
    From: named(from, stored.fromName),
    To: named(stored.toEmail ?? contact?.email ?? '', stored.toName),
    Subject: subject,
    'Message-ID': messageId({ id, from: { email: from } }),
    ...(sentAt && { Date: sentAt.toUTCString() }),
    ...(replyTo && { 'Reply-To': replyTo }),
    ...(topic && { 'List-Id': listIdOf({ projectId, from, topic: topic.key }) }),
    ...(campaignId && bulkHeaders({ projectId, campaignId, from, topic: topic?.key })),
    ...((stored.type === 'MARKETING' || topic) && {
      'List-Unsubscribe': `<${builtIn.unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    }),
    ...stored.headers,
  };
}
