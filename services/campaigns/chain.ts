// A chain: a campaign and the follow-ups that were made of it and of one another.
import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { isOpened } from '../conditions/email-results.ts';
import { guarded } from '../segments/guard.ts';
import { unlessTooSlow } from './audience.ts';

export const MAX_FOLLOW_UPS = 3;

export type ChainLink = Pick<Campaign, 'id' | 'name' | 'status' | 'followUpOf' | 'deletedAt'>;

export interface CampaignChain {
  /** Those that were made of the campaign, directly or of its follow-ups, oldest first. */
  followUps: Pick<Campaign, 'id' | 'name' | 'status'>[];
  /** Contacts, each counted once, of all campaigns of the chain. Null without a follow-up, or where counting takes too long. */
  combined: ChainCounts | null;
}

interface ChainCounts {
  recipients: number;
  opened: number;
  clicked: number;
}

/** Returns the follow-ups of a chain, oldest first, without those that were deleted before they were sent. */
export async function followUpsOfChain(db: Db, projectId: string, chainId: string): Promise<ChainLink[]> {
  return Campaign.query(db)
    .select('id', 'name', 'status', 'followUpOf', 'deletedAt')
    .where({ projectId, chainId })
    .where((kept) => kept.whereNull('deletedAt').orWhereNotNull('startedAt'))
    .orderBy('id');
}

export async function readChain(
  db: Db,
  { id, projectId, chainId }: Pick<Campaign, 'id' | 'projectId' | 'chainId'>,
): Promise<CampaignChain> {
  const first = chainId ?? id;
  const all = await followUpsOfChain(db, projectId, first);
  if (all.length === 0) return { followUps: [], combined: null };
  const below = new Set([id]);
  const followUps = all.filter(({ id: own, followUpOf }) => below.has(followUpOf ?? '') && below.add(own));
  const ids = [first, ...all.map((one) => one.id)];
  const combined = await unlessTooSlow(() => guarded(db, projectId, (trx) => countContacts(trx, projectId, ids)));
  return {
    followUps: followUps.flatMap(({ id: own, name, status, deletedAt }) =>
      deletedAt === null ? [{ id: own, name, status }] : [],
    ),
    combined: combined ?? null,
  };
}

async function countContacts(db: Db, projectId: string, ids: string[]): Promise<ChainCounts> {
  const [row] = await queryRows<ChainCounts>(
    db,
    sql`select count(*)::integer as recipients, count(*) filter (where opened)::integer as opened,
          count(*) filter (where clicked)::integer as clicked
        from (
          select bool_or(${isOpened}) as opened, bool_or(e.human_clicked_at is not null) as clicked
          from emails e where e.project_id = ${projectId} and e.campaign_id = any (${ids}::uuid[]) group by e.contact_id
        ) contact`,
  );
  return row ?? { recipients: 0, opened: 0, clicked: 0 };
}
