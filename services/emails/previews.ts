import { lockName } from '../../db/advisory-lock.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { replaceLinks } from '../../platform/mime/html-links.ts';
import { readClickToken } from './tracked-links.ts';

// Rendered HTML is shown in a sandboxed frame from an address of its own, so that no script of a mail runs in the
// dashboard. See docs/decisions/templates.md.

interface PreviewSettings {
  baseUrl: string;
  secretKeys: SigningKeys;
}

export const PREVIEW_MINUTES = 60;
const MAX_PROJECT_BYTES = 50 * 1024 * 1024;
/** Small previews count as this much, which bounds their number. */
const MIN_BYTES = 4_096;

const uploadsAt = (baseUrl: string): string => `${baseUrl}/uploads/`;

/**
 * Allows neither scripts nor forms nor requests other than for images. Without HTTPS, as on a developer's machine, the
 * uploads of this installation are named, if the HTML shows one.
 */
export function previewPolicy(html: string, baseUrl: string): string {
  const uploads = uploadsAt(baseUrl);
  const own = uploads.startsWith('http:') && html.includes(uploads) ? ` ${uploads}` : '';
  return `sandbox; default-src 'none'; img-src https: data:${own}; style-src 'unsafe-inline'; frame-ancestors 'self'`;
}

const removeOldest = statement(
  'previews-remove-oldest',
  `delete from previews where project_id = $1 and id in (
     select id from (
       select id, sum(size) over (order by id desc) + $2 as bytes from previews where project_id = $1
     ) newest where bytes > $3)`,
);
const insert = statement(
  'preview-insert',
  'insert into previews (id, project_id, html, size, contact_id) values ($1, $2, $3, $4, $5)',
);
const find = statement<{ html: string }>(
  'preview-find',
  `select html from previews
   where project_id = $1 and id = $2 and created_at > now() - interval '${PREVIEW_MINUTES} minutes'`,
);
const removeOld = statement(
  'previews-remove-old',
  `delete from previews where created_at <= now() - interval '${PREVIEW_MINUTES} minutes'`,
);

/** Stores HTML without its tracking, until the contact is deleted, and returns its address. Drops the oldest above the limit. */
export async function storePreview(
  db: Db,
  settings: PreviewSettings,
  projectId: string,
  html: string,
  contactId?: string,
): Promise<string> {
  const id = newId();
  const inert = withoutActiveContent(withoutTracking(html, settings), settings.baseUrl);
  const size = Math.max(Buffer.byteLength(inert), MIN_BYTES);
  await inTransaction(db, async (trx) => {
    await lockName(trx, `previews/${projectId}`);
    await removeOldest(trx, [projectId, size, MAX_PROJECT_BYTES]);
    await insert(trx, [id, projectId, inert, size, contactId ?? null]);
  });
  return `${settings.baseUrl}/previews/${id}?projectId=${projectId}`;
}

/** Answers 404 after an hour. */
export async function findPreview(db: Db, projectId: string, id: string): Promise<string> {
  const [row] = await find(db, [projectId, id]);
  if (!row) throw notFound('preview');
  return row.html;
}

/** Housekeeping. */
export async function deleteOldPreviews(db: Db): Promise<void> {
  await removeOld(db);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Replaces tracked links with their targets and the pixel with nothing, so that looking at a mail counts nothing. */
export function withoutTracking(html: string, { baseUrl, secretKeys }: PreviewSettings): string {
  if (!html.includes('/t/')) return html;
  const prefix = `${baseUrl}/t/c/`;
  const untracked = replaceLinks(html, (target) =>
    target.startsWith(prefix) ? (readClickToken(secretKeys, target.slice(prefix.length))?.target ?? '#') : undefined,
  );
  const own = escaped(baseUrl);
  return untracked
    .replace(new RegExp(`${own}/t/o/[\\w.-]*`, 'gi'), 'data:,')
    .replace(new RegExp(`${own}/t/c/[\\w.-]*`, 'gi'), '#');
}

const ACTIVE_ELEMENTS = 'script|iframe|frame|object|embed|applet|base|link|meta[^>]*http-equiv';

/**
 * Removes scripts, what loads other documents, and images of other schemes. The policy stops them anyway; without this,
 * the browser's console reports every one of them, and a real fault is hard to find among them.
 */
export function withoutActiveContent(html: string, baseUrl: string): string {
  const foreignImage = new RegExp(
    `(<img\\b[^>]*?)\\ssrc\\s*=\\s*(?!["']?\\s*(?:https:|data:|${escaped(uploadsAt(baseUrl))}))(?:"[^"]*"|'[^']*'|[^\\s>]+)`,
    'gi',
  );
  return html
    .replace(/<script\b[\s\S]*?(?:<\/script\s*>|$)/gi, '')
    .replace(new RegExp(`</?(?:${ACTIVE_ELEMENTS})\\b[^>]*>`, 'gi'), '')
    .replace(/(<[a-z][^>]*?)\son[a-z]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, '$1')
    .replace(/(<[a-z][^>]*?\s(?:href|action)\s*=\s*["']?)\s*javascript:/gi, '$1#')
    .replace(foreignImage, '$1');
}
