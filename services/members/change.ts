import { type Db, inTransaction } from '../../db/connect.ts';
import { Membership, type Role } from '../../db/models/membership.ts';
import { UserToken } from '../../db/models/user.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { findMember, type Member } from './list.ts';
import { type ActingMember, lockMembers, refuseLastOwner, requireMembership, requireOwnerFor } from './rules.ts';

export async function changeRole(db: Db, by: ActingMember, userId: string, role: Role): Promise<Member> {
  const { projectId, actor } = by;
  return inTransaction(db, async (trx) => {
    await lockMembers(trx, projectId);
    const membership = await requireMembership(trx, projectId, userId);
    requireOwnerFor(by, membership.role, role);
    if (role !== 'OWNER') await refuseLastOwner(trx, membership);
    await Membership.query(trx).findById([projectId, userId]).patch({ role });
    const changes = changesOf<Membership>(membership, { role });
    if (changes.role)
      await recordAudit(
        trx,
        { projectId, actor },
        { action: 'member.role_changed', target: { type: 'user', id: userId }, changes },
      );
    return (await findMember(trx, projectId, userId)) as Member;
  });
}

/** Ends a membership or withdraws an invitation. Every member may leave. */
export async function removeMember(db: Db, by: ActingMember, userId: string): Promise<void> {
  const { projectId, actor } = by;
  await inTransaction(db, async (trx) => {
    await lockMembers(trx, projectId);
    const membership = await requireMembership(trx, projectId, userId);
    if (userId !== by.userId) requireOwnerFor(by, membership.role);
    await refuseLastOwner(trx, membership);
    await Membership.query(trx).deleteById([projectId, userId]);
    await UserToken.query(trx).where({ projectId, userId }).delete();
    await recordAudit(
      trx,
      { projectId, actor },
      {
        action: 'member.removed',
        target: { type: 'user', id: userId },
        changes: changesOf<{ role: Role | null }>(membership, { role: null }),
      },
    );
  });
}
