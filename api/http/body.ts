import { rm, stat } from 'node:fs/promises';
import { enabledPlugins } from 'formidable';
import type { Context } from 'koa';
import { type ExtendedFormidableOptions, HttpMethodEnum, koaBody } from 'koa-body';
import { ApiError, badRequest } from '../../platform/errors.ts';
import type { Multipart, UploadedFile } from './route.ts';

export interface ReadBody {
  /** Any JSON value; the schema validates it. */
  value: unknown;
  files: Record<string, UploadedFile | undefined>;
  /** False when no text can contain a character that must be refused. */
  mayContainBadText: boolean;
  /** Removes temporary files, where there are any. */
  release?: () => Promise<void>;
}

type File = Parameters<NonNullable<ExtendedFormidableOptions['onFileBegin']>>[1];

export type BodyReader = (ctx: Context) => Promise<ReadBody>;

const DEFAULT_LIMIT = 1024 * 1024;
const FIELDS_LIMIT = 64 * 1024;
/** formidable's `maxFilesExceeded`, which has the same HTTP status as too many bytes. */
const TOO_MANY_FILES = 1015;
const parsedMethods = [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE];
const nothing = async () => {};
const noFiles = Object.freeze({});

/** Parses the text itself: koa-body's parser reports neither the position nor the kind of an error. */
export function jsonReader(limit = DEFAULT_LIMIT): BodyReader {
  const read = koaBody({
    json: false,
    urlencoded: false,
    text: true,
    textTypes: ['application/json'],
    textLimit: limit,
    parsedMethods,
  });
  return async (ctx) => {
    if (hasNoBody(ctx)) return { value: {}, files: noFiles, mayContainBadText: false };
    expectType(ctx, 'application/json');
    await readOrRefuse(ctx, read, `The body exceeds the limit of ${limit} bytes for this route.`);
    const text = String(ctx.request.body ?? '');
    return { value: parse(text), files: noFiles, mayContainBadText: text.includes('\\u') };
  };
}

/** Reads an HTML form: strings by name. */
export function formReader(): BodyReader {
  const read = textReader(['application/x-www-form-urlencoded'], FIELDS_LIMIT);
  return async (ctx) => {
    if (hasNoBody(ctx)) return { value: {}, files: noFiles, mayContainBadText: false };
    expectType(ctx, 'application/x-www-form-urlencoded');
    const text = await read(ctx);
    return { value: Object.fromEntries(new URLSearchParams(text)), files: noFiles, mayContainBadText: true };
  };
}

/**
 * Reads the form of a page or the one click of a mail program (RFC 8058): lists of strings by name. A body that is no form,
 * is too long or cannot be read is an empty form, because a recipient who leaves must not be refused.
 */
export function anyFormReader(): BodyReader {
  return async (ctx) => {
    const { 'content-type': type = '', 'content-encoding': encoding } = ctx.req.headers;
    const text = hasNoBody(ctx) ? '' : await readUpTo(ctx, FIELDS_LIMIT);
    const value: Record<string, string[]> = {};
    for (const [name, field] of encoding === undefined ? fieldsOf(type, text) : [])
      if (/^[A-Za-z][\w-]{0,63}$/.test(name) && !field.includes('\0')) value[name] = [...(value[name] ?? []), field];
    return { value, files: noFiles, mayContainBadText: false };
  };
}

/** Returns an empty text for a body beyond the limit, whose rest is drained. */
const readUpTo = ({ req }: Context, limit: number): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else resolve('');
    });
    req.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    req.on('error', () => resolve(''));
    req.on('close', () => resolve(''));
  });

const PART = /name="([^"\r\n]{1,64})"[^\r\n]{0,200}\r?\n(?:[^\r\n]{1,200}\r?\n){0,5}\r?\n([^\r\n]{0,1000})\r?\n/gi;

function fieldsOf(type: string, text: string): Iterable<[string, string]> {
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return new URLSearchParams(text);
  if (/^multipart\/form-data\b/i.test(type))
    return [...text.matchAll(PART)].map(([, name = '', field = '']): [string, string] => [name, field]);
  return [];
}

/** Reads JSON, or an HTML form: strings by name, of repeated ones the last, and all of `topic`. */
export function jsonOrFormReader(): BodyReader {
  const json = jsonReader(FIELDS_LIMIT);
  const form = formReader();
  return async (ctx) => {
    if (!ctx.is('application/x-www-form-urlencoded')) return json(ctx);
    const read = textReader(['application/x-www-form-urlencoded'], FIELDS_LIMIT);
    if (hasNoBody(ctx)) return form(ctx);
    const fields = new URLSearchParams(await read(ctx));
    const topic = fields.getAll('topic');
    const value = { ...Object.fromEntries(fields), ...(topic.length > 0 && { topic }) };
    return { value, files: noFiles, mayContainBadText: true };
  };
}

/** Reads the unparsed text. */
export function rawReader(limit = DEFAULT_LIMIT): BodyReader {
  const read = textReader(['*/*'], limit);
  return async (ctx) => ({ value: hasNoBody(ctx) ? '' : await read(ctx), files: noFiles, mayContainBadText: false });
}

function textReader(textTypes: string[], textLimit: number): (ctx: Context) => Promise<string> {
  const read = koaBody({ json: false, urlencoded: false, text: true, textTypes, textLimit, parsedMethods });
  return async (ctx) => {
    await readOrRefuse(ctx, read, `The body exceeds the limit of ${textLimit} bytes for this route.`);
    return String(ctx.request.body ?? '');
  };
}

