import { readFile } from 'node:fs/promises';
import { badRequest, notFound } from '../../platform/errors.ts';
import { createUploadStorage } from '../../platform/storage/upload-storage.ts';
import { listUploads } from '../../services/uploads/list.ts';
import { readUpload, saveUpload } from '../../services/uploads/save.ts';
import { type Answer, answer, created, failure, missing, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { cursorPage, dateTime, namedType, text, wholeNumber } from '../http/schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';

const MAX_BYTES = 10 * 1024 * 1024;

/** Browsers treat the bytes as an image only, whatever they contain. */
const safely = (contentType: string): Record<string, string> => ({
  'Content-Type': contentType,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Content-Disposition': 'inline',
  // Webmail embeds it from other origins.
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'public, max-age=31536000, immutable',
});

/** A display name, never used as a path. */
function nameOf(given: string | null, fallback: string): string {
  const name = (given ?? '')
    .split(/[/\\]/)
    .at(-1)
    ?.replace(/[\p{C}"]/gu, '')
    .trim()
    .slice(0, 255);
  return name && !/^\.*$/.test(name) ? name : fallback;
}

const uploadedImageSchema = namedType('UploadedImage', 'An image that was uploaded.', {
  url: text().description('Public URL of the image.').example('https://mail.example.com/uploads/logo.png'),
  key: text().description('Key of the image, the last part of its URL.').example('logo.png'),
  filename: text().description('Name of the uploaded file.').example('logo.png'),
  contentType: text().description('MIME type, detected from the content.').example('image/png'),
  size: wholeNumber().description('Size in bytes.'),
});

const listedImageSchema = namedType('Image', 'An image of the project.', {
  url: text().description('Public URL of the image.').example('https://mail.example.com/uploads/logo.png'),
  key: text().description('Key of the image, the last part of its URL.').example('logo.png'),
  contentType: text().description('MIME type, detected from the content.').example('image/png'),
  size: wholeNumber().description('Size in bytes.'),
  createdAt: dateTime().description('When the image was uploaded.'),
});

export function uploads({ settings }: AppParts): RouteGroup {
  const storage = createUploadStorage(settings.uploads);
  const urlOf = (key: string) => `${settings.baseUrl}/uploads/${key}`;
  return routes('Uploads', [
    route({
      method: 'GET',
      path: '/uploads',
      heavy: 'read',
      summary: 'List uploaded images, newest first',
      access: 'secretKey',
      scope: 'templates:read',
      query: cursorPage(),
      answers: { 200: answer('A page of images.', cursorListSchema(listedImageSchema)) },
      handle: async ({ db, project, query }) =>
        ok(
          presentCursorList(
            await listUploads(db, project.projectId, settings.secretKeys, query),
            ({ key, contentType, size, createdAt }) => ({
              url: urlOf(key),
              key,
              contentType,
              size,
              createdAt: createdAt.toISOString(),
            }),
          ),
        ),
    }),
    route({
      method: 'POST',
      path: '/uploads/image',
      summary: 'Upload an image for use in emails',
      access: 'secretKey',
      scope: 'templates:write',
      multipart: {
        name: 'UploadImageRequest',
        description: 'An image to upload.',
        files: { image: 'PNG, JPEG, GIF or WebP image of up to 10 MB.', file: 'Another name for `image`.' },
        maxFileBytes: MAX_BYTES,
      },
      answers: {
        201: answer('The uploaded image.', uploadedImageSchema),
        400: failure('The file is missing, or is not a PNG, JPEG, GIF or WebP image.', 'BAD_REQUEST'),
        413: failure('The file is larger than 10 MB or the remaining quota of the project.', 'PAYLOAD_TOO_LARGE'),
        502: failure('The image could not be stored.', 'EXTERNAL_SERVICE_ERROR'),
      },
      handle: async ({ db, project, files }) => {
        const file = files.image ?? files.file;
        if (!file) throw badRequest('Send the image in the multipart field "image".');
        const { key, contentType, size } = await saveUpload(
          db,
          storage,
          project,
          await readFile(file.path),
          settings.limits,
        );
        return created({ url: urlOf(key), key, filename: nameOf(file.name, key), contentType, size });
      },
    }),
    route({
      method: 'GET',
      path: '/uploads/:key',
      summary: 'Get an uploaded image',
      access: 'public',
      params: { key: text({ max: 100 }).description('Key of the image.') },
      answers: { 200: { description: 'The image.', contentType: 'image/*' }, 404: missing('image') },
      handle: async ({ db, params }): Promise<Answer> => {
        const upload = await readUpload(db, storage, params.key);
        if (!upload) throw notFound('image');
        return { status: 200, body: upload.bytes, headers: safely(upload.contentType) };
      },
    }),
  ]);
}
