import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { findCampaign } from './find.ts';

export const timelineGranularities = ['hour', 'day'] as const;
export type TimelineGranularity = (typeof timelineGranularities)[number];

/** What happened to the emails of a campaign in an hour or day of UTC. */
export interface TimelinePoint {
  at: Date;
  sent: number;
  /** By people; a click counts as an open. */
  opened: number;
  clicked: number;
  bounced: number;
  unsubscribed: number;
}

/** Almost three months of hours. */
const MAX_POINTS = 2_000;

const readTimeline = statement<TimelinePoint>(
  'campaign-timeline',
  `select * from (
     select date_trunc($3, happened.at, 'UTC') as at,
       ${['sent', 'opened', 'clicked', 'bounced', 'unsubscribed'].map((kind) => `count(*) filter (where happened.kind = '${kind}')::integer as ${kind}`).join(', ')}
     from emails e, lateral (values ('sent', e.sent_at), ('opened', least(e.human_opened_at, e.human_clicked_at)),
       ('clicked', e.human_clicked_at), ('bounced', e.bounced_at), ('unsubscribed', e.unsubscribed_at))
       as happened (kind, at)
     where e.project_id = $1 and e.campaign_id = $2 and happened.at is not null
     group by 1 order by 1 desc limit ${MAX_POINTS}
   ) newest order by at`,
);

/** Returns the hours or days in which something happened, in order; the newest 2,000. */
export async function campaignTimeline(
  db: Db,
  projectId: string,
  id: string,
  granularity: TimelineGranularity,
): Promise<TimelinePoint[]> {
  await findCampaign(db, projectId, id);
  return readTimeline(db, [projectId, id, granularity]);
}
