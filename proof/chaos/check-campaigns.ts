import type { Db } from '../../db/connect.ts';
import { proofClient } from '../client.ts';
import type { SteeredCampaign } from '../recorder.ts';
import type { CheckContext, CheckRow } from './check.ts';
import { GROUP_SIZE } from './setup.ts';

interface CampaignRow {
  id: string;
  status: string;
  recipients: number;
  statuses: Record<string, number>;
  /** The starts of attempts, in milliseconds. */
  starts: number[];
}

/** All recipients have a result, the sums agree with them, and nothing was begun while paused or after a cancel. */
export async function checkCampaigns({ db, recorder, stack }: CheckContext): Promise<CheckRow> {
  const { rows }: { rows: CampaignRow[] } = await db.raw(
    `select c.id, c.status, (select count(*)::integer from emails e where e.campaign_id = c.id) as recipients,
       (select coalesce(jsonb_object_agg(s.status, s.count), '{}') from (
         select status, count(*) from emails e where e.campaign_id = c.id group by status) s) as statuses,
       (select coalesce(jsonb_agg(extract(epoch from (a.value ->> 'startedAt')::timestamptz) * 1000), '[]')
         from emails e, jsonb_array_elements(coalesce(e.attempt_log, '[]')) a where e.campaign_id = c.id) as starts
     from campaigns c`,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const client = proofClient(stack.apiUrls, stack.project.secretKey);
  const violations: string[] = [];
  let paused = 0;
  let cancelled = 0;
  for (const campaign of recorder.campaigns) {
    const row = byId.get(campaign.id);
    if (!row) {
      violations.push(`campaign ${campaign.id} is gone`);
      continue;
    }
    const say = (what: string) => violations.push(`campaign ${row.id}, ${row.status}: ${what}`);
    const accepted = (name: string) =>
      campaign.actions.some((action) => action.name === name && action.reply.outcome === 'accepted');
    // Who receives a topic changes all the time.
    if (accepted('send') && row.status !== 'CANCELLED' && !campaign.topicId) {
      const leftOut = await unsubscribedWithoutMail(db, campaign);
      if (row.recipients + leftOut !== GROUP_SIZE)
        say(`${row.recipients} recipients and ${leftOut} unsubscribed instead of ${GROUP_SIZE}`);
    }
    if (accepted('cancel') && row.status !== 'CANCELLED') say('its cancel was accepted');
    if (accepted('cancel')) cancelled++;
    if (accepted('pause')) paused++;
    for (const [from, to] of silentTimes(campaign)) {
      const begun = row.starts.filter((at) => at > from && at < to).length;
      if (begun > 0) say(`${begun} mails begun between ${new Date(from).toISOString()} and ${to}`);
    }
    const shown = (await client.insist('GET', `/campaigns/${row.id}`)).body;
    const sums = {
      totalRecipients: row.recipients,
      pendingCount: row.statuses.PENDING ?? 0,
      sentCount: row.statuses.SENT ?? 0,
      failedCount: row.statuses.FAILED ?? 0,
      skippedCount: row.statuses.SKIPPED ?? 0,
      cancelledCount: row.statuses.CANCELLED ?? 0,
      unknownCount: row.statuses.UNKNOWN ?? 0,
    };
    if (row.status === 'SENT' || row.recipients > 0)
      for (const [name, count] of Object.entries(sums))
        if (shown?.[name] !== count) say(`${name} is ${shown?.[name]}, counted ${count}`);
  }
  return {
    what: 'campaigns: once, sums, pause and cancel',
    checked: `${recorder.campaigns.length} campaigns`,
    violations,
    note: `${paused} paused, ${cancelled} cancelled`,
  };
}

/** Counts the members of the group whom an earlier refusal of their address had unsubscribed. */
async function unsubscribedWithoutMail(db: Db, { id, group }: SteeredCampaign): Promise<number> {
  const { rows } = await db.raw(
    `select count(*)::integer as count from contacts k
     where k.project_id = (select project_id from campaigns where id = ?) and k.data ->> 'group' = ? and not k.subscribed
       and not exists (select 1 from emails e where e.campaign_id = ? and e.contact_id = k.id)`,
    [id, group, id],
  );
  return rows[0].count;
}

/** From the answer to a pause to the request that resumes, and from the answer to a cancel on. */
function silentTimes({ actions }: SteeredCampaign): [from: number, to: number][] {
  return actions.flatMap(({ name, reply }, n): [number, number][] => {
    if (reply.outcome !== 'accepted' || (name !== 'pause' && name !== 'cancel')) return [];
    const next = name === 'pause' ? actions[n + 1]?.reply.sentAt : undefined;
    return [[reply.answeredAt, next ?? Number.POSITIVE_INFINITY]];
  });
}
