import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';
import { randomText } from '../../platform/ids.ts';
import { UNLIMITED } from '../../platform/limits.ts';
import type { UploadStorage } from '../../platform/storage/upload-storage.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { isOpenProject, refusal, requireOpenProject } from '../access/open-project.ts';

export interface Upload {
  key: string;
  contentType: string;
  size: number;
}

/** Image types that mail programs show, detected from the bytes. SVG and HTML could carry scripts. */
const images: Record<string, { contentType: string; extension: string }> = {
  'image/png': { contentType: 'image/png', extension: 'png' },
  'image/apng': { contentType: 'image/png', extension: 'png' },
  'image/jpeg': { contentType: 'image/jpeg', extension: 'jpg' },
  'image/gif': { contentType: 'image/gif', extension: 'gif' },
  'image/webp': { contentType: 'image/webp', extension: 'webp' },
};

/** file-type checks only the first three letters, which `GIF<script>` has too. */
const isGif = (bytes: Buffer): boolean => bytes.length > 13 && /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6));

const KEY = /^[A-Za-z0-9]{32}\.(?:png|jpg|gif|webp)$/;

const findTotal = statement<{ bytes: number }>(
  'upload-total',
  'select bytes::float8 as bytes from upload_totals where project_id = $1',
);
const addBytes = statement(
  'upload-add-bytes',
  `insert into upload_totals as total (project_id, bytes)
   select $1::uuid, $2::bigint where $2::bigint <= $3::bigint
   on conflict (project_id) do update set bytes = total.bytes + excluded.bytes
     where total.bytes + excluded.bytes <= $3::bigint`,
);
const insert = statement(
  'upload-insert',
  'insert into uploads (key, project_id, content_type, size) values ($1, $2, $3, $4)',
);
const insertRemoval = statement('upload-insert-removal', 'insert into upload_removals (key) values ($1)');
const find = statement<{ contentType: string }>('upload-find', 'select content_type from uploads where key = $1');

/** Stores the bytes before the row, so that every row has its file. */
export async function saveUpload(
  db: Db,
  storage: UploadStorage,
  project: ProjectAccess,
  bytes: Buffer,
  { uploadBytes } = UNLIMITED,
): Promise<Upload> {
  // Loaded with the first upload: few processes get one.
  const { fileTypeFromBuffer } = await import('file-type');
  const image = images[(await fileTypeFromBuffer(bytes))?.mime ?? ''];
  if (!image || (image.extension === 'gif' && !isGif(bytes)))
    throw badRequest('This is not an image that email clients display.', {
      suggestion: 'Send a PNG, JPEG, GIF or WebP image. Its type is detected from the content, not the file name.',
    });
  await requireOpenProject(db, project);
  const { contentType, extension } = image;
  const key = `${randomText(32)}.${extension}`;
  const size = bytes.length;
  // Avoids storing what exceeds the quota; `record` decides.
  const [total] = await findTotal(db, [project.projectId]);
  if ((total?.bytes ?? 0) + size > uploadBytes) throw quotaExceeded(uploadBytes);
  try {
    await storage.save(key, bytes, contentType);
  } catch (error) {
    throw new ApiError(502, 'EXTERNAL_SERVICE_ERROR', 'The image could not be stored.', {
      details: { reason: (error as Error).name },
      suggestion: 'Try again later. If the problem persists, contact the operator.',
    });
  }
  const upload = { key, contentType, size };
  const refused = await inTransaction(db, (trx) => record(trx, project, upload, uploadBytes));
  if (refused) throw refused;
  return upload;
}

/** Counts the bytes and inserts the row, or schedules the file's removal and returns the error. */
async function record(
  trx: Db,
  project: ProjectAccess,
  { key, contentType, size }: Upload,
  uploadBytes: number,
): Promise<ApiError | undefined> {
  const { projectId } = project;
  const refused = !(await isOpenProject(trx, project))
    ? await refusal(trx, project)
    : (await countBytes(trx, projectId, size, uploadBytes))
      ? undefined
      : quotaExceeded(uploadBytes);
  if (refused) await insertRemoval(trx, [key]);
  else await insert(trx, [key, projectId, contentType, size]);
  return refused;
}

/** Returns false where the quota is exceeded. The row's lock orders concurrent uploads. */
const countBytes = async (trx: Db, projectId: string, size: number, max: number): Promise<boolean> =>
  (await addBytes.count(trx, [projectId, size, max])) > 0;

const quotaExceeded = (max: number) =>
  new ApiError(413, 'PAYLOAD_TOO_LARGE', `The images of this project would exceed the limit of ${max} bytes.`);

export async function readUpload(
  db: Db,
  storage: UploadStorage,
  key: string,
): Promise<{ bytes: Buffer; contentType: string } | undefined> {
  const [row] = KEY.test(key) ? await find(db, [key]) : [];
  const bytes = row && (await storage.read(key));
  return bytes && { bytes, contentType: row.contentType };
}
