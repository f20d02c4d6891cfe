import type { Db } from '../../db/connect.ts';
import { Campaign, type CampaignStatus } from '../../db/models/campaign.ts';
import { type OffsetPage, requireSmallPage } from '../paging.ts';
import { type CampaignView, viewCampaigns } from './view.ts';

export interface CampaignsQuery {
  page: number;
  pageSize: number;
  status?: CampaignStatus | undefined;
  /** A part of the name, the subject or the sender's address. */
  search?: string | undefined;
  sort: 'name' | 'createdAt' | 'updatedAt';
  dir: 'asc' | 'desc';
}

/** Without documents, which may take 512 kB each. */
const LISTED = [
  'id',
  'projectId',
  'name',
  'description',
  'subject',
  'body',
  'rendererVersion',
  'revision',
  'fromEmail',
  'fromName',
  'replyTo',
  'topicId',
  'type',
  'status',
  'audienceType',
  'segmentId',
  'audienceCondition',
  'templateId',
  'followUpOf',
  'audienceCount',
  'ratePerMinute',
  'sendUntil',
  'localTime',
  'late',
  'paused',
  'pausedBy',
  'pauseReason',
  'scheduledFor',
  'frozenAt',
  'sentAt',
  'createdAt',
  'updatedAt',
] as const;

export async function listCampaigns(
  db: Db,
  projectId: string,
  { page, pageSize, status, search, sort, dir }: CampaignsQuery,
): Promise<OffsetPage<CampaignView>> {
  const list = Campaign.query(db)
    .select(...LISTED)
    .where({ projectId, ...(status && { status }) })
    .whereNull('deletedAt')
    .orderBy([
      { column: sort, order: dir },
      { column: 'id', order: dir },
    ]);
  if (search) {
    const part = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    list.where((any) => {
      for (const column of ['name', 'subject', 'fromEmail']) any.orWhereILike(column, part);
    });
  }
  await requireSmallPage(db, projectId, list, { page, pageSize });
  const { results, total } = await list.page(page - 1, pageSize);
  const data = await viewCampaigns(db, results);
  return { data, total, page, pageSize, totalPages: Math.ceil(total / pageSize) };
}
