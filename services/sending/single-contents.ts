import type { Db } from '../../db/connect.ts';
import { type ContactInMail, contactInMail } from '../../db/models/contact.ts';
import type { Email } from '../../db/models/email.ts';
import type { Project } from '../../db/models/project.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { plainArray, statement } from '../../db/statement.ts';
import { fixedSubject, type RenderItem } from '../../platform/templates/index.ts';
import type { Data } from '../contacts/data.ts';
import { type MailLinks, withAllLink } from '../emails/links.ts';
import { footerFor } from '../templates/footer.ts';
import { confirmationVariables, variablesOf } from '../templates/variables.ts';
import { type MailTopic, mailTopic, topicName } from '../topics/in-mail.ts';

/** The content of a transactional or workflow mail. */
export interface ContentRow {
  id: string;
  toEmail: string;
  toName: string | null;
  fromEmail: string;
  fromName: string | null;
  replyTo: string | null;
  subject: string;
  renderedSubject: string | null;
  bodyId: string;
  html: string;
  type: TemplateType;
  variables: Data | null;
  headers: Record<string, string> | null;
  attachmentSet: string | null;
  attachmentBytes: number | null;
  untracked: boolean;
  language: string | null;
  tracking: Project['tracking'] | null;
  projectId: string;
  sourceType: Email['sourceType'];
  contactId: string;
  contact: ContactInMail | null;
  submissionId: string | null;
  topic: MailTopic | null;
}

// Reads a body once for all mails that share it: it may be a megabyte.
const readRows = statement<ContentRow & { html: string | null }>(
  'single-contents',
  `select e.id, c.to_email, c.to_name, c.from_email, c.from_name, c.reply_to, c.subject, c.rendered_subject, c.body_id,
     case when row_number() over (partition by c.body_id) = 1 then b.html end as html, b.headers,
     c.type, c.variables, c.attachment_set, c.untracked, p.language, p.tracking, e.project_id, e.source_type, e.contact_id, e.submission_id,
     case when c.attachment_set is not null then (
       select sum(octet_length(a.content))::integer from email_attachments a where a.set_id = c.attachment_set
     ) end as attachment_bytes,
     ${contactInMail('k')} as contact, ${mailTopic('t')} as topic
   from unnest((select $1::uuid[])) as asked (id)
   join emails e on e.id = asked.id
   join email_contents c on c.email_id = e.id
   join email_bodies b on b.id = c.body_id and b.project_id = e.project_id
   left join contacts k on k.id = e.contact_id
   left join projects p on p.id = e.project_id
   left join topics t on t.id = e.topic_id and t.project_id = e.project_id`,
);

/** Reads the contents of mails. Those whose content is erased are left out. */
export async function readContents(db: Db, ids: string[]): Promise<ContentRow[]> {
  const rows = await readRows(db, [plainArray(ids)]);
  const bodies = new Map<string, string>();
  for (const { bodyId, html } of rows) if (html !== null) bodies.set(bodyId, html);
  for (const row of rows) row.html = bodies.get(row.bodyId) ?? '';
  return rows;
}

/** Mails of one template are rendered together. */
export function groupByTemplate(rows: ContentRow[]): ContentRow[][] {
  const groups = new Map<string, ContentRow[]>();
  for (const row of rows) {
    const key = `${row.bodyId} ${templateSubject(row)}`;
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()];
}

/** Empty for a subject without template tags, so that mails with different ones can still share a template. */
export const templateSubject = ({ subject }: ContentRow): string =>
  fixedSubject(subject) === undefined ? subject : '';

/** Returns the input of rendering: the variables, and the footer of MARKETING mail. */
export function renderItem(row: ContentRow, links: MailLinks): RenderItem {
  const { id: emailId, contactId: id, contact, toEmail, variables: passing, topic, type, submissionId } = row;
  const language = row.language ?? 'en';
  if (submissionId)
    return confirmationVariables(passing, {
      ...links.confirmationLinks({ submissionId, emailId }),
      ...(contact && links.contactLinks({ contactId: id, emailId })),
    });
  const { email = toEmail, subscribed = false, created_at = 0, data = {} } = contact ?? {};
  const name = topic ? topicName(topic, passing?.locale ?? data.locale, language) : undefined;
  const variables = variablesOf({
    contact: { id, email, subscribed, createdAt: new Date(created_at), data },
    ...(passing && { passing }),
    links: withAllLink(links.contactLinks({ contactId: id, emailId })),
    topicName: name,
    language,
    // The event of an execution. In other mail a variable of this name is like any other.
    ...(row.sourceType === 'WORKFLOW' && { event: passing?.event }),
  });
  if (type !== 'MARKETING') return variables;
  return { ...variables, footer: footerFor(variables.data.locale, language, row.html, name) };
}
