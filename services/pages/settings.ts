import { lockName } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/connect.ts';
import { ProjectPages } from '../../db/models/project-pages.ts';
import { statement } from '../../db/statement.ts';
import { validationError } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { requireVerifiedSender } from '../domains/verified-sender.ts';
import { requireUnusedSender } from '../topics/sender.ts';

/** Settings of a project's pages as the API shows them. */
export interface PageSettings {
  from: string | null;
  senderName: string | null;
  logoUrl: string | null;
  color: string | null;
  css: string | null;
  imprint: string | null;
  privacyUrl: string | null;
}

export type PageSettingsChange = { [Field in keyof PageSettings]?: PageSettings[Field] | undefined };

/** Where uploads are found. */
interface UploadBase {
  baseUrl: string;
}

const uploadUrl = ({ baseUrl }: UploadBase, key: string): string => `${baseUrl}/uploads/${key}`;

/** Returns the settings; all null until they are saved for the first time. */
export async function findPageSettings(db: Db, projectId: string, base: UploadBase): Promise<PageSettings> {
  const row = await ProjectPages.query(db).findById(projectId);
  return {
    from: row?.fromEmail ?? null,
    senderName: row?.senderName ?? null,
    logoUrl: row?.logoKey ? uploadUrl(base, row.logoKey) : null,
    color: row?.color ?? null,
    css: row?.css ?? null,
    imprint: row?.imprint ?? null,
    privacyUrl: row?.privacyUrl ?? null,
  };
}

const findUpload = statement<{ key: string }>(
  'pages-logo',
  'select key from uploads where project_id = $1 and key = $2',
);

/** Changes the fields that are given; null removes one. */
export async function updatePageSettings(
  db: Db,
  project: ProjectAccess,
  { from, logoUrl, ...rest }: PageSettingsChange,
  base: UploadBase,
): Promise<PageSettings> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    await lockName(trx, `pages/${projectId}`);
    const before = await findPageSettings(trx, projectId, base);
    const logoKey = logoUrl && (await ownUpload(trx, projectId, logoUrl, base));
    if (from && from !== before.from) await requireVerifiedSender(trx, projectId, from);
    if (from === null && before.from !== null) await requireUnusedSender(trx, projectId);
    const columns = Object.fromEntries(
      Object.entries({ fromEmail: from, logoKey, ...rest }).filter(([, value]) => value !== undefined),
    );
    if (Object.keys(columns).length > 0)
      await ProjectPages.query(trx)
        .insert({ projectId, ...columns, updatedAt: new Date() })
        .onConflict('projectId')
        .merge();
    const after = await findPageSettings(trx, projectId, base);
    const changes = changesOf(before, after);
    if (Object.keys(changes).length > 0)
      await recordAudit(trx, project, {
        action: 'project.updated',
        target: { type: 'project', id: projectId },
        changes: Object.fromEntries(Object.entries(changes).map(([field, change]) => [`pages.${field}`, change])),
      });
    return after;
  });
}

async function ownUpload(trx: Db, projectId: string, url: string, base: UploadBase): Promise<string> {
  const prefix = uploadUrl(base, '');
  const key = url.startsWith(prefix) ? url.slice(prefix.length) : '';
  const [upload] = key ? await findUpload(trx, [projectId, key]) : [];
  if (!upload)
    throw validationError([
      {
        field: 'logoUrl',
        message: '"logoUrl" must be the URL of an image that was uploaded to this project',
        code: 'custom',
      },
    ]);
  return upload.key;
}