/** The part of formidable's form that a plugin changes. */
interface Form {
  onPart(part: Part): void;
  _handlePart(part: Part): void;
}

interface Part {
  originalFilename: string | null;
  mimetype: string | null;
}

/** A file may have no Content-Type (RFC 7578), as Python's requests sends it; formidable takes it for a text then. */
function takeFilesWithoutType(form: Form): Form {
  form.onPart = (part) => {
    if (part.originalFilename && !part.mimetype) part.mimetype = 'application/octet-stream';
    return form._handlePart(part);
  };
  return form;
}

export function multipartReader({ files, maxFileBytes }: Multipart): BodyReader {
  const names = Object.keys(files);
  const limits = {
    maxFiles: names.length,
    maxFileSize: maxFileBytes,
    maxTotalFileSize: maxFileBytes * names.length,
    maxFields: 100,
    maxFieldsSize: FIELDS_LIMIT,
    // The route handles empty files, since it can explain the problem.
    allowEmptyFiles: true,
    minFileSize: 0,
    filter: ({ name }: { name: string | null }) => names.includes(name ?? ''),
    enabledPlugins: [...Object.values(enabledPlugins), takeFilesWithoutType],
  };
  return async (ctx) => {
    // Another content type gets the same status as a missing file.
    expectType(ctx, 'multipart/form-data', badRequest);
    // Recorded when they begin: an interrupted body leaves files on disk too.
    const created: File[] = [];
    const release = async () => {
      await Promise.all(created.map(({ filepath }) => rm(filepath, { force: true })));
    };
    const formidable = { ...limits, onFileBegin: (_name: string, file: File) => void created.push(file) };
    const read = koaBody({ json: false, urlencoded: false, text: false, multipart: true, parsedMethods, formidable });
    try {
      await readOrRefuse(ctx, read, `The upload exceeds the limit of ${maxFileBytes} bytes for this route.`);
      await Promise.all(created.map(requireWholeFile));
    } catch (error) {
      await release();
      throw error;
    }
    return { value: ctx.request.body ?? {}, files: filesOf(ctx), mayContainBadText: true, release };
  };
}

/** formidable does not report that a file could not be written to its end, as on a full disk. */
async function requireWholeFile({ filepath, size }: File): Promise<void> {
  const written = await stat(filepath).catch(() => undefined);
  if (written?.size !== size) throw noSpace();
}

const NO_SPACE = ['ENOSPC', 'EDQUOT', 'EFBIG'];

export const isNoSpace = (error: unknown): boolean =>
  NO_SPACE.includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');

export const noSpace = () =>
  new ApiError(503, 'INTERNAL_SERVER_ERROR', 'The upload could not be stored: the server is out of disk space.', {
    suggestion: 'Nothing was changed. Retry later.',
    headers: { 'Retry-After': '30' },
  });

const hasNoBody = ({ req: { headers } }: Context): boolean =>
  headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';

function expectType(ctx: Context, type: string, refuseWith = unsupported): void {
  const { 'content-encoding': encoding, 'content-type': given } = ctx.req.headers;
  // Refuses compressed bodies: co-body abandons a stream that passed the limit, and an error in the rest of it would
  // end the process as an uncaught exception.
  if (encoding && encoding !== 'identity')
    throw unsupported(`Content-Encoding "${excerpt(encoding)}" is not supported; send the body uncompressed.`);
  if (given === type || ctx.is(type)) return;
  const has = given ? `has the Content-Type "${excerpt(given)}"` : 'has no Content-Type';
  throw refuseWith(`The body ${has}; this route expects ${type}.`);
}

const unsupported = (message: string) => new ApiError(415, 'BAD_REQUEST', message);
const excerpt = (text: string) => text.slice(0, 100);

async function readOrRefuse(ctx: Context, read: ReturnType<typeof koaBody>, tooLarge: string): Promise<void> {
  try {
    await read(ctx, nothing);
  } catch (error) {
    // Drains the rest, so that a client that is still sending can read the response.
    ctx.req.unpipe();
    ctx.req.resume();
    throw apiErrorOf(error, tooLarge);
  }
}

/**
 * raw-body reports by `status`, formidable by `httpCode`, which is 500 for most client errors. `stream.not.readable`:
 * the client disconnected before reading began.
 */
function apiErrorOf(error: unknown, tooLarge: string): unknown {
  const { status, httpCode, message, type, code } = error as Record<string, unknown>;
  if (isNoSpace(error)) return noSpace();
  if (type === 'stream.not.readable') return badRequest('The connection ended before the body was read.');
  if (code === TOO_MANY_FILES) return badRequest('The upload has more files than this route accepts.');
  if (status === 413 || httpCode === 413) return new ApiError(413, 'PAYLOAD_TOO_LARGE', tooLarge);
  if (status === 400 || httpCode !== undefined) return badRequest(`The body cannot be read: ${message}.`);
  return error;
}

function parse(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`The body is not valid JSON: ${excerpt((error as Error).message)}`);
  }
}

function filesOf(ctx: Context): Record<string, UploadedFile | undefined> {
  const files: Record<string, UploadedFile | undefined> = {};
  for (const [name, value] of Object.entries(ctx.request.files ?? {})) {
    const file = Array.isArray(value) ? value[0] : value;
    if (file)
      files[name] = { path: file.filepath, name: file.originalFilename, contentType: file.mimetype, size: file.size };
  }
  return files;
}
