// Reads db/functions/*.sql: every function, trigger and view of the database, each in one file with its current text.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DatabaseFunction {
  name: string;
  sql: string;
  checksum: string;
}

/** The first line of a file whose function is used by an index or a column default. */
const BEFORE_TABLES = '-- before tables\n';

const folder = join(import.meta.dirname, 'functions');

const all: DatabaseFunction[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .sort()
  .map((file) => {
    const sql = readFileSync(join(folder, file), 'utf8');
    return { name: file.slice(0, -'.sql'.length), sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });

const isBeforeTables = ({ sql }: DatabaseFunction): boolean => sql.startsWith(BEFORE_TABLES);
const isView = ({ sql }: DatabaseFunction): boolean => /^create or replace view /m.test(sql);

export const functionsBeforeTables = all.filter(isBeforeTables);
/** Views first: functions return their rows. */
export const functionsAfterTables = [
  ...all.filter(isView),
  ...all.filter((databaseFunction) => !isBeforeTables(databaseFunction) && !isView(databaseFunction)),
];

/** Returns those that the database lacks, or has with another text. */
export function changedFunctions(
  functions: DatabaseFunction[],
  applied: { name: string; checksum: string }[],
): DatabaseFunction[] {
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  return functions.filter(({ name, checksum }) => checksums.get(name) !== checksum);
}

/** Returns those that the database has and this program does not. */
export const deletedFunctions = <Applied extends { name: string }>(applied: Applied[]): Applied[] =>
  applied.filter(({ name }) => !all.some((databaseFunction) => databaseFunction.name === name));
