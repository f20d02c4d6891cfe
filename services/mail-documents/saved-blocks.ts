import type { Db } from '../../db/connect.ts';
import { StoredBlock } from '../../db/models/saved-block.ts';
import { statement } from '../../db/statement.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { SavedBlockKind } from '../../platform/mail-document/index.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireBelowLimit } from '../access/resource-limit.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { requireDocument } from './parse.ts';

export const savedBlockKinds = ['HEADER', 'FOOTER', 'SECTION'] as const satisfies SavedBlockKind[];

/** How many templates, with their drafts, and campaigns that are DRAFT or SCHEDULED name a block. */
export interface SavedBlockUse {
  templates: number;
  campaigns: number;
}

export interface SavedBlockView {
  block: StoredBlock;
  usedBy: SavedBlockUse;
}

export interface SavedBlockInput {
  name: string;
  kind: SavedBlockKind;
  /** Not validated yet. */
  document?: unknown;
}

const MAX_BLOCKS = 200;

/** What uses a block, by name: the first of each kind. */
export interface SavedBlockUsage {
  templates: { id: string; name: string }[];
  campaigns: { id: string; name: string; status: string }[];
}

const MAX_LISTED_USES = 100;

const USING_TEMPLATES = `templates t
  where t.project_id = $1 and (asked.id = any (t.saved_block_ids) or exists (
    select from template_drafts d
    where d.template_id = t.id and d.project_id = $1 and asked.id = any (d.saved_block_ids)))`;
const USING_CAMPAIGNS = `campaigns c
  where c.project_id = $1 and c.deleted_at is null and c.status in ('DRAFT', 'SCHEDULED')
    and asked.id = any (c.saved_block_ids)`;

const countUses = statement<SavedBlockUse & { id: string }>(
  'saved-blocks-uses',
  `select asked.id,
     (select count(*)::integer from ${USING_TEMPLATES}) as templates,
     (select count(*)::integer from ${USING_CAMPAIGNS}) as campaigns
   from unnest($2::uuid[]) as asked (id)`,
);

const listUses = statement<{ id: string; name: string; status: string | null }>(
  'saved-block-usage',
  `select used.* from (select $2::uuid as id) asked cross join lateral (
     (select t.id, t.name, null as status from ${USING_TEMPLATES} order by t.name, t.id limit $3)
     union all
     (select c.id, c.name, c.status from ${USING_CAMPAIGNS} order by c.name, c.id limit $3)) used`,
);

async function withUses(db: Db, projectId: string, blocks: StoredBlock[]): Promise<SavedBlockView[]> {
  const uses = await countUses(db, [projectId, blocks.map(({ id }) => id)]);
  const byId = new Map(uses.map(({ id, templates, campaigns }) => [id, { templates, campaigns }]));
  return blocks.map((block) => ({ block, usedBy: byId.get(block.id) ?? { templates: 0, campaigns: 0 } }));
}

/** Lists the blocks of a project by name. */
export async function listSavedBlocks(db: Db, projectId: string): Promise<SavedBlockView[]> {
  const blocks = await StoredBlock.query(db)
    .where({ projectId })
    .select('id', 'name', 'kind', 'updatedAt')
    .orderBy('name')
    .orderBy('id');
  return withUses(db, projectId, blocks);
}

export async function findSavedBlock(db: Db, projectId: string, id: string): Promise<SavedBlockView> {
  return viewOf(db, found(await StoredBlock.query(db).findOne({ projectId, id })));
}

/** Lists what uses a block. Every use that keeps it from being deleted is counted in `usedBy`. */
export async function savedBlockUsage(db: Db, projectId: string, id: string): Promise<SavedBlockUsage> {
  found(await StoredBlock.query(db).findOne({ projectId, id }).select('id'));
  const uses = await listUses(db, [projectId, id, MAX_LISTED_USES]);
  return {
    templates: uses.flatMap(({ id, name, status }) => (status === null ? [{ id, name }] : [])),
    campaigns: uses.flatMap(({ id, name, status }) => (status === null ? [] : [{ id, name, status }])),
  };
}

async function viewOf(db: Db, block: StoredBlock): Promise<SavedBlockView> {
  const [view] = await withUses(db, block.projectId, [block]);
  return view ?? { block, usedBy: { templates: 0, campaigns: 0 } };
}

/** Locks the row for a change, so that no transaction can begin to use it. */
const lockSavedBlock = async (trx: Db, projectId: string, id: string): Promise<StoredBlock> =>
  found(await StoredBlock.query(trx).findOne({ projectId, id }).forUpdate());

function found(block: StoredBlock | undefined): StoredBlock {
  if (!block) throw notFound('saved block');
  return block;
}

export async function createSavedBlock(
  db: Db,
  project: ProjectAccess,
  { name, kind, document }: SavedBlockInput,
): Promise<SavedBlockView> {
  const { projectId } = project;
  const parsed = requireDocument(document, kind);
  return writing(db, project, async (trx) => {
    await requireBelowLimit(trx, { what: 'saved_blocks', projectId, max: MAX_BLOCKS });
    const block = await StoredBlock.query(trx)
      .insert({ id: newId(), projectId, name, kind, document: parsed.document })
      .returning('*');
    await recordAudit(trx, project, {
      action: 'saved_block.created',
      target: { type: 'saved_block', id: block.id },
      changes: changesOf({}, { name, kind }),
    });
    return viewOf(trx, block);
  });
}

/** Changes a block. Bodies that were rendered with it stay as they are until they are rendered again. */
export async function updateSavedBlock(
  db: Db,
  project: ProjectAccess,
  id: string,
  change: Partial<SavedBlockInput>,
): Promise<SavedBlockView> {
  const { projectId } = project;
  // A block of another project is 404, even when the change is invalid.
  await findSavedBlock(db, projectId, id);
  return writing(db, project, async (trx) => {
    const before = await lockSavedBlock(trx, projectId, id);
    const { name = before.name, kind = before.kind } = change;
    // A block of another kind may have to have a footer, or none.
    const isParsed = change.document !== undefined || kind !== before.kind;
    const { document } = isParsed ? requireDocument(change.document ?? before.document, kind) : before;
    const changes = changesOf<Partial<StoredBlock>>(before, { name, kind, document });
    if (Object.keys(changes).length === 0) return viewOf(trx, before);
    const block = await before.$query(trx).patchAndFetch({ name, kind, document, updatedAt: new Date() });
    await recordAudit(trx, project, {
      action: 'saved_block.changed',
      target: { type: 'saved_block', id },
      changes,
    });
    return viewOf(trx, block);
  });
}

export async function deleteSavedBlock(db: Db, project: ProjectAccess, id: string): Promise<void> {
  const { projectId } = project;
  await writing(db, project, async (trx) => {
    const block = await lockSavedBlock(trx, projectId, id);
    const { usedBy } = await viewOf(trx, block);
    if (usedBy.templates + usedBy.campaigns > 0)
      throw new ApiError(
        409,
        'CONFLICT',
        `The saved block is used by ${usedBy.templates} templates and ${usedBy.campaigns} campaigns.`,
        { details: { usedBy }, suggestion: 'Remove the block from them first.' },
      );
    await block.$query(trx).delete();
    await recordAudit(trx, project, {
      action: 'saved_block.deleted',
      target: { type: 'saved_block', id },
      changes: { name: { from: block.name, to: null } },
    });
  });
}
