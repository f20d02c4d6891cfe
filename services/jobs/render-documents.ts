import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { type Job, JobInputRow, type RenderResult } from '../../db/models/job.ts';
import { Template } from '../../db/models/template.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { SYSTEM } from '../audit/record.ts';
import { type ContentColumns, renderedColumns } from '../mail-documents/content.ts';
import { findSavedBlock } from '../mail-documents/saved-blocks.ts';
import { saveTemplate } from '../templates/save.ts';
import { insertJob } from './create.ts';
import { MAX_ERRORS } from './file-chunk.ts';

/** What `job_inputs.options` holds for such a job. */
export interface RenderOptions {
  /** Only documents that name this saved block; null for all. */
  blockId: string | null;
  /** The last document that was looked at: its place in DOCUMENTS, and its id. */
  after: [place: number, id: string];
}

interface FoundDocument {
  place: number;
  type: 'TEMPLATE' | 'CAMPAIGN';
  id: string;
}

/** Documents in one transaction. */
const CHUNK_DOCUMENTS = 20;
const START: RenderOptions['after'] = [0, '00000000-0000-0000-0000-000000000000'];

// Templates, then campaigns that are DRAFT. Scheduled and sent campaigns keep what was approved.
const DOCUMENTS = `
  (select 1 as place, 'TEMPLATE' as type, id from templates
   where project_id = $1 and document is not null and ($2::uuid is null or $2 = any (saved_block_ids))
   union all
   select 2, 'CAMPAIGN', id from campaigns
   where project_id = $1 and document is not null and ($2::uuid is null or $2 = any (saved_block_ids))
     and status = 'DRAFT' and deleted_at is null) documents`;

const countDocuments = statement<{ total: number }>(
  'render-documents-count',
  `select count(*)::integer as total from ${DOCUMENTS}`,
);

const nextDocuments = statement<FoundDocument>(
  'render-documents-next',
  `select place, type, id from ${DOCUMENTS} where (place, id) > ($3::integer, $4::uuid) order by place, id limit $5`,
);

/** Creates a job that renders the documents of a project again, or those that name a saved block. */
export async function createRenderJob(
  db: Db,
  project: ProjectAccess,
  blockId: string | undefined,
  limits: Limits = UNLIMITED,
): Promise<string> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    if (blockId !== undefined) await findSavedBlock(trx, projectId, blockId);
    const options: RenderOptions = { blockId: blockId ?? null, after: START };
    const [{ total } = { total: 0 }] = await countDocuments(trx, [projectId, options.blockId]);
    const id = newId();
    await JobInputRow.query(trx).insert({ jobId: id, options });
    const result: RenderResult = { rendered: 0, unchanged: 0, failed: 0, errors: [] };
    return insertJob(trx, project, id, { type: 'RENDER', total, result }, limits);
  });
}

/** Renders the next documents of a job in the caller's transaction. */
export async function renderChunk(
  trx: Db,
  { id, projectId, result }: Job,
  options: RenderOptions,
): Promise<{ result: RenderResult; size: number; isLast: boolean }> {
  const found = await nextDocuments(trx, [projectId, options.blockId, ...options.after, CHUNK_DOCUMENTS]);
  const counts = { ...(result as RenderResult) };
  for (const document of found) {
    const outcome = await renderAgain(trx, projectId, document);
    if (typeof outcome === 'string') counts[outcome]++;
    else {
      counts.failed++;
      counts.errors = [...counts.errors, { type: document.type, id: document.id, ...outcome }];
    }
  }
  const last = found.at(-1);
  if (last)
    await JobInputRow.query(trx)
      .findById(id)
      .patch({ options: { ...options, after: [last.place, last.id] } satisfies RenderOptions });
  return {
    size: found.length,
    isLast: found.length < CHUNK_DOCUMENTS,
    result: { ...counts, errors: counts.errors.slice(0, MAX_ERRORS) },
  };
}

type Outcome = 'rendered' | 'unchanged' | { name: string; error: string };

const renderAgain = (trx: Db, projectId: string, { type, id }: FoundDocument): Promise<Outcome> =>
  type === 'TEMPLATE' ? renderTemplateAgain(trx, projectId, id) : renderCampaignAgain(trx, projectId, id);

async function renderTemplateAgain(trx: Db, projectId: string, id: string): Promise<Outcome> {
  const before = await Template.query(trx).findOne({ projectId, id }).forUpdate();
  return outcomeOf(trx, before, async (template, columns) => {
    await saveTemplate(trx, { actor: SYSTEM }, template, columns);
  });
}

async function renderCampaignAgain(trx: Db, projectId: string, id: string): Promise<Outcome> {
  const before = await Campaign.query(trx).findOne({ projectId, id, status: 'DRAFT' }).forUpdate();
  return outcomeOf(trx, before, async (campaign, columns) => {
    const revision = campaign.revision + 1;
    await campaign.$query(trx).patch({ ...columns, revision, updatedAt: new Date() });
  });
}

/** Saves the document if it renders to another body than the stored one. It may be gone, or HTML, since it was found. */
async function outcomeOf<T extends Template | Campaign>(
  trx: Db,
  before: T | undefined,
  save: (before: T, columns: ContentColumns) => Promise<void>,
): Promise<Outcome> {
  if (!before?.document) return 'unchanged';
  try {
    const columns = await renderedColumns(trx, before.projectId, before.document);
    if (columns.body === before.body) return 'unchanged';
    await save(before, columns);
    return 'rendered';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { name: before.name, error: error.extras.errors?.[0]?.message ?? error.message };
  }
}
