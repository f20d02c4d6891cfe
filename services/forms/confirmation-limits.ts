// Confirmations to an address, over all projects of the installation, so that no visitor can flood a stranger's mailbox.
import { lockName } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { hashToken } from '../../platform/crypto/secrets.ts';

const countSent = statement<{ count: number; nextAt: Date | null }>(
  'confirmations-count',
  `select count(*)::integer as count, min(at) + interval '24 hours' as next_at from (
     select at from confirmations_sent where address_hash = $1 and at > now() - interval '24 hours' order by at desc limit $2
   ) latest`,
);
const insert = statement('confirmations-add', 'insert into confirmations_sent (address_hash) values ($1)');
const sweep = statement('confirmations-sweep', `delete from confirmations_sent where at < now() - interval '24 hours'`);

const hashOf = (email: string): Buffer => hashToken(`confirmation ${email}`);

/** Lets one transaction at a time decide about email to an address. */
export const lockAddress = (trx: Db, email: string): Promise<void> =>
  lockName(trx, `confirmation/${hashOf(email).toString('hex')}`);

/** Returns when the address may get another confirmation, or undefined for now. Call it under the address's lock. */
export async function nextConfirmation(trx: Db, email: string, max: number): Promise<Date | undefined> {
  const [row] = await countSent(trx, [hashOf(email), max]);
  return row && row.count >= max ? (row.nextAt ?? undefined) : undefined;
}

export async function countConfirmation(trx: Db, email: string): Promise<void> {
  await insert(trx, [hashOf(email)]);
}

/** Removes what no limit counts any more. */
export const sweepConfirmations = (db: Db): Promise<number> => sweep.count(db);
