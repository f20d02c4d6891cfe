import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import type { AutoPauseLimits } from './auto-pause.ts';
import { batchesLeft, regroupDue } from './batches.ts';
import { closeCampaign, closeCancelled } from './close.ts';
import { detailsOf } from './details.ts';
import { freezeAudience } from './freeze.ts';
import { nextLeave } from './pace.ts';
import { resumeUnblockedCampaign } from './pause-itself.ts';
import { lookAtProgress } from './progress.ts';

/** What a run of a campaign has to do next. */
export type NextStep = { details: string } & (
  | { kind: 'end' }
  /** Until it is told to look again, or until then. */
  | { kind: 'wait'; until?: string }
  /** With so many hands at once. */
  | { kind: 'send'; hands: number }
);

type Decision =
  | { kind: 'end' }
  | { kind: 'wait'; until?: Date }
  | { kind: 'send'; hands: number }
  /** Something has changed: decide again. */
  | { kind: 'again' };

const HELD_MS = 15_000;
const SOON_MS = 1_000;
const BATCHES_PER_HAND = 5;
const MOST_HANDS = 4;

export interface AdvanceDeps {
  db: Db;
  limits: AutoPauseLimits;
  now: () => Date | Promise<Date>;
}

export interface Run {
  campaignId: string;
  generation: number;
}

/** Takes a campaign as far as it goes without sending: from its time to its frozen audience, and to its end. */
export async function advanceCampaign(deps: AdvanceDeps, { campaignId, generation }: Run): Promise<NextStep> {
  for (;;) {
    const campaign = await Campaign.query(deps.db).findById(campaignId);
    // A later run has taken over, or there is nothing left to run.
    if (campaign?.generation !== generation) return { kind: 'end', details: 'nothing is left to do' };
    const decision = await decide(deps, campaign);
    if (decision.kind === 'again') continue;
    const details = await detailsOf(deps.db, campaignId);
    if (decision.kind !== 'wait') return { ...decision, details };
    return { kind: 'wait', details, ...(decision.until && { until: decision.until.toISOString() }) };
  }
}

async function decide(deps: AdvanceDeps, campaign: Campaign): Promise<Decision> {
  const { db } = deps;
  switch (campaign.status) {
    case 'DRAFT':
    case 'SENT':
      return { kind: 'end' };
    case 'CANCELLED':
      return (await closeCancelled(db, campaign.id)) ? { kind: 'end' } : after(deps, SOON_MS);
    case 'SCHEDULED':
      return begin(deps, campaign);
    case 'SENDING':
      return campaign.paused ? stand(deps, campaign) : goOn(deps, campaign);
  }
}

async function begin({ db, now }: AdvanceDeps, { id, scheduledFor }: Campaign): Promise<Decision> {
  if (scheduledFor && scheduledFor > (await now())) return { kind: 'wait', until: scheduledFor };
  // Should it have been put off this very moment, that counts.
  await Campaign.query(db)
    .findById(id)
    .where({ status: 'SCHEDULED', scheduledFor })
    .patch({ status: 'SENDING', startedAt: new Date(), updatedAt: new Date() });
  return { kind: 'again' };
}

async function stand(deps: AdvanceDeps, { id, pausedBy }: Campaign): Promise<Decision> {
  if (pausedBy !== 'BLOCKED') return { kind: 'wait' };
  return (await resumeUnblockedCampaign(deps.db, id)) ? { kind: 'again' } : after(deps, HELD_MS);
}

async function goOn(deps: AdvanceDeps, campaign: Campaign): Promise<Decision> {
  const { db, limits } = deps;
  const { id } = campaign;
  if (!campaign.frozenAt) {
    await freezeAudience(db, id);
    return { kind: 'again' };
  }
  if (!(await lookAtProgress(db, id, limits)).goesOn) return { kind: 'again' };
  await regroupDue(db, campaign);
  const { free, leasedUntil, dueAt } = await batchesLeft(db, campaign);
  if (free > 0) {
    const leave = await nextLeave(db, campaign);
    if (leave) return { kind: 'wait', until: leave };
    return { kind: 'send', hands: Math.min(Math.ceil(free / BATCHES_PER_HAND), MOST_HANDS) };
  }
  if (leasedUntil) return { kind: 'wait', until: new Date(leasedUntil.getTime() + SOON_MS) };
  if (dueAt) return { kind: 'wait', until: dueAt };
  return (await closeCampaign(db, id)) ? { kind: 'end' } : after(deps, SOON_MS);
}

const after = async ({ now }: AdvanceDeps, ms: number): Promise<Decision> => ({
  kind: 'wait',
  until: new Date((await now()).getTime() + ms),
});
