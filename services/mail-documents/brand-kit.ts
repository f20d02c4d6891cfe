import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type BrandKit, defaultBrandKit } from '../../platform/mail-document/index.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';

/** The brand kit of a project; `updatedAt` is null until it is saved for the first time. */
export interface StoredBrandKit {
  kit: BrandKit;
  updatedAt: Date | null;
}

const read = statement<{ kit: BrandKit; updatedAt: Date }>(
  'brand-kit-read',
  'select kit, updated_at from brand_kits where project_id = $1',
);

const write = statement<{ kit: BrandKit; updatedAt: Date }>(
  'brand-kit-write',
  `insert into brand_kits (project_id, kit) values ($1, $2::jsonb)
   on conflict (project_id) do update set kit = excluded.kit, updated_at = now()
   returning kit, updated_at`,
);

/** Returns the brand kit, or the defaults. */
export async function findBrandKit(db: Db, projectId: string): Promise<StoredBrandKit> {
  const [row] = await read(db, [projectId]);
  // A kit that an earlier version has stored lacks what was added since.
  return row
    ? { kit: { ...defaultBrandKit, ...row.kit }, updatedAt: row.updatedAt }
    : { kit: defaultBrandKit, updatedAt: null };
}

const readLook = statement<{ kit: BrandKit; name: string }>(
  'brand-kit-look',
  'select b.kit, p.name from brand_kits b join projects p on p.id = b.project_id where b.project_id = $1',
);

/** The look of the pages that recipients and invited people see; undefined until the brand kit is saved. */
export async function findLook(db: Db, projectId: string) {
  const [row] = await readLook(db, [projectId]);
  if (!row) return undefined;
  const { logoUrl, colors, darkColors } = { ...defaultBrandKit, ...row.kit };
  return { name: row.name, logoUrl, colors, darkColors };
}

/** Replaces the brand kit. Stored bodies stay as they are until they are rendered again. */
export async function saveBrandKit(db: Db, project: ProjectAccess, kit: BrandKit): Promise<StoredBrandKit> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    const before = await findBrandKit(trx, projectId);
    await write(trx, [projectId, JSON.stringify(kit)]);
    if (!isDeepStrictEqual(before.kit, kit))
      await recordAudit(trx, project, {
        action: 'brand_kit.changed',
        target: { type: 'brand_kit', id: null },
        changes: changesOf(before.kit, kit),
      });
    return findBrandKit(trx, projectId);
  });
}
