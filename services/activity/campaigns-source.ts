import { statement } from '../../db/statement.ts';
import { inTimePage, micros, timePageValues } from '../events/newest.ts';
import type { ActivitySource } from './source.ts';

type Type = 'campaign.scheduled' | 'campaign.sent';
const types: Type[] = ['campaign.scheduled', 'campaign.sent'];

interface Row {
  type: Type;
  id: string;
  at: string;
  time: Date;
  name: string;
  subject: string;
  scheduledFor: Date | null;
}

// Needs no index: a project has thousands of campaigns at most.
const moments = `
  select kind.type, c.id, c.name, c.subject, c.scheduled_for, kind.time, ${micros('kind.time')} as at
  from campaigns c, lateral (values ('campaign.scheduled', c.scheduled_at), ('campaign.sent', c.sent_at)) as kind (type, time)
  where c.project_id = $1 and c.deleted_at is null and kind.time is not null`;

const newest = statement<Row>(
  'activity-campaigns',
  `select * from (${moments}) moments where type = any ($7::text[]) and ${inTimePage('time', 'id', '<=')}
   order by time desc, id desc limit $6`,
);

const count = statement<{ count: string }>(
  'activity-count-campaigns',
  `select count(*) as count from (${moments}) moments
   where type = any ($2::text[]) and time >= $3::timestamptz and time < $4::timestamptz`,
);

/** Its items belong to no contact. */
export const campaignsSource: ActivitySource = {
  types,
  async newest(db, { projectId, types, contactId }, page) {
    if (contactId) return [];
    const rows = await newest(db, [projectId, ...timePageValues(page), types]);
    return rows.map(({ type, id, at, time, name, subject, scheduledFor }) => ({
      key: { at, id },
      item: {
        id: `${id}:${type.slice('campaign.'.length)}`,
        type,
        timestamp: time,
        contactId: null,
        metadata: {
          campaignId: id,
          name,
          subject,
          ...(type === 'campaign.scheduled' ? { scheduledFor: scheduledFor?.toISOString() ?? null } : {}),
        },
      },
    }));
  },
  async count(db, { projectId, types, contactId }, range) {
    if (contactId) return 0;
    const [row] = await count(db, [projectId, types, range.from ?? '-infinity', range.to ?? 'infinity']);
    return Number(row?.count ?? 0);
  },
};
