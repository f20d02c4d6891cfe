import { type Db, inTransaction } from '../../db/connect.ts';
import { Membership, type Role } from '../../db/models/membership.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { findMember, type Member } from './list.ts';
import { type Actor, lockMembers, refuseLastOwner, requireMembership, requireOwnerFor } from './rules.ts';

export async function changeRole(db: Db, actor: Actor, userId: string, role: Role): Promise<Member> {
  const { projectId } = actor;
  return inTransaction(db, async (trx) => {
    await lockMembers(trx, projectId);
    const membership = await requireMembership(trx, projectId, userId);
    requireOwnerFor(actor, membership.role, role);
    if (role !== 'OWNER') await refuseLastOwner(trx, membership);
    await Membership.query(trx).findById([projectId, userId]).patch({ role });
    await recordAudit(
      trx,
      { projectId, actor: actor.audit },
      { action: 'member.role_changed', target: { type: 'user', id: userId }, changes: changesOf(membership, { role }) },
    );
    return (await findMember(trx, projectId, userId)) as Member;
  });
}

/** Ends a membership or withdraws an invitation. Every member may leave. */
export async function removeMember(db: Db, actor: Actor, userId: string): Promise<void> {
  const { projectId } = actor;
  await inTransaction(db, async (trx) => {
    await lockMembers(trx, projectId);
    const membership = await requireMembership(trx, projectId, userId);
    if (userId !== actor.userId) requireOwnerFor(actor, membership.role);
    await refuseLastOwner(trx, membership);
    await Membership.query(trx).deleteById([projectId, userId]);
    await trx('userTokens').where({ projectId, userId }).del();
  });
}
