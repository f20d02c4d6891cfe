import type { Db } from '../../db/connect.ts';
import type { Template } from '../../db/models/template.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import type { MailDocument } from '../../platform/mail-document/index.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit, userIdOf } from '../audit/record.ts';
import { type ContentColumns, checkContent, contentColumns, type GivenContent } from '../mail-documents/content.ts';
import { type FieldViolation, faultsIn, requireNoFaults } from './check.ts';
import { findTemplate, lockTemplate } from './find.ts';
import { saveTemplate } from './save.ts';

/** Subject and content of a template that are not live yet. A template without a draft shows its own. */
export interface TemplateDraft {
  document: MailDocument | null;
  body: string;
  subject: string;
  /** Rises with every change of the template and of its draft. */
  revision: number;
  /** There is a draft. */
  changed: boolean;
  /** What keeps it from being published. */
  faults: FieldViolation[];
  updatedAt: Date;
  /** The address of the user; null for a key, when the user is gone, or without a draft. */
  updatedBy: string | null;
}

interface DraftRow {
  subject: string;
  body: string;
  document: MailDocument | null;
  rendererVersion: number | null;
  savedBlockIds: string[];
  updatedAt: Date;
  updatedBy: string | null;
  updatedById: string | null;
}

export interface DraftChange extends GivenContent {
  subject?: string | undefined;
  expectedRevision: number;
}

const readDraft = statement<DraftRow>(
  'template-draft-read',
  `select d.subject, d.body, d.document, d.renderer_version, d.saved_block_ids, d.updated_at, u.email as updated_by,
     d.updated_by as updated_by_id
   from template_drafts d left join users u on u.id = d.updated_by
   where d.project_id = $1 and d.template_id = $2`,
);

const writeDraft = statement(
  'template-draft-write',
  `insert into template_drafts
     (project_id, template_id, subject, body, document, renderer_version, saved_block_ids, updated_by)
   values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8)
   on conflict (template_id) do update set subject = excluded.subject, body = excluded.body,
     document = excluded.document, renderer_version = excluded.renderer_version,
     saved_block_ids = excluded.saved_block_ids, updated_by = excluded.updated_by, updated_at = now()`,
);

const deleteDraft = statement(
  'template-draft-delete',
  'delete from template_drafts where project_id = $1 and template_id = $2',
);

/** Returns the draft of a template, or the template itself when there is none. */
export async function findTemplateDraft(db: Db, projectId: string, id: string): Promise<TemplateDraft> {
  return draftOf(db, await findTemplate(db, projectId, id));
}

async function draftOf(db: Db, template: Template): Promise<TemplateDraft> {
  const { id, projectId, revision } = template;
  const [row] = await readDraft(db, [projectId, id]);
  const { document, body, subject } = row ?? template;
  return {
    document,
    body,
    subject,
    revision,
    changed: row !== undefined,
    faults: draftFaultsIn({ subject, body }),
    updatedAt: row?.updatedAt ?? template.updatedAt,
    updatedBy: row?.updatedBy ?? null,
  };
}

/** A draft may be empty while it is written; a template may not. */
const draftFaultsIn = (texts: { subject: string; body: string }): FieldViolation[] => [
  ...(['subject', 'body'] as const)
    .filter((field) => texts[field] === '')
    .map((field) => ({ field, line: 1, column: 1, message: `the ${field} is empty` })),
  ...faultsIn(texts),
];

/** A draft as the API shows it: here, because a conflict has it in its details. */
export const presentTemplateDraft = ({ updatedAt, ...draft }: TemplateDraft) => ({
  ...draft,
  updatedAt: updatedAt.toISOString(),
});

/** Stores the draft. A 409 when it, or the template, has changed since the caller read it. */
export async function saveTemplateDraft(
  db: Db,
  project: ProjectAccess,
  id: string,
  { subject, body, document, expectedRevision }: DraftChange,
): Promise<TemplateDraft> {
  const { projectId, actor } = project;
  // A template of another project is 404, even when the draft is invalid.
  await findTemplate(db, projectId, id);
  const given = checkContent({ body, document });
  return writing(db, project, async (trx) => {
    const template = await lockTemplate(trx, projectId, id);
    await requireRevision(trx, template, expectedRevision);
    const before = await storedContent(trx, template);
    const content = given ? await contentColumns(trx, projectId, given, before.body) : before;
    await writeDraft(trx, [
      projectId,
      id,
      subject ?? before.subject,
      content.body,
      content.document && JSON.stringify(content.document),
      content.rendererVersion,
      content.savedBlockIds,
      userIdOf(actor),
    ]);
    return draftOf(trx, await nextRevision(trx, template));
  });
}

async function storedContent(trx: Db, template: Template): Promise<ContentColumns & { subject: string }> {
  const [row] = await readDraft(trx, [template.projectId, template.id]);
  const { subject, body, document, rendererVersion, savedBlockIds } = row ?? template;
  return { subject, body, document, rendererVersion, savedBlockIds };
}

const nextRevision = async (trx: Db, template: Template): Promise<Template> =>
  template.$query(trx).patchAndFetch({ revision: template.revision + 1 });

/** Throws a 409 with the current draft when the caller has read an older one. */
export async function requireRevision(trx: Db, template: Template, expected: number): Promise<void> {
  if (expected !== template.revision)
    throw await draftConflict(trx, template, 'The draft or the template has changed since you read it.');
}

/** Throws a 409 with the draft when someone else has one. */
export async function requireNoDraftOfOthers(trx: Db, { actor }: ProjectAccess, template: Template): Promise<void> {
  const [row] = await readDraft(trx, [template.projectId, template.id]);
  if (row && row.updatedById !== userIdOf(actor))
    throw await draftConflict(
      trx,
      template,
      'Another user has a draft. Send its revision as "expectedRevision" to restore the version.',
    );
}

const draftConflict = async (trx: Db, template: Template, message: string): Promise<ApiError> =>
  new ApiError(409, 'CONFLICT', message, { details: presentTemplateDraft(await draftOf(trx, template)) });

export async function dropTemplateDraft(db: Db, project: ProjectAccess, id: string): Promise<void> {
  const { projectId } = project;
  await writing(db, project, async (trx) => {
    const template = await lockTemplate(trx, projectId, id);
    const removed = await deleteDraft.count(trx, [projectId, id]);
    if (removed > 0) await nextRevision(trx, template);
  });
}

/** Makes the draft the template, as it is stored, without rendering it again. */
export async function publishTemplateDraft(
  db: Db,
  project: ProjectAccess,
  id: string,
  expectedRevision: number,
): Promise<Template> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    const before = await lockTemplate(trx, projectId, id);
    const [row] = await readDraft(trx, [projectId, id]);
    if (!row) throw await draftConflict(trx, before, 'There is no draft to publish.');
    await requireRevision(trx, before, expectedRevision);
    const columns = await storedContent(trx, before);
    requireNoFaults(draftFaultsIn(columns));
    await deleteDraft(trx, [projectId, id]);
    const { subject, body, document } = columns;
    const changes = changesOf<Partial<Template>>(before, { subject, body, document });
    const published = await saveTemplate(trx, project, before, columns);
    await recordAudit(trx, project, { action: 'template.published', target: { type: 'template', id }, changes });
    return published;
  });
}
