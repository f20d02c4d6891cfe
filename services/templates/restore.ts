import type { Db } from '../../db/connect.ts';
import type { Template } from '../../db/models/template.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { usableDocument } from '../mail-documents/content.ts';
import { requireNoDraftOfOthers, requireRevision } from './drafts.ts';
import { lockTemplate } from './find.ts';
import { saveTemplate, writeTemplate } from './save.ts';
import { findVersion } from './versions.ts';

/** Saves an earlier version as the newest one, as it is stored, without rendering it again. */
export async function restoreVersion(
  db: Db,
  project: ProjectAccess,
  id: string,
  version: number,
  expectedRevision?: number,
): Promise<Template> {
  const { projectId } = project;
  const { fromEmail, ...found } = await findVersion(db, projectId, id, version);
  const from = fromEmail === null ? null : { email: fromEmail };
  return writeTemplate(db, project, { from }, async (trx) => {
    const before = await lockTemplate(trx, projectId, id);
    if (expectedRevision === undefined) await requireNoDraftOfOthers(trx, project, before);
    else await requireRevision(trx, before, expectedRevision);
    const { name, description, subject, body, type, fromName, replyTo } = found;
    const shown = { name, description, subject, body, type, fromEmail, fromName, replyTo };
    const content = await usableDocument(trx, projectId, found);
    const changes = changesOf<Partial<Template>>(before, { ...shown, document: content.document });
    const restored = await saveTemplate(trx, project, before, { ...shown, ...content });
    await recordAudit(trx, project, { action: 'template.restored', target: { type: 'template', id }, changes });
    return restored;
  });
}
