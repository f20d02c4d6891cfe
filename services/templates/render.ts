import type { Db } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { newId } from '../../platform/ids.ts';
import { checkTemplate, plainMail, type Renderer, type RenderItem } from '../../platform/templates/index.ts';
import type { Data } from '../contacts/data.ts';
import { findContact } from '../contacts/find.ts';
import { footerFor } from './footer.ts';
import { variablesOf } from './variables.ts';

/** The texts to render, and the contact or the values to render them with; both together override the contact's data. */
export interface RenderRequest {
  subject?: string | undefined;
  body: string;
  /** The text part. Made from the body when it is missing. */
  text?: string | undefined;
  type?: TemplateType | undefined;
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
  warnings: { code: string; message: string }[];
}

export interface RenderDeps {
  db: Db;
  renderer: Pick<Renderer, 'render'>;
  settings: { baseUrl: string };
}

const MAX_FAULTS = 50;
/** Gmail shows no more of a mail. */
const CLIPPED_BYTES = 102 * 1024;
const SAMPLE_ADDRESS = 'someone@example.com';

/** The pages of a contact, for a mail that is only looked at: the links lead nowhere. */
export const placeholderLinks = (baseUrl: string) => ({
  unsubscribeUrl: `${baseUrl}/unsubscribe/preview`,
  subscribeUrl: `${baseUrl}/subscribe/preview`,
  manageUrl: `${baseUrl}/manage/preview`,
});

/** Renders a mail without sending or storing anything. */
export async function renderPreview(
  deps: RenderDeps,
  projectId: string,
  request: RenderRequest,
): Promise<RenderedPreview> {
  const { subject = '', body: html, text: textSource, type = 'TRANSACTIONAL', contactId, data = {}, locale } = request;
  const { db, renderer, settings } = deps;
  const contact = contactId === undefined ? undefined : await findContact(db, projectId, contactId);
  const language = (await Project.query(db).findById(projectId).select('language'))?.language ?? 'en';
  const variables = variablesOf({
    contact: contact ?? { id: newId(), email: SAMPLE_ADDRESS, subscribed: true, createdAt: new Date(), data: {} },
    passing: { ...data, ...(locale !== undefined && { locale }) },
    links: placeholderLinks(settings.baseUrl),
    language,
  });
  const item: RenderItem =
    type === 'MARKETING' ? { ...variables, footer: footerFor(variables.data.locale, language) } : variables;
  const [mail, text] = await Promise.all([
    renderer.render({ subject, html, items: [item] }),
    textSource === undefined ? [] : renderer.render({ subject: '', html: textSource, plain: true, items: [variables] }),
  ]);
  const rendered = mail[0]?.ok ? mail[0] : undefined;
  const shown = rendered ?? { ...plainMail({ subject, html: html + (item.footer ?? '') }, item), text: '' };
  const textPart = textSource === undefined ? shown.text : text[0]?.ok ? text[0].html : textSource;
  const size = Buffer.byteLength(shown.html);
  const warnings = [
    ...warningsOf(request, { subject: shown.subject, html: shown.html, size }),
    ...[mail[0], text[0]].flatMap((result) =>
      result && !result.ok
        ? [{ code: 'limit_exceeded', message: `Not rendered as a template: ${result.message}.` }]
        : [],
    ),
    ...(contact && !contact.subscribed && type !== 'TRANSACTIONAL'
      ? [{ code: 'contact_unsubscribed', message: 'This contact is unsubscribed and would not receive the email.' }]
      : []),
  ];
  const faults = faultsOf({ subject, body: html, text: textSource ?? '' });
  return { subject: shown.subject, html: shown.html, text: textPart, size, faults, warnings };
}

function faultsOf(parts: Record<'subject' | 'body' | 'text', string>): RenderedPreview['faults'] {
  return (['subject', 'body', 'text'] as const)
    .flatMap((part) => checkTemplate(parts[part]).map(({ line, column, message }) => ({ part, line, column, message })))
    .slice(0, MAX_FAULTS);
}

function warningsOf(
  { subject: given, body, type }: RenderRequest,
  { subject, html, size }: Pick<RenderedPreview, 'subject' | 'html' | 'size'>,
): RenderedPreview['warnings'] {
  const warnings: RenderedPreview['warnings'] = [];
  if (given !== undefined && subject === '')
    warnings.push({ code: 'subject_empty', message: 'The subject is empty for this contact.' });
  if (size > CLIPPED_BYTES)
    warnings.push({ code: 'html_large', message: 'The HTML is larger than 102 KB. Gmail clips it.' });
  if (/<img\b[^<>]*\ssrc=["']?http:/i.test(html))
    warnings.push({ code: 'insecure_image', message: 'An image has an http: URL. Many email clients block it.' });
  if (type === 'HEADLESS' && !/unsubscribeUrl|manageUrl/.test(body))
    warnings.push({ code: 'unsubscribe_missing', message: 'The body has no unsubscribe link.' });
  return warnings;
}
