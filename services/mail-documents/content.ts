import type { Db } from '../../db/connect.ts';
import { StoredBlock } from '../../db/models/saved-block.ts';
import { validationError } from '../../platform/errors.ts';
import {
  type BrandKit,
  type MailDocument,
  RENDERER_VERSION,
  renderDocument,
  type SavedBlocks,
  savedBlockIds as savedBlocksNamedIn,
} from '../../platform/mail-document/index.ts';
import { findBrandKit } from './brand-kit.ts';
import { type CheckedDocument, requireDocument, requireSavedBlocks } from './parse.ts';

/** The content of an email in a request. Null counts as absent. */
export interface GivenContent {
  body?: string | null | undefined;
  /** Not validated yet. */
  document?: unknown;
}

/** A content that is valid on its own: HTML, or a document whose saved blocks are not looked up yet. */
export type CheckedContent = { body: string } | (CheckedDocument & { beside: string | undefined });

/** The columns that hold the content of a template, a draft or a campaign. */
export interface ContentColumns {
  body: string;
  document: MailDocument | null;
  rendererVersion: number | null;
  savedBlockIds: string[];
}

/** What a content is edited with. */
export const contentEditors = ['VISUAL', 'HTML'] as const;

export const contentEditorOf = ({
  rendererVersion,
}: Pick<ContentColumns, 'rendererVersion'>): (typeof contentEditors)[number] =>
  rendererVersion === null ? 'HTML' : 'VISUAL';

/** Returns the content that a request has; undefined for none. Throws a 422 with the path of what is wrong. */
export function checkContent({ body, document }: GivenContent): CheckedContent | undefined {
  const html = body ?? undefined;
  if (document !== undefined && document !== null) return { ...requireDocument(document), beside: html };
  if (html !== undefined) return { body: html };
  if (document === null)
    throw validationError([
      { field: 'document', message: '"document" must not be null unless "body" is given', code: 'invalid_type' },
    ]);
  return undefined;
}

/**
 * Returns the columns of a content, rendered with the brand kit and the saved blocks, which are locked against deletion until
 * the transaction ends. A body beside a document must be the stored one, so that the answer of GET is a valid request.
 */
export async function contentColumns(
  trx: Db,
  projectId: string,
  content: CheckedContent,
  storedBody?: string,
): Promise<ContentColumns> {
  if ('body' in content) return { body: content.body, document: null, rendererVersion: null, savedBlockIds: [] };
  requireNoBodyBeside(content, storedBody);
  return renderedColumns(trx, projectId, content.document);
}

export function requireNoBodyBeside({ beside }: { beside: string | undefined }, storedBody?: string): void {
  if (beside !== undefined && beside !== storedBody)
    throw validationError([
      { field: 'body', message: '"body" must not be given together with "document"', code: 'custom' },
    ]);
}

/** Renders a document with the present or a given brand kit, and saved blocks, which are locked unless it is a preview. */
export async function renderedColumns(
  db: Db,
  projectId: string,
  document: MailDocument,
  { isPreview = false, kit: givenKit }: { isPreview?: boolean; kit?: BrandKit | undefined } = {},
): Promise<ContentColumns> {
  const savedBlockIds = savedBlocksNamedIn(document);
  const kit = givenKit ?? (await findBrandKit(db, projectId)).kit;
  const blocks = isPreview
    ? await readSavedBlocks(db, projectId, savedBlockIds)
    : await lockSavedBlocks(db, projectId, savedBlockIds);
  requireSavedBlocks(document, blocks);
  return {
    body: renderDocument(document, kit, blocks),
    document,
    rendererVersion: RENDERER_VERSION,
    savedBlockIds,
  };
}

/** Returns the columns of a stored document. One that names a saved block which was deleted since is left out. */
export async function usableDocument(
  trx: Db,
  projectId: string,
  { document, rendererVersion }: Pick<ContentColumns, 'document' | 'rendererVersion'>,
): Promise<Omit<ContentColumns, 'body'>> {
  const savedBlockIds = document ? savedBlocksNamedIn(document) : [];
  const blocks = await lockSavedBlocks(trx, projectId, savedBlockIds);
  if (savedBlockIds.some((id) => !blocks.has(id))) return { document: null, rendererVersion: null, savedBlockIds: [] };
  return { document, rendererVersion, savedBlockIds };
}

/** Reads the blocks that a document names, and locks them against deletion until the transaction ends. */
export async function lockSavedBlocks(trx: Db, projectId: string, ids: string[]): Promise<SavedBlocks> {
  if (ids.length === 0) return new Map();
  return byId(await StoredBlock.query(trx).where({ projectId }).whereIn('id', ids).orderBy('id').forKeyShare());
}

/** Reads the blocks that a document names. */
export const readNamedBlocks = (db: Db, projectId: string, document: MailDocument): Promise<SavedBlocks> =>
  readSavedBlocks(db, projectId, savedBlocksNamedIn(document));

const readSavedBlocks = async (db: Db, projectId: string, ids: string[]): Promise<SavedBlocks> =>
  byId(ids.length > 0 ? await StoredBlock.query(db).where({ projectId }).whereIn('id', ids) : []);

const byId = (blocks: StoredBlock[]): SavedBlocks =>
  new Map(blocks.map(({ id, kind, document }) => [id, { kind, document }]));
