import { lockName } from '../../db/advisory-lock.ts';
import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { countRecipients, type FrozenCounts } from '../../db/models/campaign-counts.ts';
import { insertLedgerRowsFrom } from '../../db/models/email-writing.ts';
import { sql, sqlText } from '../../db/sql.ts';
import { queryCount, queryRows } from '../../db/statement.ts';
import { isStatementTimeout } from '../../platform/database-errors.ts';
import { contactsWhere } from '../conditions/matching.ts';
import { prepare } from '../segments/guard.ts';
import { audienceOf } from './audience.ts';
import { pauseCampaignItself } from './auto-pause.ts';
import { timedAudience } from './local-time.ts';

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
  await lockName(trx, `freeze/${id}`);
  const campaign = await Campaign.query(trx).findById(id);
  if (campaign?.status !== 'SENDING' || campaign.frozenAt) return;
  await countRecipients(trx, campaign, await freezeRecipients(trx, campaign));
  const frozen = await Campaign.query(trx)
    .findById(id)
    .where({ status: 'SENDING' })
    .patch({ frozenAt: new Date(), updatedAt: new Date() });
  if (frozen === 0) throw new NoLongerSending();
  wake(trx, 'campaigns');
}

const COLUMNS = 'source_type, priority, campaign_id, template_id';
const insertRecipients = sqlText(insertLedgerRowsFrom('project_id', COLUMNS));
const insertTimedRecipients = sqlText(insertLedgerRowsFrom('project_id', `${COLUMNS}, status, reason, due_at`));

async function freezeRecipients(trx: Db, campaign: Campaign): Promise<FrozenCounts> {
  const { id, templateId, localTime, late } = campaign;
  const audience = await audienceOf(trx, campaign);
  const columns = sql`uuidv7() as id, c.project_id, c.id as contact_id, 'CAMPAIGN' as source_type,
    ${CAMPAIGN_PRIORITY}::smallint as priority, ${id}::uuid as campaign_id, ${templateId}::uuid as template_id`;
  if (localTime === null || late === null) {
    const contacts = sql`select ${columns} from (select c.id, c.project_id ${contactsWhere(audience)}) c`;
    return { pending: await queryCount(trx, sql`${insertRecipients} (${contacts}) mail`), skipped: 0 };
  }
  const timed = await timedAudience(trx, campaign, { localTime, late, audience });
  const [counts] = await queryRows<FrozenCounts>(
    trx,
    sql`with inserted as (
          ${insertTimedRecipients} (select ${columns}, c.status, c.reason, c.due_at from (${timed}) c) mail
          returning status
        )
        select count(*) filter (where status = 'PENDING')::integer as pending,
          count(*) filter (where status = 'SKIPPED')::integer as skipped from inserted`,
  );
  return counts ?? { pending: 0, skipped: 0 };
}
