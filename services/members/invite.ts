import { type Db, inTransaction } from '../../db/connect.ts';
import { Membership, type Role } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { User, UserToken } from '../../db/models/user.ts';
import { ApiError } from '../../platform/errors.ts';
import { clientNetwork } from '../../platform/http/client-network.ts';
import { newId } from '../../platform/ids.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { countUse, tooMany } from '../throttle/count.ts';
import { type MailSettings, mailInvitation } from '../users/mails.ts';
import { issueToken } from '../users/tokens.ts';
import { findMember, type Member } from './list.ts';
import { type ActingMember, lockMembers, requireOwnerFor } from './rules.ts';

export interface Inviter extends ActingMember {
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
  inviter: Inviter,
  { email, role }: { email: string; role: Role },
): Promise<Member> {
  const { projectId, actor } = inviter;
  return inTransaction(db, async (trx) => {
    await lockMembers(trx, projectId);
    const { name } = await Project.query(trx).findById(projectId).throwIfNotFound();
    const userId = await findOrCreateUser(trx, email);
    const before = await Membership.query(trx).findById([projectId, userId]);
    if (before?.status === 'ACTIVE')
      throw new ApiError(409, 'CONFLICT', 'The user with this address is already a member.');
    requireOwnerFor(inviter, role, ...(before ? [before.role] : []));
    await Membership.query(trx)
      .insert({ projectId, userId, role, status: 'PENDING' })
      .onConflict(['projectId', 'userId'])
      .merge(['role']);
    await recordAudit(
      trx,
      { projectId, actor },
      { action: 'member.invited', target: { type: 'user', id: userId }, changes: changesOf(before ?? {}, { role }) },
    );
    await countInvitation(trx, inviter);
    if (await mayMailInvitation(trx, inviter, email)) {
      await UserToken.query(trx).where({ projectId, userId, purpose: 'INVITATION' }).delete();
      const token = await issueToken(trx, 'INVITATION', { userId, projectId });
      await mailInvitation(trx, settings, email, { token, projectName: name, role, invitedBy: inviter });
    }
    return (await findMember(trx, projectId, userId)) as Member;
  });
}

async function findOrCreateUser(trx: Db, email: string): Promise<string> {
  await User.query(trx).insert({ id: newId(), email }).onConflict('email').ignore();
  const { id } = await User.query(trx).findOne({ email }).throwIfNotFound();
  return id;
}

// Invitations send mail to people who never asked for any. Limits are counted in the transaction of the invitation, so
// one that fails for another reason does not count.

const DAY = 24 * 60;
const PER_UNVERIFIED_INVITER = 10;
const PER_INVITER = 200;
const PER_PROJECT = 200;
const PER_IP = 500;
/** Mails to one address, from all projects together. */
const PER_RECIPIENT = 10;
/** Of those, from unverified inviters, who must not use up the recipient's whole limit. */
const PER_RECIPIENT_UNVERIFIED = 3;

interface InvitationRequest {
  projectId: string;
  userId: string;
  emailVerified: boolean;
  ip: string;
}

/** Rejects with 429 when the inviter, the project or the IP exceeds its daily limit. */
async function countInvitation(trx: Db, { projectId, userId, emailVerified, ip }: InvitationRequest): Promise<void> {
  const inviterMax = emailVerified ? PER_INVITER : PER_UNVERIFIED_INVITER;
  const wait = await countUse(trx, [
    { name: `invitations inviter ${userId}`, max: inviterMax, minutes: DAY },
    { name: `invitations project ${projectId}`, max: PER_PROJECT, minutes: DAY },
    { name: `invitations ip ${clientNetwork(ip)}`, max: PER_IP, minutes: DAY },
  ]);
  if (wait > 0)
    throw tooMany(
      wait,
      emailVerified
        ? 'Too many invitations within a day.'
        : `Until you verify your address, you can send at most ${PER_UNVERIFIED_INVITER} invitations a day.`,
    );
}

/**
 * Returns whether the invitation is mailed: once an hour per project and address, and so often a day per address. The
 * response does not show it, since the second limit depends on other projects.
 */
async function mayMailInvitation(
  trx: Db,
  { projectId, emailVerified }: InvitationRequest,
  email: string,
): Promise<boolean> {
  const inProject = { name: `invitation mail ${projectId} ${email}`, max: 1, minutes: 60 };
  if ((await countUse(trx, [inProject])) > 0) return false;
  const unverified = { name: `invitation mail unverified ${email}`, max: PER_RECIPIENT_UNVERIFIED, minutes: DAY };
  if (!emailVerified && (await countUse(trx, [unverified])) > 0) return false;
  return (await countUse(trx, [{ name: `invitation mail ${email}`, max: PER_RECIPIENT, minutes: DAY }])) === 0;
}
