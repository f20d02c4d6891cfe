import { type Db, inTransaction } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { isStatementTimeout } from '../../platform/database-errors.ts';
import { newId } from '../../platform/ids.ts';
import { joined, sql } from '../conditions/fragment.ts';
import { contactsWhere } from '../conditions/matching.ts';
import { prepare } from '../segments/guard.ts';
import { audienceOf } from './audience.ts';
import { CAMPAIGN_PRIORITY, RECIPIENTS_PER_BATCH } from './batches.ts';
import { pauseCampaignItself } from './pause-itself.ts';

/** What choosing the recipients may take, whoever wrote the condition. */
const TIMEOUT_MS = 15 * 60_000;

/** Nobody else shall see any of it. */
class CalledOff extends Error {}

/**
 * Writes down who gets the campaign: one statement, one row for each, already in batches. Nobody else waits for it: no
 * contact is locked, and the campaign itself only at the end. Called again it finds that it is done.
 */
export async function freezeAudience(db: Db, id: string): Promise<void> {
  try {
    await inTransaction(db, (trx) => freeze(trx, id));
  } catch (error) {
    if (isStatementTimeout(error))
      await pauseCampaignItself(db, id, 'AUTO_PAUSE', 'it takes too long to find out who the recipients are');
    else if (!(error instanceof CalledOff)) throw error;
  }
}

async function freeze(trx: Db, id: string): Promise<void> {
  await prepare(trx, TIMEOUT_MS);
  // Whoever was killed here may still be at it, in Postgres: the wait for it has the same limit.
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`freeze/${id}`]);
  const campaign = await Campaign.query(trx).findById(id);
  if (campaign?.status !== 'SENDING' || campaign.frozenAt) return;
  const batches = Array.from({ length: batchesFor(campaign.audienceCount) }, () => newId());
  const total = await insertRecipients(trx, campaign, batches);
  await insertBatches(trx, id, batches.slice(0, Math.ceil(total / RECIPIENTS_PER_BATCH)));
  await trx('campaignCountDeltas').insert({ campaignId: id, pending: total });
  const frozen = await Campaign.query(trx)
    .findById(id)
    .where({ status: 'SENDING' })
    .patch({ frozenAt: new Date(), updatedAt: new Date() });
  if (frozen === 0) throw new CalledOff();
}

/** Twice as many as were counted last; should there be more recipients still, the batches grow. */
const batchesFor = (expected: number): number => 1 + Math.ceil((expected * 2) / RECIPIENTS_PER_BATCH);

async function insertRecipients(trx: Db, campaign: Campaign, batches: string[]): Promise<number> {
  const { id, templateId } = campaign;
  const audience = contactsWhere(await audienceOf(trx, campaign));
  const { text, bindings } = joined(
    [
      sql`insert into emails (id, project_id, contact_id, source_type, priority, campaign_id, template_id, batch_id)`,
      sql`select uuidv7(), c.project_id, c.id, 'CAMPAIGN', ${CAMPAIGN_PRIORITY}, ${id}::uuid, ${templateId}::uuid,`,
      sql`(${batches}::uuid[])[1 + ((c.place - 1) / ${RECIPIENTS_PER_BATCH}) % ${batches.length}]`,
      sql`from (select c.id, c.project_id, row_number() over () as place ${audience}) c`,
    ],
    ' ',
  );
  const { rowCount } = await trx.raw(text, bindings as string[]);
  return rowCount;
}

async function insertBatches(trx: Db, campaignId: string, batches: string[]): Promise<void> {
  await trx.raw(
    'insert into delivery_batches (id, priority, campaign_id) select unnest(?::uuid[]), ?::smallint, ?::uuid',
    [batches, CAMPAIGN_PRIORITY, campaignId],
  );
}
