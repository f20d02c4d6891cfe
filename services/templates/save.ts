import type { Db } from '../../db/connect.ts';
import { Template, type TemplateType } from '../../db/models/template.ts';
import { newId } from '../../platform/ids.ts';
import { UNLIMITED } from '../../platform/limits.ts';
import { nameOfCopy } from '../../platform/names.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireBelowLimit } from '../access/resource-limit.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { requireVerifiedSender } from '../domains/verified-sender.ts';
import type { Address } from '../emails/send.ts';
import { requireValidTemplate } from './check.ts';
import { findTemplate, lockTemplate } from './find.ts';
import { findVersion, storeVersion } from './versions.ts';

export { templateTypes } from '../../db/models/template.ts';

/** Undefined keeps a field, null clears it. */
export interface TemplateChange {
  name?: string | undefined;
  description?: string | null | undefined;
  subject?: string | undefined;
  body?: string | undefined;
  type?: TemplateType | undefined;
  /** Its name is the sender's name unless `fromName` is given. */
  from?: Address | null | undefined;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
}

export type NewTemplate = TemplateChange & Required<Pick<TemplateChange, 'name' | 'subject' | 'body' | 'type'>>;

export async function createTemplate(
  db: Db,
  project: ProjectAccess,
  input: NewTemplate,
  { templates: max } = UNLIMITED,
): Promise<Template> {
  requireValidTemplate(input);
  const { projectId } = project;
  return writeTemplate(db, project, input, async (trx) => {
    await requireBelowLimit(trx, { what: 'templates', projectId, max });
    return insertTemplate(trx, project, { ...columnsOf(input), projectId });
  });
}

async function insertTemplate(trx: Db, project: ProjectAccess, columns: Partial<Template>): Promise<Template> {
  const created = await Template.query(trx)
    .insert({ ...columns, id: newId(), version: 1 })
    .returning('*');
  await storeVersion(trx, created, project.actor);
  const { id, name } = created;
  await recordAudit(trx, project, {
    action: 'template.created',
    target: { type: 'template', id },
    changes: changesOf({}, { name }),
  });
  return created;
}

export async function updateTemplate(
  db: Db,
  project: ProjectAccess,
  id: string,
  change: TemplateChange,
): Promise<Template> {
  const { projectId } = project;
  // A template of another project is 404, even when the change is invalid.
  await findTemplate(db, projectId, id);
  requireValidTemplate(change);
  const columns = columnsOf(change);
  return writeTemplate(db, project, change, async (trx) => {
    if (Object.keys(columns).length === 0) return findTemplate(trx, projectId, id);
    const before = await lockTemplate(trx, projectId, id);
    const changes = changesOf(before, columns);
    const version = before.version + 1;
    const updated = await before.$query(trx).patchAndFetch({ ...columns, version, updatedAt: new Date() });
    await storeVersion(trx, updated, project.actor);
    if (Object.keys(changes).length > 0)
      await recordAudit(trx, project, { action: 'template.updated', target: { type: 'template', id }, changes });
    return updated;
  });
}

/** Saves an earlier version as the newest one. */
export async function restoreVersion(db: Db, project: ProjectAccess, id: string, version: number): Promise<Template> {
  const found = await findVersion(db, project.projectId, id, version);
  const { name, description, subject, body, type, fromEmail, fromName, replyTo } = found;
  const from = fromEmail === null ? null : { email: fromEmail };
  return updateTemplate(db, project, id, { name, description, subject, body, type, from, fromName, replyTo });
}

/** Copies a template without validating its content again. */
export async function duplicateTemplate(
  db: Db,
  project: ProjectAccess,
  id: string,
  { templates: max } = UNLIMITED,
): Promise<Template> {
  return writeTemplate(db, project, {}, async (trx) => {
    const { createdAt: _, updatedAt: __, ...original } = await findTemplate(trx, project.projectId, id);
    await requireBelowLimit(trx, { what: 'templates', projectId: project.projectId, max });
    return insertTemplate(trx, project, { ...original, name: nameOfCopy(original.name) });
  });
}

function writeTemplate<T>(
  db: Db,
  project: ProjectAccess,
  { from }: TemplateChange,
  work: (trx: Db) => PromiseLike<T>,
): Promise<T> {
  return writing(db, project, async (trx) => {
    if (from) await requireVerifiedSender(trx, project.projectId, from.email);
    return work(trx);
  });
}

function columnsOf({ from, fromName = from?.name, ...rest }: TemplateChange): Partial<Template> {
  const columns = { ...rest, fromName, fromEmail: from === null ? null : from?.email };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}
