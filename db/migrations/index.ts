// The migrations, run in the order of their names. A merged migration never changes. Functions, triggers and views are in
// db/functions.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';

export const migrations: Record<string, Knex.Migration> = {
  '001-baseline': sqlFolder('001-baseline'),
  '002-analytics': sqlFolder('002-analytics'),
  '003-drafts': sqlFolder('003-drafts'),
  '004-retry-jobs': sqlFolder('004-retry-jobs'),
  '005-dashboard': sqlFolder('005-dashboard'),
  '006-installation': sqlFolder('006-installation'),
  '007-page-calls': sqlFolder('007-page-calls'),
  '008-removals': sqlFolder('008-removals'),
  '009-refused-recipients': sqlFolder('009-refused-recipients'),
  '010-used-codes': sqlFolder('010-used-codes'),
  '011-erasure': sqlFolder('011-erasure'),
  '012-busy-queues': sqlFolder('012-busy-queues'),
  '013-stored-graphs': sqlFolder('013-stored-graphs'),
  '014-counters': sqlFolder('014-counters'),
  '015-drop-graph-rows': sqlFolder('015-drop-graph-rows'),
  '016-mail-documents': sqlFolder('016-mail-documents'),
  '017-workflow-counters': sqlFolder('017-workflow-counters'),
  '018-activity-counters': sqlFolder('018-activity-counters'),
  '019-dashboard': sqlFolder('019-dashboard'),
  '020-topics': sqlFolder('020-topics'),
  '021-pages': sqlFolder('021-pages'),
  '022-forms': sqlFolder('022-forms'),
  '023-topic-jobs': sqlFolder('023-topic-jobs'),
  '024-campaign-recipients': sqlFolder('024-campaign-recipients'),
};

/** Returns a migration that runs the SQL files of a folder in the order of their names. */
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

/** Escapes question marks, which knex would take for bindings. */
const runSql = (db: Knex, text: string) => db.raw(text.replaceAll('?', '\\?'));
