import { type Db, inTransaction } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { statement } from '../../db/statement.ts';
import type { Settings } from '../../platform/settings.ts';
import { findDomainUser, removeDomain } from './delete.ts';
import { mailMembersAboutDomain } from './mail-members.ts';

const KEPT_DAYS = 30;
const WARNED_DAYS = 7;
const CHUNK = 100;

// Members have a week after the warning, also where it was sent late.
const isDue = {
  warn: `removal_warned_at is null and created_at < now() - interval '${KEPT_DAYS - WARNED_DAYS} days'`,
  remove: `removal_warned_at < now() - interval '${WARNED_DAYS} days' and created_at < now() - interval '${KEPT_DAYS} days'`,
};
type RemovalStep = keyof typeof isDue;

const neverVerified = 'not managed and not ever_verified';

const find = (step: RemovalStep) =>
  statement<{ id: string; projectId: string }>(
    `domains-never-verified-${step}`,
    `select id, project_id from domains where ${neverVerified} and ${isDue[step]} and id > $1 order by id limit ${CHUNK}`,
  );
const due = { warn: find('warn'), remove: find('remove') };

const lock = (step: RemovalStep) =>
  statement(
    `domains-lock-never-verified-${step}`,
    `select 1 from domains where project_id = $1 and id = $2 and ${neverVerified} and ${isDue[step]} for update skip locked`,
  );
const lockDue = { warn: lock('warn'), remove: lock('remove') };

export interface Removal {
  warned: number;
  removed: number;
}

/**
 * Removes unused domains that were never verified 30 days after they were added, and mails the members a week before.
 * Each domain has its own transaction with its row locked, so several processes may run this.
 */
export async function removeUnverifiedDomains(db: Db, settings: Pick<Settings, 'systemFrom'>): Promise<Removal> {
  const warned = await forEachDue(db, 'warn', async (trx, domain) => {
    await Domain.query(trx).findById(domain.id).patch({ removalWarnedAt: new Date() });
    await mailMembersAboutDomain(trx, settings, domain, 'REMOVAL');
  });
  const removed = await forEachDue(db, 'remove', (trx, domain) => removeDomain(trx, domain));
  return { warned, removed };
}

async function forEachDue(
  db: Db,
  step: RemovalStep,
  work: (trx: Db, domain: Domain) => Promise<void>,
): Promise<number> {
  let done = 0;
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const found = await due[step](db, [after]);
    for (const { id, projectId } of found) if (await applyStep(db, step, { id, projectId }, work)) done++;
    const last = found.at(-1);
    if (!last || found.length < CHUNK) return done;
    after = last.id;
  }
}

/** Returns false where the domain is no longer due, is in use, or is locked by another process. */
async function applyStep(
  db: Db,
  step: RemovalStep,
  key: Pick<Domain, 'id' | 'projectId'>,
  work: (trx: Db, domain: Domain) => Promise<void>,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const isStillDue = (await lockDue[step](trx, [key.projectId, key.id])).length > 0;
    const domain = isStillDue ? await Domain.query(trx).findOne(key) : undefined;
    if (!domain || (await findDomainUser(trx, domain))) return false;
    await work(trx, domain);
    return true;
  });
}
