import { fileTypeFromBuffer } from 'file-type';
import type { Db } from '../../db/connect.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';
import { randomText } from '../../platform/ids.ts';
import type { UploadStorage } from '../../platform/upload-storage.ts';
import type { ProjectAccess } from '../projects/keys.ts';
import { requireOpenProject } from '../projects/refusal.ts';

export interface Upload {
  key: string;
  contentType: string;
  size: number;
}

/** What mail programs show, by what the bytes say. SVG and HTML could carry scripts. */
const images: Record<string, { contentType: string; extension: string }> = {
  'image/png': { contentType: 'image/png', extension: 'png' },
  'image/apng': { contentType: 'image/png', extension: 'png' },
  'image/jpeg': { contentType: 'image/jpeg', extension: 'jpg' },
  'image/gif': { contentType: 'image/gif', extension: 'gif' },
  'image/webp': { contentType: 'image/webp', extension: 'webp' },
};

/** The library is content with the first three letters, which `GIF<script>` has too. */
const isGif = (bytes: Buffer): boolean => bytes.length > 13 && /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6));

const KEY = /^[A-Za-z0-9]{32}\.(?:png|jpg|gif|webp)$/;

/** First the bytes, then the row: what is named is there. */
export async function saveUpload(
  db: Db,
  storage: UploadStorage,
  project: ProjectAccess,
  bytes: Buffer,
): Promise<Upload> {
  const image = images[(await fileTypeFromBuffer(bytes))?.mime ?? ''];
  if (!image || (image.extension === 'gif' && !isGif(bytes)))
    throw badRequest('This is no image that mail programs show.', {
      suggestion: 'Send a PNG, JPEG, GIF or WebP; its bytes count, whatever it is called.',
    });
  await requireOpenProject(db, project);
  const { contentType, extension } = image;
  const key = `${randomText(32)}.${extension}`;
  const size = bytes.length;
  try {
    await storage.save(key, bytes, contentType);
  } catch (error) {
    throw new ApiError(502, 'EXTERNAL_SERVICE_ERROR', 'The image could not be stored.', {
      details: { reason: (error as Error).name },
      suggestion: 'Try again in a while; if it stays, ask the operator.',
    });
  }
  await db('uploads').insert({ key, projectId: project.projectId, contentType, size });
  return { key, contentType, size };
}

export async function readUpload(
  db: Db,
  storage: UploadStorage,
  key: string,
): Promise<{ bytes: Buffer; contentType: string } | undefined> {
  const row = KEY.test(key) ? await db('uploads').where({ key }).first<Upload | undefined>('contentType') : undefined;
  const bytes = row && (await storage.read(key));
  return bytes && { bytes, contentType: row.contentType };
}
