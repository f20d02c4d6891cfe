import type { Db } from '../../db/connect.ts';
import { type Template, type TemplateType, TemplateVersionRow } from '../../db/models/template.ts';
import { statement } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { notFound } from '../../platform/errors.ts';
import type { MailDocument } from '../../platform/mail-document/index.ts';
import { type Actor, userIdOf } from '../audit/record.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { findTemplate } from './find.ts';

/** What a template was when it was saved. */
export interface TemplateVersion {
  version: number;
  savedAt: Date;
  /** The address of the user; SYSTEM for a RENDER job; null when it was saved with a key, or the user is gone. */
  savedBy: string | null;
  name: string;
  description: string | null;
  subject: string;
  body: string;
  /** What the body was rendered from; null for a body that was written as HTML. */
  document: MailDocument | null;
  rendererVersion: number | null;
  fromEmail: string | null;
  fromName: string | null;
  replyTo: string | null;
  type: TemplateType;
}

export type ListedTemplateVersion = Pick<TemplateVersion, 'version' | 'savedAt' | 'savedBy' | 'subject'>;

const KEPT = 50;

/** Stores the template as it is now as its newest version, and drops the oldest. */
export async function storeVersion(trx: Db, template: Template, actor?: Actor): Promise<void> {
  const { id, projectId, version, name, description, subject, body, fromEmail, fromName, replyTo, type } = template;
  const { document, rendererVersion } = template;
  const content = { name, description, subject, body, fromEmail, fromName, replyTo, type, rendererVersion };
  await TemplateVersionRow.query(trx).insert({
    templateId: id,
    projectId,
    version,
    ...content,
    document,
    savedBy: userIdOf(actor),
    savedBySystem: actor?.type === 'SYSTEM',
  });
  await TemplateVersionRow.query(trx)
    .where({ projectId, templateId: id })
    .where('version', '<=', version - KEPT)
    .delete();
}

const SAVED_BY = `case when v.saved_by_system then 'SYSTEM' else u.email end as saved_by`;
const FROM = `from template_versions v left join users u on u.id = v.saved_by
  where v.project_id = $1 and v.template_id = $2`;

const list = statement<ListedTemplateVersion>(
  'template-versions-list',
  `select v.version, v.saved_at, ${SAVED_BY}, v.subject ${FROM} and ($3::integer is null or v.version < $3)
   order by v.version desc limit $4`,
);
const count = statement<{ total: number }>('template-versions-count', `select count(*)::integer as total ${FROM}`);
const find = statement<TemplateVersion>(
  'template-version-find',
  `select v.version, v.saved_at, ${SAVED_BY}, v.name, v.description, v.subject, v.body, v.document, v.renderer_version,
     v.from_email, v.from_name, v.reply_to, v.type ${FROM} and v.version = $3`,
);

/** Returns the newest first, without the bodies. */
export async function listVersions(
  db: Db,
  projectId: string,
  templateId: string,
  keys: SigningKeys,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<CursorPage<ListedTemplateVersion>> {
  await findTemplate(db, projectId, templateId);
  const boundTo = [projectId, 'template versions', templateId];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as number);
  const [rows, [{ total } = { total: 0 }]] = await Promise.all([
    list(db, [projectId, templateId, after ?? null, limit + 1]),
    after === undefined ? count(db, [projectId, templateId]) : [],
  ]);
  return cutPage(rows, {
    limit,
    total,
    cursorAfter: ({ version }) => signCursor(keys, boundTo, version),
  });
}

export async function findVersion(
  db: Db,
  projectId: string,
  templateId: string,
  version: number,
): Promise<TemplateVersion> {
  const [found] = await find(db, [projectId, templateId, version]);
  if (!found) throw notFound('template version', 'TEMPLATE_NOT_FOUND');
  return found;
}
