import type { Db } from '../../db/connect.ts';
import { Contact } from '../../db/models/contact.ts';
import type { OffsetPage } from '../paging.ts';
import { findSegment } from './find.ts';
import { guarded } from './guard.ts';
import { countMatching, matchingSql } from './matching.ts';

/** Who is in it at this moment, the newest contacts first. */
export async function listMembers(
  db: Db,
  projectId: string,
  id: string,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<OffsetPage<Contact>> {
  const segment = await findSegment(db, projectId, id);
  return guarded(db, async (trx) => {
    const matching = await matchingSql(trx, segment);
    const total = await countMatching(trx, projectId, matching);
    const offset = (page - 1) * pageSize;
    const data =
      offset < total
        ? await Contact.query(trx)
            .alias('c')
            .where('c.projectId', projectId)
            .whereRaw(matching.text, [...matching.bindings] as string[])
            .orderBy([
              { column: 'c.createdAt', order: 'desc' },
              { column: 'c.id', order: 'desc' },
            ])
            .limit(pageSize)
            .offset(offset)
        : [];
    return { data, total, page, pageSize, totalPages: Math.ceil(total / pageSize) };
  });
}
