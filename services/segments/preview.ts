import { type Db, inTransaction } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import { readContactCounts } from '../../db/models/contact-counts.ts';
import { type Fragment, sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { isStatementTimeout } from '../../platform/database-errors.ts';
import { heavyWork } from '../access/heavy-work.ts';
import { countMatching, type Matching, pageOfMatching } from '../conditions/matching.ts';
import { requireCondition } from '../conditions/parse.ts';
import { prepare } from './guard.ts';
import { contactsMatching } from './matching.ts';

export interface SegmentPreview {
  count: number;
  /** Counting took too long: `count` is projected from a sample, or the number of all contacts. */
  estimated: boolean;
  sample: ContactRecord[];
}

export interface PreviewTimes {
  countMs: number;
  sampleMs: number;
}

const SAMPLE_SIZE = 10;
/** Contacts from which an estimate is projected. */
const SCANNED = 2_000;
/** Two seconds together. */
const TIMES: PreviewTimes = { countMs: 1_400, sampleMs: 500 };

/** Returns how many contacts match a condition, and some of them, within about two seconds. */
export async function previewSegment(
  db: Db,
  projectId: string,
  tree: unknown,
  { countMs, sampleMs }: PreviewTimes = TIMES,
): Promise<SegmentPreview> {
  const at = 'condition';
  const matching = await contactsMatching(db, projectId, requireCondition(tree, { at }), at);
  return heavyWork(
    db,
    'condition',
    projectId,
    async () =>
      (await within(db, countMs, (trx) => exact(trx, matching))) ??
      (await within(db, sampleMs, (trx) => projected(trx, matching))) ?? {
        count: (await readContactCounts(db, projectId)).contacts,
        estimated: true,
        sample: [],
      },
    countMs + sampleMs,
  );
}

/** Returns undefined when a statement takes longer. */
async function within<T>(db: Db, ms: number, work: (trx: Db) => Promise<T>): Promise<T | undefined> {
  try {
    return await inTransaction(db, async (trx) => {
      await prepare(trx, ms);
      return work(trx);
    });
  } catch (error) {
    if (isStatementTimeout(error)) return undefined;
    throw error;
  }
}

async function exact(trx: Db, matching: Matching): Promise<SegmentPreview> {
  const count = await countMatching(trx, matching);
  const sample = await pageOfMatching(trx, matching, { total: count, offset: 0, limit: SAMPLE_SIZE });
  return { count, estimated: false, sample };
}

interface Scan {
  scanned: number;
  found: number;
  sample: string[];
}

/** Projects the share of matches among contacts that are near each other in the index to all contacts. */
async function projected(trx: Db, { projectId, condition }: Matching): Promise<SegmentPreview> {
  const some: Fragment = sql`select * from contacts c where c.project_id = ${projectId} limit ${SCANNED}`;
  const [row] = await queryRows<Scan>(
    trx,
    sql`with c as materialized (${some}), found as materialized (select c.id from c where ${condition})
      select (select count(*) from c)::integer as scanned, (select count(*) from found)::integer as found,
        array(select id::text from found limit ${SAMPLE_SIZE}) as sample`,
  );
  const { scanned = 0, found = 0, sample: ids = [] } = row ?? {};
  const { contacts: total } = await readContactCounts(trx, projectId);
  const chosen = { projectId, scope: sql`c.project_id = ${projectId}`, condition: sql`c.id = any (${ids}::uuid[])` };
  const sample = await pageOfMatching(trx, chosen, { total: ids.length, offset: 0, limit: SAMPLE_SIZE });
  const share = scanned === 0 ? 0 : found / scanned;
  return { count: Math.round(share * Math.max(total, scanned)), estimated: true, sample };
}
