import { type Violation, validationError } from '../../platform/errors.ts';
import {
  checkSavedBlocks,
  type DocumentViolation,
  type DocumentWarning,
  type MailDocument,
  parseDocument,
  type SavedBlockKind,
  type SavedBlocks,
} from '../../platform/mail-document/index.ts';

/** The name of the field in every request. */
const FIELD = 'document';

/** A document that is valid on its own; its saved blocks are not looked up yet. */
export interface CheckedDocument {
  document: MailDocument;
  /** What was changed while it was read. */
  warnings: DocumentWarning[];
}

/** Validates the document of a request. Throws a 422 with the path of everything that is wrong. */
export function requireDocument(value: unknown, savedBlock?: SavedBlockKind): CheckedDocument {
  const { document, warnings, errors } = parseDocument(value, { savedBlock });
  if (errors) throw validationError(errors.map(asViolation));
  return { document, warnings };
}

/** Throws a 422 when a saved block does not exist, or may not stand where the document has it. */
export function requireSavedBlocks(document: MailDocument, blocks: SavedBlocks): void {
  const errors = checkSavedBlocks(document, blocks);
  if (errors.length > 0) throw validationError(errors.map(asViolation));
}

function asViolation({ path, code, message }: DocumentViolation): Violation {
  return { field: path === '' ? FIELD : `${FIELD}.${path}`, message, code };
}
