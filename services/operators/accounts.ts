import { type Db, inTransaction } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import { recordAudit, SYSTEM } from '../audit/record.ts';
import { removeTwoFactor } from '../users/two-factor.ts';

/** Makes a user an operator of the installation. Returns false when they were one before. */
export async function makeOperator(db: Db, user: User): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const changed = await User.query(trx)
      .findById(user.id)
      .where({ operator: false })
      .patch({ operator: true, updatedAt: new Date() });
    if (changed === 0) return false;
    await recordAudit(
      trx,
      { userId: user.id, actor: SYSTEM },
      { action: 'user.operator_made', target: { type: 'user', id: user.id } },
    );
    return true;
  });
}

/** Turns two-factor authentication off for a user who lost it. Returns false when it was not on. */
export async function resetTwoFactor(db: Db, user: User): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const current = await User.query(trx).findById(user.id).forNoKeyUpdate();
    if (!current?.totpEnabledAt) return false;
    await removeTwoFactor(trx, user.id);
    await recordAudit(
      trx,
      { userId: user.id, actor: SYSTEM },
      { action: 'user.totp_disabled', target: { type: 'user', id: user.id } },
    );
    return true;
  });
}
