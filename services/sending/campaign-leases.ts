// Leases mail of campaigns: which campaigns have due mail, whose turn it is, and how many mails a throttle allows.
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { processTimings } from '../../platform/timings.ts';
import { reserveMailsOfThrottle } from '../campaigns/rates.ts';
import type { RecipientRow } from './campaign-contents.ts';

/** How much sending of a throttled campaign is reserved at a time. */
const RESERVED_SECONDS = 0.25;
/** Bodies may be megabytes: what is leased together is prepared together. */
const MAX_LEASED_BYTES = 8 * 1024 * 1024;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

// The limits make the planner look for one due mail of each campaign. With EXISTS it reads all mails of all campaigns.
const list = statement<{ id: string; projectId: string; ratePerMinute: number | null; bodyBytes: number }>(
  'sending-campaigns',
  `select c.id, c.project_id, c.rate_per_minute, octet_length(c.body) as body_bytes from campaigns c
   left join campaign_rates r on r.campaign_id = c.id
   where c.status = 'SENDING' and not c.paused and c.frozen_at is not null
     and (c.rate_per_minute is null or r.next_at is null or r.next_at <= now() + interval '1 second')
     and (
       select true from emails e where e.campaign_id = c.id and e.status = 'PENDING' and e.due_at <= now()
         and (select true from outgoing_mails o where o.email_id = e.id limit 1) is null limit 1)
   order by row_number() over (partition by c.project_id order by c.id), c.project_id`,
);

// The time as text, with the microseconds that a Date would lose.
const lease = statement<RecipientRow & { dueAt: string }>(
  'sending-lease-campaign',
  `select id, due_at::text, contact_id, email, subscribed, created_at, data
   from lease_campaign_recipients($1, $2, $3, $4, $5)`,
);

interface Position {
  due: string;
  id: string;
}

const BEGINNING: Position = { due: '-infinity', id: FIRST_ID };

interface SendingCampaign {
  id: string;
  projectId: string;
  ratePerMinute: number | null;
  bodyBytes: number;
  /** Where the last lease ended: finished mails need not be passed again. */
  position: Position;
  /** Reserved and not used. */
  tokens: number;
  /** A throttled campaign is not leased before this, by `performance.now()`. */
  notBefore: number;
}

export interface LeasedCampaignMails {
  campaignId: string;
  projectId: string;
  bodyBytes: number;
  mails: RecipientRow[];
}

export class CampaignLeases {
  private readonly db: Db;
  private readonly senderId: string;
  /** Campaigns are listed anew after this long. */
  private readonly listMs: number;
  /** In the order in which they are served next. */
  private campaigns: SendingCampaign[] = [];
  private listedAt = Number.NEGATIVE_INFINITY;

  constructor(db: Db, senderId: string, listMs = processTimings.sender.listCampaigns) {
    this.db = db;
    this.senderId = senderId;
    this.listMs = listMs;
  }

  /** Lists the campaigns anew at the next lease. */
  refresh(): void {
    this.listedAt = Number.NEGATIVE_INFINITY;
  }

  forget(campaignId: string): void {
    this.campaigns = this.campaigns.filter(({ id }) => id !== campaignId);
  }

  /** Leases mails of the next campaign that has some. Returns undefined when none has any now. */
  async leaseNext(limit: number): Promise<LeasedCampaignMails | undefined> {
    if (performance.now() - this.listedAt > this.listMs) await this.listAnew();
    for (let left = this.campaigns.length; left > 0; left--) {
      const campaign = this.campaigns.shift();
      if (!campaign) return undefined;
      this.campaigns.push(campaign);
      const { bodyBytes } = campaign;
      const fitting = Math.max(1, Math.floor(MAX_LEASED_BYTES / bodyBytes));
      const mails = await this.leaseOf(campaign, Math.min(limit, fitting));
      if (mails.length > 0) return { campaignId: campaign.id, projectId: campaign.projectId, bodyBytes, mails };
    }
    return undefined;
  }

  /** Keeps the order, the positions and the tokens of campaigns that are still listed. A changed rate drops its tokens. */
  private async listAnew(): Promise<void> {
    const rows = await list(this.db, []);
    this.listedAt = performance.now();
    const listed = new Map(rows.map((row) => [row.id, row]));
    const known = this.campaigns.flatMap((campaign) => {
      const row = listed.get(campaign.id);
      if (!row) return [];
      listed.delete(campaign.id);
      const { ratePerMinute } = row;
      return ratePerMinute === campaign.ratePerMinute
        ? [campaign]
        : [{ ...campaign, ratePerMinute, tokens: 0, notBefore: 0 }];
    });
    const added = [...listed.values()].map(({ id, projectId, ratePerMinute, bodyBytes }) => {
      return { id, projectId, ratePerMinute, bodyBytes, position: BEGINNING, tokens: 0, notBefore: 0 };
    });
    this.campaigns = [...known, ...added];
  }

  private async leaseOf(campaign: SendingCampaign, limit: number): Promise<LeasedCampaignMails['mails']> {
    const allowed = await this.allowedBy(campaign, limit);
    if (allowed === 0) return [];
    const { id, position } = campaign;
    let rows = await lease(this.db, [this.senderId, id, allowed, position.due, position.id]);
    // Mails before the position may be due again: deferred, slowed or given up by another sender.
    if (rows.length === 0 && position !== BEGINNING)
      rows = await lease(this.db, [this.senderId, id, allowed, BEGINNING.due, BEGINNING.id]);
    const last = rows.at(-1);
    campaign.position = last ? { due: last.dueAt, id: last.id } : BEGINNING;
    if (campaign.ratePerMinute !== null) campaign.tokens -= rows.length;
    return rows;
  }

  private async allowedBy(campaign: SendingCampaign, limit: number): Promise<number> {
    const { id, ratePerMinute } = campaign;
    if (ratePerMinute === null) return limit;
    if (campaign.tokens === 0 && campaign.notBefore <= performance.now()) {
      const mails = Math.max(1, Math.floor((ratePerMinute / 60) * RESERVED_SECONDS));
      const answer = await reserveMailsOfThrottle(this.db, id, mails, ratePerMinute);
      if ('granted' in answer) campaign.tokens = mails;
      else campaign.notBefore = performance.now() + answer.waitSeconds * 1_000;
    }
    return Math.min(campaign.tokens, limit);
  }

  /** Milliseconds until a throttled campaign may be leased again, at most `longest`. */
  waitMs(longest: number): number {
    const now = performance.now();
    return this.campaigns.reduce((wait, { notBefore }) => {
      return notBefore > now ? Math.min(wait, notBefore - now) : wait;
    }, longest);
  }
}
