import type { Db } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import type { Project } from '../../db/models/project.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { statement } from '../../db/statement.ts';
import { EncodedLineCache, type OutgoingMail } from '../../platform/smtp/mailer.ts';
import { fixedSubject, plainMail, type Renderer, type RenderItem } from '../../platform/templates/index.ts';
import type { Data } from '../contacts/data.ts';
import { footerFor } from '../templates/footer.ts';
import { variablesOf } from '../templates/variables.ts';
import { type DressedMail, dressHeaders, dressHtml } from './dress.ts';
import type { MailLinks } from './links.ts';

/** A rendered mail without its files; without content once that is erased. */
export interface PreparedMail {
  id: string;
  projectId: string | undefined;
  content: OutgoingMail | undefined;
  attachmentSet: string | null;
}

interface ContentRow {
  id: string;
  to_email: string;
  to_name: string | null;
  from_email: string;
  from_name: string | null;
  reply_to: string | null;
  subject: string;
  rendered_subject: string | null;
  html: string;
  type: TemplateType;
  variables: Data | null;
  headers: Record<string, string> | null;
  attachment_set: string | null;
  untracked: boolean;
  language: string | null;
  tracking: Project['tracking'] | null;
  project_id: string;
  source_type: Email['sourceType'];
  campaign_id: string | null;
  contact_id: string;
  contact: { email: string; subscribed: boolean; created_at: string; data: Data } | null;
}

const contents = statement<ContentRow>(
  'delivery-contents',
  `select e.id, c.to_email, c.to_name, c.from_email, c.from_name, c.reply_to, c.subject, c.rendered_subject, b.html,
     c.type, c.variables, b.headers, c.attachment_set, c.untracked, p.language, p.tracking, e.project_id, e.source_type,
     e.campaign_id, e.contact_id,
     case when k.id is not null then jsonb_build_object('email', k.email, 'subscribed', k.subscribed,
       'created_at', k.created_at, 'data', k.data) end as contact
   from unnest($1::uuid[]) as asked (id)
   join emails e on e.id = asked.id
   join email_contents c on c.email_id = e.id
   join email_bodies b on b.id = c.body_id and b.project_id = e.project_id
   left join contacts k on k.id = e.contact_id
   left join projects p on p.id = e.project_id`,
);

const keepSubjects = statement(
  'delivery-subjects',
  `update email_contents c set rendered_subject = made.subject
   from unnest($1::uuid[], $2::text[]) as made (id, subject) where c.email_id = made.id`,
);

export interface PrepareDeps {
  db: Db;
  renderer: Renderer;
  links: MailLinks;
}

/**
 * Reads and renders mails, those of one template together. Reports each mail as soon as it is ready, so that a slow
 * template delays only its own mails. Rejects when the database or the renderer is unavailable.
 */
export async function prepareMails(
  deps: PrepareDeps,
  ids: string[],
  ready: (mail: PreparedMail) => void,
): Promise<void> {
  const rows = await contents(deps.db, [ids]);
  const found = new Set(rows.map(({ id }) => id));
  for (const id of ids)
    if (!found.has(id)) ready({ id, projectId: undefined, content: undefined, attachmentSet: null });
  await Promise.all(byTemplate(rows).map((group) => renderGroup(deps, group, ready)));
}

function byTemplate(rows: ContentRow[]): ContentRow[][] {
  const groups = new Map<string, ContentRow[]>();
  for (const row of rows) {
    const key = `${templateSubject(row)}\n${row.html}`;
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()];
}

/** Those with nothing to render stay out of it: each may have its own, and they still are of one template. */
const templateSubject = ({ subject }: ContentRow): string => (fixedSubject(subject) === undefined ? subject : '');

async function renderGroup(
  { db, renderer, links }: PrepareDeps,
  rows: ContentRow[],
  ready: (mail: PreparedMail) => void,
): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const { html } = first;
  const subject = templateSubject(first);
  const items = rows.map((row) => itemOf(row, links));
  const results = await renderer.render({ subject, html, items });
  const mails = await Promise.all(
    rows.map(async (row, place) => {
      const [item, result] = [items[place] ?? itemOf(row, links), results[place]];
      const texts = result?.ok
        ? { ...result, subject: fixedSubject(row.subject) ?? result.subject }
        : await withoutTemplate(renderer, row, item);
      return { row, item, texts };
    }),
  );
  // Kept before anybody can ask what was sent. Most subjects have no variables, and cost nothing here.
  const made = mails.filter(({ row, texts }) => texts.subject !== (row.rendered_subject ?? row.subject));
  if (made.length > 0) await keepSubjects(db, [made.map(({ row }) => row.id), made.map(({ texts }) => texts.subject)]);
  const known = rows.length >= KIN ? new EncodedLineCache() : undefined;
  for (const { row, item, texts } of mails)
    ready({
      id: row.id,
      projectId: row.project_id,
      content: { ...contentOf(row, item, texts, links), known },
      attachmentSet: row.attachment_set,
    });
}

/** From so many on it pays to remember what they share. */
const KIN = 5;

interface Texts {
  subject: string;
  html: string;
  text?: string;
}

/** A template that asks for too much never fails a mail. */
async function withoutTemplate(renderer: Renderer, row: ContentRow, item: RenderItem): Promise<Texts> {
  const plain = plainMail({ subject: row.subject, html: row.html + (item.footer ?? '') }, item);
  // Nobody else's work: turning hostile HTML into text is for a process that may be killed for it.
  const [asText] = await renderer.render({
    subject: '',
    html: '{{ html | safe }}',
    items: [{ data: { html: plain.html }, builtIn: {} }],
  });
  return { ...plain, ...(asText?.ok && { text: asText.text }) };
}

/** What is rendered: the variables of a mail, and the footer where it has one. */
function itemOf(row: ContentRow, links: MailLinks): RenderItem {
  const { id: emailId, contact_id: id, contact, to_email, variables: passing, language, type } = row;
  const { email = to_email, subscribed = false, created_at = 0, data = {} } = contact ?? {};
  const variables = variablesOf({
    contact: { id, email, subscribed, createdAt: new Date(created_at), data },
    ...(passing && { passing }),
    links: links.contactLinks({ contactId: id, emailId }),
    language: language ?? 'en',
    // Of an execution: what it knows. Anybody else's is a field like any other.
    ...(row.source_type === 'WORKFLOW' && { event: passing?.event }),
  });
  if (type !== 'MARKETING') return variables;
  return { ...variables, footer: footerFor(variables.data.locale, language ?? 'en') };
}

function contentOf(row: ContentRow, item: RenderItem, { subject, html, text }: Texts, links: MailLinks): OutgoingMail {
  const mail: DressedMail = {
    id: row.id,
    projectId: row.project_id,
    type: row.type,
    from: row.from_email,
    tracking: row.tracking,
    untracked: row.untracked,
    headers: row.headers,
    unsubscribeUrl: String(item.builtIn.unsubscribeUrl),
  };
  return {
    id: row.id,
    from: { email: row.from_email, name: row.from_name },
    to: { email: row.to_email, name: row.to_name },
    replyTo: row.reply_to,
    subject,
    html: dressHtml(links, mail, html),
    ...(text && { text }),
    ...dressHeaders(links, mail, html),
  };
}
