import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { statement } from '../../db/statement.ts';
import { processTimings, type Timings } from '../../platform/timings.ts';
import { type AutoPauseLimits, checkProgress, resumeUnblockedCampaign } from './auto-pause.ts';
import { closeCampaign, closeCancelled } from './close.ts';
import { describeCampaign } from './details.ts';
import { freezeAudience } from './freeze.ts';
import { skipLateRecipients } from './send-until.ts';

/** What the Temporal workflow of a campaign does next. */
export type NextStep = { details: string } & (
  | { kind: 'end' }
  /** Waits for a refresh signal, at most until the given time. */
  | { kind: 'wait'; until?: string }
);

type Decision =
  | { kind: 'end' }
  | { kind: 'wait'; until?: Date }
  /** The campaign has changed: the decision is made anew. */
  | { kind: 'again' };

export interface CampaignAdvanceDeps {
  db: Db;
  limits: AutoPauseLimits;
  now: () => Date | Promise<Date>;
  timings?: Timings;
}

export interface CampaignRun {
  campaignId: string;
  generation: number;
}

/** Carries out every state change of a campaign that is due, except sending its mails, and returns what comes next. */
export async function advanceCampaign(
  deps: CampaignAdvanceDeps,
  { campaignId, generation }: CampaignRun,
): Promise<NextStep> {
  for (;;) {
    const campaign = await Campaign.query(deps.db).findById(campaignId);
    // The campaign was deleted, or a workflow of a later generation runs it.
    if (campaign?.generation !== generation) return { kind: 'end', details: 'nothing is left to do' };
    const decision = await decide(deps, campaign);
    if (decision.kind === 'again') continue;
    const details = await describeCampaign(deps.db, campaignId);
    if (decision.kind === 'end') return { kind: 'end', details };
    return { kind: 'wait', details, ...(decision.until && { until: decision.until.toISOString() }) };
  }
}

async function decide(deps: CampaignAdvanceDeps, campaign: Campaign): Promise<Decision> {
  const { db } = deps;
  switch (campaign.status) {
    case 'DRAFT':
    case 'SENT':
      return { kind: 'end' };
    case 'CANCELLED':
      return (await closeCancelled(db, campaign)) ? { kind: 'end' } : waitFor(deps, 'recheck');
    case 'SCHEDULED':
      return startWhenDue(deps, campaign);
    case 'SENDING':
      return campaign.paused ? recheckPaused(deps, campaign) : continueSending(deps, campaign);
  }
}

async function startWhenDue({ db, now }: CampaignAdvanceDeps, { id, scheduledFor }: Campaign): Promise<Decision> {
  if (scheduledFor && scheduledFor > (await now())) return { kind: 'wait', until: scheduledFor };
  // Matches no row if the campaign was rescheduled meanwhile.
  await Campaign.query(db)
    .findById(id)
    .where({ status: 'SCHEDULED', scheduledFor })
    .patch({ status: 'SENDING', startedAt: new Date(), updatedAt: new Date() });
  return { kind: 'again' };
}

async function recheckPaused(deps: CampaignAdvanceDeps, campaign: Campaign): Promise<Decision> {
  if (await isOver(deps, campaign)) return skipRest(deps, campaign);
  const { id, pausedBy, frozenAt, sendUntil } = campaign;
  if (pausedBy !== 'BLOCKED') return { kind: 'wait', ...(frozenAt && sendUntil && { until: sendUntil }) };
  return (await resumeUnblockedCampaign(deps.db, id)) ? { kind: 'again' } : waitFor(deps, 'blockedRecheck');
}

async function continueSending(deps: CampaignAdvanceDeps, campaign: Campaign): Promise<Decision> {
  const { db, limits } = deps;
  const { id } = campaign;
  if (!campaign.frozenAt) {
    await freezeAudience(db, id);
    return { kind: 'again' };
  }
  if (await isOver(deps, campaign)) return skipRest(deps, campaign);
  const progress = await checkProgress(db, id, limits);
  if (progress === 'stopped') return { kind: 'again' };
  // Senders send the mails, without this workflow. They signal the end, unless they die before.
  if (progress === 'sending') return waitFor(deps, 'sendingRecheck', await nextMoments(db, campaign));
  return (await closeCampaign(db, id)) ? { kind: 'end' } : waitFor(deps, 'recheck');
}

/** Whether `sendUntil` has passed. An audience that is not frozen yet is frozen first, also after it. */
const isOver = async ({ now }: CampaignAdvanceDeps, { frozenAt, sendUntil }: Campaign): Promise<boolean> =>
  frozenAt !== null && sendUntil !== null && sendUntil <= (await now());

/** Ends the campaign, also a paused one: nothing is left to resume. */
async function skipRest(deps: CampaignAdvanceDeps, { id }: Campaign): Promise<Decision> {
  await skipLateRecipients(deps.db, id, await deps.now());
  return (await closeCampaign(deps.db, id)) ? { kind: 'end' } : waitFor(deps, 'recheck');
}

async function waitFor(
  { now, timings = processTimings }: CampaignAdvanceDeps,
  time: keyof Timings['campaigns'],
  { dueAt, sendUntil }: NextMoments = {},
): Promise<Decision> {
  const start = Math.max((await now()).getTime(), dueAt?.getTime() ?? 0);
  const until = new Date(start + timings.campaigns[time]);
  return { kind: 'wait', until: sendUntil && sendUntil < until ? sendUntil : until };
}

interface NextMoments {
  /** Until then nothing is sent. */
  dueAt?: Date | undefined;
  sendUntil?: Date | null;
}

const readDueAt = statement<{ dueAt: Date }>(
  'campaign-next-due',
  `select due_at from emails where campaign_id = $1 and status = 'PENDING' order by due_at limit 1`,
);

/** Keeps the history small of a campaign that waits for hours between the time zones. */
async function nextMoments(db: Db, { id, localTime, sendUntil }: Campaign): Promise<NextMoments> {
  if (localTime === null) return { sendUntil };
  return { sendUntil, dueAt: (await readDueAt(db, [id]))[0]?.dueAt };
}
