import type joi from 'joi';
import { faultsOf } from '../joi-violations.ts';
import type { DocumentViolation, DocumentWarning, SavedBlockKind } from './types.ts';

const MAX_VIOLATIONS = 100;

/** What is collected while a document is read. */
export class ParseState {
  readonly violations: DocumentViolation[] = [];
  readonly warnings: DocumentWarning[] = [];
  /** Undefined for a whole email. */
  readonly savedBlock: SavedBlockKind | undefined;
  blocks = 0;
  footers = 0;

  constructor(savedBlock: SavedBlockKind | undefined) {
    this.savedBlock = savedBlock;
  }

  get isFull(): boolean {
    return this.violations.length >= MAX_VIOLATIONS;
  }

  /** `rule` completes a sentence that begins with the last part of the path. */
  report(path: string, code: DocumentViolation['code'], rule: string): undefined {
    if (!this.isFull) this.violations.push({ path, code, message: sentence(path, rule) });
  }

  reportAll(violations: DocumentViolation[]): void {
    for (const { path, code, message } of violations) this.report(path, code, message);
  }

  /** Validates with joi, without converting, and returns undefined for an invalid value. */
  validate<T>(schema: joi.Schema<T>, value: unknown, path: string): T | undefined {
    const { error, value: read } = schema.validate(value, {
      abortEarly: false,
      convert: false,
      errors: { label: 'key' },
    });
    if (!error) return read as T;
    for (const { field, code, message } of faultsOf(error))
      if (!this.isFull)
        this.violations.push({
          path: field === '' ? path : joinPath(path, field),
          code: code === 'reserved_event' ? 'custom' : code,
          message,
        });
    return undefined;
  }
}

export const sentence = (path: string, rule: string): string => `"${path.split('.').at(-1) || 'document'}" ${rule}`;

export const joinPath = (path: string, ...keys: (string | number)[]): string =>
  [path, ...keys].filter((key) => key !== '').join('.');

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reports every key that a node does not have. */
export function requireKeys(state: ParseState, node: Record<string, unknown>, path: string, keys: string[]): void {
  for (const key of Object.keys(node))
    if (!keys.includes(key)) state.report(joinPath(path, key), 'custom', 'is not allowed here');
}
