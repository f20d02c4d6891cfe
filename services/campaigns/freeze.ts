import { type Db, inTransaction } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { isStatementTimeout } from '../../platform/database-errors.ts';
import { newId } from '../../platform/ids.ts';
import { joined, sql } from '../conditions/fragment.ts';
import { contactsWhere } from '../conditions/matching.ts';
import { prepare } from '../segments/guard.ts';
import { audienceOf } from './audience.ts';
import { pauseCampaignItself } from './auto-pause.ts';
import { CAMPAIGN_PRIORITY, RECIPIENTS_PER_BATCH } from './batches.ts';

/** Bounds the selection of the recipients, because customers write the condition. */
const TIMEOUT_MS = 15 * 60_000;

/** Rolls back: the campaign is no longer SENDING. */
class NoLongerSending extends Error {}

/**
 * Inserts the recipients of the campaign, already in batches, with one statement. Blocks no other transaction for long: it
 * locks no contact, and the campaign's row only at the end. A second call does nothing.
 */
export async function freezeAudience(db: Db, id: string): Promise<void> {
  try {
    await inTransaction(db, (trx) => freeze(trx, id));
  } catch (error) {
    if (isStatementTimeout(error))
      await pauseCampaignItself(db, id, 'AUTO_PAUSE', 'it takes too long to find out who the recipients are');
    else if (!(error instanceof NoLongerSending)) throw error;
  }
}

async function freeze(trx: Db, id: string): Promise<void> {
  await prepare(trx, TIMEOUT_MS);
  // The statement of a worker that was killed may still run in Postgres. Waiting for it has the same limit.
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`freeze/${id}`]);
  const campaign = await Campaign.query(trx).findById(id);
  if (campaign?.status !== 'SENDING' || campaign.frozenAt) return;
  const batches = Array.from({ length: batchCountFor(campaign.audienceCount) }, () => newId());
  const total = await insertRecipients(trx, campaign, batches);
  await insertBatches(trx, id, batches.slice(0, Math.ceil(total / RECIPIENTS_PER_BATCH)));
  await trx('campaignCountDeltas').insert({ campaignId: id, pending: total });
  const frozen = await Campaign.query(trx)
    .findById(id)
    .where({ status: 'SENDING' })
    .patch({ frozenAt: new Date(), updatedAt: new Date() });
  if (frozen === 0) throw new NoLongerSending();
}

/** Allows for twice the last count. With even more recipients the batches grow. */
const batchCountFor = (expected: number): number => 1 + Math.ceil((expected * 2) / RECIPIENTS_PER_BATCH);

async function insertRecipients(trx: Db, campaign: Campaign, batches: string[]): Promise<number> {
  const { id, templateId } = campaign;
  const audience = contactsWhere(await audienceOf(trx, campaign));
  const { text, bindings } = joined(
    [
      sql`insert into emails (id, project_id, contact_id, source_type, priority, campaign_id, template_id, batch_id)`,
      sql`select uuidv7(), c.project_id, c.id, 'CAMPAIGN', ${CAMPAIGN_PRIORITY}, ${id}::uuid, ${templateId}::uuid,`,
      sql`(${batches}::uuid[])[1 + ((c.number - 1) / ${RECIPIENTS_PER_BATCH}) % ${batches.length}]`,
      sql`from (select c.id, c.project_id, row_number() over () as number ${audience}) c`,
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
