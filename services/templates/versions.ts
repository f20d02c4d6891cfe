import type { Db } from '../../db/connect.ts';
import type { Template, TemplateType } from '../../db/models/template.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { notFound } from '../../platform/errors.ts';
import type { Actor } from '../audit/record.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { findTemplate } from './find.ts';

/** What a template was when it was saved. */
export interface TemplateVersion {
  version: number;
  savedAt: Date;
  /** The address of the user; null when it was saved with a key, or the user is gone. */
  savedBy: string | null;
  name: string;
  description: string | null;
  subject: string;
  body: string;
  fromEmail: string | null;
  fromName: string | null;
  replyTo: string | null;
  type: TemplateType;
}

const KEPT = 50;

/** Stores the template as it is now as its newest version, and drops the oldest. */
export async function storeVersion(trx: Db, template: Template, actor?: Actor): Promise<void> {
  const { id, projectId, version, name, description, subject, body, fromEmail, fromName, replyTo, type } = template;
  const savedBy = actor?.type === 'USER' ? actor.id : null;
  const content = { name, description, subject, body, fromEmail, fromName, replyTo, type };
  await trx('templateVersions').insert({ templateId: id, projectId, version, ...content, savedBy });
  await trx('templateVersions')
    .where({ projectId, templateId: id })
    .where('version', '<=', version - KEPT)
    .del();
}

/** Returns the newest first, without the bodies. */
export async function listVersions(
  db: Db,
  projectId: string,
  templateId: string,
  keys: SigningKeys,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<CursorPage<TemplateVersion>> {
  await findTemplate(db, projectId, templateId);
  const boundTo = [projectId, 'template versions', templateId];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as number);
  const list = versions(db, projectId, templateId)
    .orderBy('v.version', 'desc')
    .limit(limit + 1);
  if (after !== undefined) list.where('v.version', '<', after);
  const [rows, [{ total = 0 } = {}]] = await Promise.all([
    list.select<TemplateVersion[]>('v.version', 'v.savedAt', 'u.email as savedBy', 'v.subject'),
    after === undefined ? db('templateVersions').where({ projectId, templateId }).count('* as total') : [{ total: 0 }],
  ]);
  return cutPage(rows, {
    limit,
    total: Number(total),
    cursorAfter: ({ version }) => signCursor(keys, boundTo, version),
  });
}

export async function findVersion(
  db: Db,
  projectId: string,
  templateId: string,
  version: number,
): Promise<TemplateVersion> {
  const found = await versions(db, projectId, templateId)
    .where('v.version', version)
    .first<TemplateVersion | undefined>('v.*', 'u.email as savedBy');
  if (!found) throw notFound('template version', 'TEMPLATE_NOT_FOUND');
  return found;
}

const versions = (db: Db, projectId: string, templateId: string) =>
  db('templateVersions as v')
    .leftJoin('users as u', 'u.id', 'v.savedBy')
    .where({ 'v.projectId': projectId, 'v.templateId': templateId });
