import type { Db } from '../../db/connect.ts';
import { clientNetwork } from '../../platform/client-network.ts';
import { countUse, tooMany } from '../throttle/count.ts';

// Invitations send mail to people who never asked for any. All limits are counted in the transaction of the invitation,
// so one that fails for another reason counts for nothing.

const DAY = 24 * 60;
const PER_UNVERIFIED_INVITER = 10;
const PER_INVITER = 200;
const PER_PROJECT = 200;
const PER_IP = 500;
/** Mails to one address, from all projects together. */
const PER_RECIPIENT = 10;
/** Of those, from inviters who are not verified: they alone must not use up what others may send. */
const PER_RECIPIENT_UNVERIFIED = 3;

interface Inviting {
  projectId: string;
  userId: string;
  emailVerified: boolean;
  ip: string;
}

/** Refuses with 429 what is more than an inviter, a project or an IP may ask for in a day. */
export async function countInvitation(trx: Db, { projectId, userId, emailVerified, ip }: Inviting): Promise<void> {
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
        ? 'Too many invitations in a day.'
        : `At most ${PER_UNVERIFIED_INVITER} invitations a day before your address is verified.`,
    );
}

/**
 * Whether an invitation is mailed: once an hour for each project and address, and so often a day for each address. The
 * caller is not told, since the second depends on what other projects do.
 */
export async function mayMailInvitation(
  trx: Db,
  { projectId, emailVerified }: Inviting,
  email: string,
): Promise<boolean> {
  const inProject = { name: `invitation mail ${projectId} ${email}`, max: 1, minutes: 60 };
  if ((await countUse(trx, [inProject])) > 0) return false;
  const unverified = { name: `invitation mail unverified ${email}`, max: PER_RECIPIENT_UNVERIFIED, minutes: DAY };
  if (!emailVerified && (await countUse(trx, [unverified])) > 0) return false;
  return (await countUse(trx, [{ name: `invitation mail ${email}`, max: PER_RECIPIENT, minutes: DAY }])) === 0;
}
