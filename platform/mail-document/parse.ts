import joi from 'joi';
import { themeAttributes } from './attributes.ts';
import { renderedViolations } from './check-rendered.ts';
import { readContent } from './parse-blocks.ts';
import { plainText, readInlines } from './parse-inline.ts';
import { isObject, ParseState, requireKeys, sentence } from './parse-state.ts';
import { savedBlockIds } from './saved-blocks.ts';
import { scanValue } from './scan-value.ts';
import type {
  DocumentTheme,
  DocumentViolation,
  DocumentWarning,
  MailDocument,
  SavedBlockKind,
  TextNode,
  VariableNode,
} from './types.ts';

const MAX_BYTES = 512 * 1024;

export interface ParseDocumentOptions {
  /** The kind of the saved block that the document is for. */
  savedBlock?: SavedBlockKind | undefined;
}

export type ParsedDocument =
  | { document: MailDocument; warnings: DocumentWarning[]; errors?: never }
  | { document?: never; warnings?: never; errors: DocumentViolation[] };

const language = joi
  .string()
  .pattern(/^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i)
  .messages({ 'string.pattern.base': '{{#label}} must be a language such as en or de-AT' })
  .default('en');

/** Validates a document and completes it: defaults are filled in, `{{name}}` in text becomes a chip, HTML is cleaned. */
export function parseDocument(value: unknown, { savedBlock }: ParseDocumentOptions = {}): ParsedDocument {
  const unstorable = scanValue(value);
  if (unstorable) return { errors: [unstorable] };
  if (Buffer.byteLength(JSON.stringify(value) ?? '') > MAX_BYTES)
    return { errors: [{ path: '', code: 'too_big', message: sentence('', 'must not be larger than 512 KB as JSON') }] };
  const state = new ParseState(savedBlock);
  const document = readDocument(state, value);
  if (!document || state.violations.length > 0) return { errors: state.violations };
  // With saved blocks, `checkSavedBlocks` does this.
  const errors = savedBlockIds(document).length > 0 ? [] : renderedViolations(document);
  return errors.length > 0 ? { errors } : { document, warnings: state.warnings };
}

function readDocument(state: ParseState, value: unknown): MailDocument | undefined {
  if (!isObject(value)) return state.report('', 'invalid_type', 'must be an object');
  requireKeys(state, value, '', ['version', 'lang', 'preheader', 'theme', 'content']);
  const { version } = value;
  if (version !== 1) state.report('version', version === undefined ? 'required' : 'invalid_enum', 'must be 1');
  const lang = state.validate<string>(language, value.lang, 'lang');
  const theme = state.validate<DocumentTheme>(themeAttributes.required(), value.theme ?? {}, 'theme');
  const preheader = readInlines(state, value.preheader, 'preheader', plainText) as (TextNode | VariableNode)[];
  if (value.content === undefined) return state.report('content', 'required', 'is required');
  const content = readContent(state, value.content);
  if (state.savedBlock === 'FOOTER' && state.footers === 0)
    state.report('content', 'custom', 'must have one footer, because the saved block is of kind FOOTER');
  return lang === undefined || !theme ? undefined : { version: 1, lang, preheader, theme, content };
}
