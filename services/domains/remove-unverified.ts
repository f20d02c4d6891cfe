import { type Db, inTransaction } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { statement } from '../../db/statement.ts';
import type { Settings } from '../../platform/settings.ts';
import { findDomainUser, removeDomain } from './delete.ts';
import { mailMembersAboutDomain } from './mail-members.ts';

const KEPT_DAYS = 30;
const WARNED_DAYS = 7;
const SET = 100;

// Members always have a week after the mail, also where it was sent late.
const isDue = {
  warn: `removal_warned_at is null and created_at < now() - interval '${KEPT_DAYS - WARNED_DAYS} days'`,
  remove: `removal_warned_at < now() - interval '${WARNED_DAYS} days' and created_at < now() - interval '${KEPT_DAYS} days'`,
};
type Act = keyof typeof isDue;

const neverVerified = 'not managed and not ever_verified';

const find = (act: Act) =>
  statement<{ id: string; project_id: string }>(
    `domains-never-verified-${act}`,
    `select id, project_id from domains where ${neverVerified} and ${isDue[act]} and id > $1 order by id limit ${SET}`,
  );
const due = { warn: find('warn'), remove: find('remove') };

export interface Removal {
  warned: number;
  removed: number;
}

/**
 * Removes domains that were never verified and that nothing uses, 30 days after they were added, and mails the members a
 * week before. Each domain is a transaction of its own with its row locked, so any number of processes may run this.
 */
export async function removeUnverifiedDomains(db: Db, settings: Pick<Settings, 'systemFrom'>): Promise<Removal> {
  const warned = await forEachDue(db, 'warn', async (trx, domain) => {
    await Domain.query(trx).findById(domain.id).patch({ removalWarnedAt: new Date() });
    await mailMembersAboutDomain(trx, settings, domain, 'REMOVAL');
  });
  const removed = await forEachDue(db, 'remove', removeDomain);
  return { warned, removed };
}

async function forEachDue(db: Db, act: Act, work: (trx: Db, domain: Domain) => Promise<void>): Promise<number> {
  let done = 0;
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const found = await due[act](db, [after]);
    for (const { id, project_id: projectId } of found) if (await actOn(db, act, { id, projectId }, work)) done++;
    const last = found.at(-1);
    if (!last || found.length < SET) return done;
    after = last.id;
  }
}

/** False where it is no longer due, is in use, or another process is at it. */
async function actOn(
  db: Db,
  act: Act,
  place: Pick<Domain, 'id' | 'projectId'>,
  work: (trx: Db, domain: Domain) => Promise<void>,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const domain = await Domain.query(trx)
      .findOne(place)
      .whereRaw(`${neverVerified} and ${isDue[act]}`)
      .forUpdate()
      .skipLocked();
    if (!domain || (await findDomainUser(trx, domain))) return false;
    await work(trx, domain);
    return true;
  });
}
