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
import { type CheckedContent, checkContent, contentColumns, type GivenContent } from '../mail-documents/content.ts';
import { requireTopicFor } from '../topics/find.ts';
import { requireSenderWithoutTemplate } from '../topics/sender.ts';
import { requireValidTemplate } from './check.ts';
import { findTemplate, lockTemplate } from './find.ts';
import { storeVersion } from './versions.ts';

export { templateTypes } from '../../db/models/template.ts';

/** Undefined keeps a field, null clears it. */
export interface TemplateChange extends GivenContent {
  name?: string | undefined;
  description?: string | null | undefined;
  subject?: string | undefined;
  type?: TemplateType | undefined;
  topicId?: string | null | undefined;
  /** Its name is the sender's name unless `fromName` is given. */
  from?: Address | null | undefined;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
}

/** Has a body or a document. */
export type NewTemplate = TemplateChange & Required<Pick<TemplateChange, 'name' | 'subject' | 'type'>>;

export async function createTemplate(
  db: Db,
  project: ProjectAccess,
  input: NewTemplate,
  { templates: max } = UNLIMITED,
): Promise<Template> {
  const content = checkTexts(input);
  const { projectId } = project;
  return writeTemplate(db, project, input, async (trx) => {
    await requireBelowLimit(trx, { what: 'templates', projectId, max });
    if (input.topicId) await requireTopicFor(trx, projectId, { id: input.topicId, type: input.type });
    const columns = { ...columnsOf(input), ...(content && (await contentColumns(trx, projectId, content))) };
    return insertTemplate(trx, project, { ...columns, projectId });
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
  const content = checkTexts(change);
  return writeTemplate(db, project, change, async (trx) => {
    const before = await lockTemplate(trx, projectId, id);
    const columns = {
      ...columnsOf(change),
      ...(content && (await contentColumns(trx, projectId, content, before.body))),
    };
    if (Object.keys(columns).length === 0) return before;
    const { topicId, type } = { ...before, ...columns };
    if (topicId && (topicId !== before.topicId || type !== before.type))
      await requireTopicFor(trx, projectId, { id: topicId, type, before: before.topicId });
    const { savedBlockIds: _, rendererVersion: __, ...shown } = columns;
    const changes = changesOf<Partial<Template>>(before, shown);
    const updated = await saveTemplate(trx, project, before, columns);
    if (Object.keys(changes).length > 0)
      await recordAudit(trx, project, { action: 'template.updated', target: { type: 'template', id }, changes });
    return updated;
  });
}

/** Stores changes of a locked template as its next version. */
export async function saveTemplate(
  trx: Db,
  { actor }: Pick<ProjectAccess, 'actor'>,
  before: Template,
  columns: Partial<Template>,
): Promise<Template> {
  // The patch changes `before` itself.
  const losesSender = before.fromEmail !== null && columns.fromEmail === null;
  const updated = await before.$query(trx).patchAndFetch({
    ...columns,
    version: before.version + 1,
    revision: before.revision + 1,
    updatedAt: new Date(),
  });
  await storeVersion(trx, updated, actor);
  if (losesSender) await requireSenderWithoutTemplate(trx, updated.projectId);
  return updated;
}

/** Returns the content of a request. Throws when a text is no valid template, or the document is not valid. */
function checkTexts({ subject, body, document }: TemplateChange): CheckedContent | undefined {
  requireValidTemplate({ subject, body: body ?? undefined });
  return checkContent({ body, document });
}

/** Copies a template without validating its content again. */
export async function duplicateTemplate(
  db: Db,
  project: ProjectAccess,
  id: string,
  { templates: max } = UNLIMITED,
): Promise<Template> {
  return writeTemplate(db, project, {}, async (trx) => {
    const { createdAt: _, updatedAt: __, revision: ___, ...original } = await findTemplate(trx, project.projectId, id);
    await requireBelowLimit(trx, { what: 'templates', projectId: project.projectId, max });
    return insertTemplate(trx, project, { ...original, name: nameOfCopy(original.name) });
  });
}

export function writeTemplate<T>(
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

function columnsOf({ from, fromName = from?.name, body: _, document: __, ...rest }: TemplateChange): Partial<Template> {
  const columns = { ...rest, fromName, fromEmail: from === null ? null : from?.email };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}
