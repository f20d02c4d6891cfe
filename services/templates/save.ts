import { type Db, inTransaction } from '../../db/connect.ts';
import { Template, type TemplateType } from '../../db/models/template.ts';
import { newId } from '../../platform/ids.ts';
import { UNLIMITED } from '../../platform/limits.ts';
import { nameOfCopy } from '../../platform/names.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';
import { requireBelowLimit } from '../access/resource-limit.ts';
import { requireVerifiedSender } from '../domains/verified-sender.ts';
import type { Address } from '../emails/send.ts';
import { requireValidTemplate } from './check.ts';
import { findTemplate, requireTemplate } from './find.ts';
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
  savedBy?: string,
): Promise<Template> {
  requireValidTemplate(input);
  const { projectId } = project;
  return writeTemplate(db, project, input, async (trx) => {
    await requireBelowLimit(trx, { what: 'templates', projectId, max });
    const template = await Template.query(trx)
      .insert({ ...columnsOf(input), id: newId(), projectId })
      .returning('*');
    return storeVersion(trx, template, savedBy);
  });
}

export async function updateTemplate(
  db: Db,
  project: ProjectAccess,
  id: string,
  change: TemplateChange,
  savedBy?: string,
): Promise<Template> {
  const { projectId } = project;
  // A template of another project is 404, even when the change is invalid.
  await findTemplate(db, projectId, id);
  requireValidTemplate(change);
  const columns = columnsOf(change);
  return writeTemplate(db, project, change, async (trx) => {
    if (Object.keys(columns).length === 0) return findTemplate(trx, projectId, id);
    const [updated] = await Template.query(trx)
      .where({ projectId, id })
      .patch({ ...columns, version: Template.raw('version + 1') as never, updatedAt: new Date() })
      .returning('*');
    return storeVersion(trx, requireTemplate(updated), savedBy);
  });
}

/** Saves an earlier version as the newest one. */
export async function restoreVersion(
  db: Db,
  project: ProjectAccess,
  id: string,
  version: number,
  savedBy?: string,
): Promise<Template> {
  const { name, description, subject, body, type, fromEmail, fromName, replyTo } = await findVersion(
    db,
    project.projectId,
    id,
    version,
  );
  const from = fromEmail === null ? null : { email: fromEmail };
  return updateTemplate(db, project, id, { name, description, subject, body, type, from, fromName, replyTo }, savedBy);
}

/** Copies a template without validating its content again. */
export async function duplicateTemplate(
  db: Db,
  project: ProjectAccess,
  id: string,
  { templates: max } = UNLIMITED,
  savedBy?: string,
): Promise<Template> {
  return writeTemplate(db, project, {}, async (trx) => {
    const { createdAt: _, updatedAt: __, ...original } = await findTemplate(trx, project.projectId, id);
    await requireBelowLimit(trx, { what: 'templates', projectId: project.projectId, max });
    const copy = await Template.query(trx)
      .insert({ ...original, id: newId(), name: nameOfCopy(original.name), version: 1 })
      .returning('*');
    return storeVersion(trx, copy, savedBy);
  });
}

function writeTemplate<T>(
  db: Db,
  project: ProjectAccess,
  { from }: TemplateChange,
  work: (trx: Db) => PromiseLike<T>,
): Promise<T> {
  return inTransaction(db, async (trx) => {
    await requireOpenProject(trx, project);
    if (from) await requireVerifiedSender(trx, project.projectId, from.email);
    return work(trx);
  });
}

function columnsOf({ from, fromName = from?.name, ...rest }: TemplateChange): Partial<Template> {
  const columns = { ...rest, fromName, fromEmail: from === null ? null : from?.email };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}
