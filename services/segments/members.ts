import type { Db } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import { countMatching, pageOfMatching } from '../conditions/matching.ts';
import type { OffsetPage } from '../paging.ts';
import { findSegment } from './find.ts';
import { guarded } from './guard.ts';
import { membersOf } from './matching.ts';

/** Returns the current members, the newest contacts first. */
export async function listSegmentMembers(
  db: Db,
  projectId: string,
  id: string,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<OffsetPage<ContactRecord>> {
  const segment = await findSegment(db, projectId, id);
  return guarded(db, projectId, async (trx) => {
    const members = await membersOf(trx, segment);
    const total = await countMatching(trx, members);
    const data = await pageOfMatching(trx, members, { total, offset: (page - 1) * pageSize, limit: pageSize });
    return { data, total, page, pageSize, totalPages: Math.ceil(total / pageSize) };
  });
}
