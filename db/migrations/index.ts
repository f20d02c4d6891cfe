// The migrations by name, run in the order of their names. A migration that has landed never changes; functions,
// triggers and views are not migrated here, but in db/functions.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';

export const migrations: Record<string, Knex.Migration> = {
  '001-baseline': sqlFolder('001-baseline'),
};

/** A migration that is a folder of SQL files, run in the order of their names. */
function sqlFolder(name: string): Knex.Migration {
  return {
    up: async (db) => {
      const folder = join(import.meta.dirname, name);
      for (const file of readdirSync(folder).sort()) await runSql(db, readFileSync(join(folder, file), 'utf8'));
    },
    down: async () => {
      throw new Error(`${name} cannot be undone: begin with an empty database.`);
    },
  };
}

/** knex would take a question mark for a binding. */
const runSql = (db: Knex, text: string) => db.raw(text.replaceAll('?', '\\?'));
