import { Readable } from 'node:stream';
import type { Db } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import { csvLines } from '../../platform/csv-lines.ts';
import { heavyWork } from '../access/heavy-work.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { recordAudit } from '../audit/record.ts';
import { projectContacts } from '../conditions/scope.ts';
import { listKeys } from './fields.ts';
import { type ContactPageQuery, pageByScan } from './list-query.ts';

const MAX_ROWS = 1_000;
/** Limits the size of a page, because formatting one blocks the event loop. */
const MAX_CELLS = 50_000;

const EXPORT_WAIT_MS = 600_000;

type Cells = Pick<ContactRecord, 'email' | 'subscribed' | 'data'>;

interface Column {
  header: string;
  cell(contact: Cells): unknown;
}

/**
 * Records the export, then returns all contacts as CSV, in the order of their addresses. Reads page by page, as fast as the client does. The columns
 * are the fields at the start. An import can read the result.
 */
export async function exportContacts(db: Db, project: ProjectAccess): Promise<Readable> {
  const { projectId } = project;
  await recordAudit(db, project, { action: 'contacts.exported', target: { type: 'contacts', id: null } });
  const keys = await listKeys(db, projectId);
  const columns: Column[] = [
    { header: 'email', cell: ({ email }) => email },
    { header: 'subscribed', cell: ({ subscribed }) => subscribed },
    ...keys.map(({ key }) => columnOf(key)),
  ];
  return Readable.from(pages(db, projectId, columns), { objectMode: false });
}

const columnOf = (key: string): Column => ({
  // An import would read these as the standard columns.
  header: /^\s*(email|subscribed)\s*$/i.test(key) ? `data.${key}` : key,
  cell: ({ data }) => (Object.hasOwn(data, key) ? data[key] : undefined),
});

async function* pages(db: Db, projectId: string, columns: Column[]): AsyncGenerator<string> {
  yield csvLines([columns.map(({ header }) => header)]);
  const limit = Math.max(1, Math.min(MAX_ROWS, Math.floor(MAX_CELLS / columns.length)));
  const query: ContactPageQuery = {
    projectId,
    scope: projectContacts(projectId),
    filter: { data: [] },
    order: { sort: 'email', dir: 'asc' },
    after: undefined,
    limit,
  };
  for (;;) {
    // Waits long, because the response has begun and an error would break the download.
    const rows = await heavyWork(db, 'read', projectId, () => pageByScan(db, query), EXPORT_WAIT_MS);
    const last = rows.at(-1);
    if (!last) return;
    yield csvLines(rows.map((row) => columns.map(({ cell }) => cell(row))));
    query.after = { by: last.sortKey, id: last.id };
  }
}
