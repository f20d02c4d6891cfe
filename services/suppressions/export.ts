import { Readable } from 'node:stream';
import type { Db } from '../../db/connect.ts';
import { Suppression } from '../../db/models/suppression.ts';
import { csvLines } from '../../platform/csv-lines.ts';
import { heavyWork } from '../access/heavy-work.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { recordAudit } from '../audit/record.ts';

const PAGE = 1_000;
const EXPORT_WAIT_MS = 600_000;

/**
 * Records the export, then returns the list as CSV, the oldest first, page by page. Leaves out addresses of which only the
 * hash is stored.
 */
export async function exportSuppressions(db: Db, project: ProjectAccess): Promise<Readable> {
  await recordAudit(db, project, { action: 'suppressions.exported', target: { type: 'suppressions', id: null } });
  return Readable.from(pages(db, project.projectId), { objectMode: false });
}

async function* pages(db: Db, projectId: string): AsyncGenerator<string> {
  yield csvLines([['email', 'reason', 'note', 'createdAt']]);
  for (let after: string | undefined; ; ) {
    // Waits long, because the response has begun and an error would break the download.
    const rows: Suppression[] = await heavyWork(
      db,
      'read',
      projectId,
      () => pageAfter(db, projectId, after),
      EXPORT_WAIT_MS,
    );
    const last = rows.at(-1);
    if (!last) return;
    const known = rows.filter(({ email }) => email !== null);
    if (known.length > 0)
      yield csvLines(known.map(({ email, reason, note, createdAt }) => [email, reason, note, createdAt]));
    after = last.id;
  }
}

async function pageAfter(db: Db, projectId: string, after: string | undefined): Promise<Suppression[]> {
  return Suppression.query(db)
    .where({ projectId })
    .modify((query) => after !== undefined && query.where('id', '>', after))
    .orderBy('id')
    .limit(PAGE);
}
