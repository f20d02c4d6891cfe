import type { Db } from './db.ts';
import { statement } from './statement.ts';

const read = statement<{ id: string }>('installation-id', 'select id from installation');

/** Returns the id of this installation, which its database was given when it was migrated. */
export async function installationId(db: Db): Promise<string> {
  const [row] = await read(db, []);
  if (!row)
    throw new Error('The table "installation" is empty: insert a row with "insert into installation default values".');
  return row.id;
}
