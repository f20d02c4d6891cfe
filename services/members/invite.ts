import { type Db, inTransaction } from '../../db/connect.ts';
import { Membership, type Role } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { User } from '../../db/models/user.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { type MailSettings, mailInvitation } from '../users/mails.ts';
import { issueToken } from '../users/tokens.ts';
import { countInvitation, mayMailInvitation } from './invitation-limits.ts';
import { findMember, type Member } from './list.ts';
import { type Actor, lockMembers, requireOwnerFor } from './rules.ts';

export interface Inviter extends Actor {
  email: string;
  emailVerified: boolean;
  ip: string;
}

/**
 * Creates a pending member and mails the link to accept. Inviting again replaces the link; within an hour it only
 * changes the role.
 */
export async function inviteMember(
  db: Db,
  settings: MailSettings,
  actor: Inviter,
  { email, role }: { email: string; role: Role },
): Promise<Member> {
  const { projectId } = actor;
  return inTransaction(db, async (trx) => {
    await lockMembers(trx, projectId);
    const { name } = await Project.query(trx).findById(projectId).throwIfNotFound();
    const userId = await findOrCreateUser(trx, email);
    const before = await Membership.query(trx).findById([projectId, userId]);
    if (before?.status === 'ACTIVE')
      throw new ApiError(409, 'CONFLICT', 'The user with this address is a member already.');
    requireOwnerFor(actor, role, ...(before ? [before.role] : []));
    await Membership.query(trx)
      .insert({ projectId, userId, role, status: 'PENDING' })
      .onConflict(['projectId', 'userId'])
      .merge(['role']);
    await countInvitation(trx, actor);
    if (await mayMailInvitation(trx, actor, email)) {
      await trx('userTokens').where({ projectId, userId, purpose: 'INVITATION' }).del();
      const token = await issueToken(trx, 'INVITATION', { userId, projectId });
      await mailInvitation(trx, settings, email, { token, projectName: name, role, invitedBy: actor });
    }
    return (await findMember(trx, projectId, userId)) as Member;
  });
}

async function findOrCreateUser(trx: Db, email: string): Promise<string> {
  await User.query(trx).insert({ id: newId(), email }).onConflict('email').ignore();
  const { id } = await User.query(trx).findOne({ email }).throwIfNotFound();
  return id;
}
