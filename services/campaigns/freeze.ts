import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { isStatementTimeout } from '../../platform/database-errors.ts';
import { joined, sql } from '../conditions/fragment.ts';
import { contactsWhere } from '../conditions/matching.ts';
import { prepare } from '../segments/guard.ts';
import { audienceOf } from './audience.ts';
import { pauseCampaignItself } from './auto-pause.ts';

/** Bounds the selection of the recipients, because customers write the condition. */
const TIMEOUT_MS = 15 * 60_000;

/** Rolls back: the campaign is no longer SENDING. */
class NoLongerSending extends Error {}

/** Campaign mail is sent after transactional mail (0) and workflow mail (1). */
export const CAMPAIGN_PRIORITY = 2;

/**
 * Inserts the recipients of the campaign with one statement. Blocks no other transaction for long: it
 * locks no contact, and the campaign's row only at the end. A second call does nothing.
 */
export async function freezeAudience(db: Db, id: string): Promise<void> {
  try {
    await inTransaction(db, (trx) => freeze(trx, id));
  } catch (error) {
    if (isStatementTimeout(error))
      await pauseCampaignItself(db, id, 'AUTO_PAUSE', 'determining the recipients takes too long');
    else if (!(error instanceof NoLongerSending)) throw error;
  }
}

async function freeze(trx: Db, id: string): Promise<void> {
  await prepare(trx, TIMEOUT_MS);
  // The statement of a worker that was killed may still run in Postgres. Waiting for it has the same limit.
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`freeze/${id}`]);
  const campaign = await Campaign.query(trx).findById(id);
  if (campaign?.status !== 'SENDING' || campaign.frozenAt) return;
  const total = await insertRecipients(trx, campaign);
  await trx('campaignCountDeltas').insert({ campaignId: id, pending: total });
  const frozen = await Campaign.query(trx)
    .findById(id)
    .where({ status: 'SENDING' })
    .patch({ frozenAt: new Date(), updatedAt: new Date() });
  if (frozen === 0) throw new NoLongerSending();
  wake(trx, 'campaigns');
}

async function insertRecipients(trx: Db, campaign: Campaign): Promise<number> {
  const { id, templateId } = campaign;
  const audience = contactsWhere(await audienceOf(trx, campaign));
  const { text, bindings } = joined(
    [
      sql`insert into emails (id, project_id, contact_id, source_type, priority, campaign_id, template_id)`,
      sql`select uuidv7(), c.project_id, c.id, 'CAMPAIGN', ${CAMPAIGN_PRIORITY}, ${id}::uuid, ${templateId}::uuid`,
      sql`from (select c.id, c.project_id ${audience}) c`,
    ],
    ' ',
  );
  const { rowCount } = await trx.raw(text, bindings as string[]);
  return rowCount;
}
