// Readers of search parameters. Whatever an address has, a page gets only values that it knows.

export type RawSearch = Record<string, unknown>;

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== ''
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : undefined;

export const oneOf = <T extends string>(value: unknown, ...allowed: readonly T[]): T | undefined =>
  allowed.find((item) => item === value);

export const flagOf = (value: unknown): boolean | undefined =>
  value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined;

/** A day, as YYYY-MM-DD. */
export const dayOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) ? value : undefined;

/** Leaves out what is not set, so that addresses stay short. */
export const compact = <T extends object>(search: T): T =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as T;

export const textSearch = (raw: RawSearch): { search?: string | undefined } => compact({ search: textOf(raw.search) });

export const tabSearch = (raw: RawSearch): { tab?: string | undefined } => compact({ tab: textOf(raw.tab) });

/** Opens the dialog that adds a resource; links of the command palette set it. */
export interface AddSearch {
  add?: true | undefined;
}

export const addSearch = (raw: RawSearch): AddSearch => compact({ add: flagOf(raw.add) || undefined });
