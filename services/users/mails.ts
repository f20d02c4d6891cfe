import type { Db } from '../../db/connect.ts';
import { Membership } from '../../db/models/membership.ts';
import type { User } from '../../db/models/user.ts';
import { addressInMail, nameInMail, roleInText } from '../../platform/names.ts';
import type { Settings } from '../../platform/settings.ts';
import { sendSystemMail } from '../system/mail.ts';
import { issueToken } from './tokens.ts';

/** The settings that mail to users needs. */
export type MailSettings = Pick<Settings, 'systemFrom' | 'baseUrl'>;

type Recipient = Pick<User, 'id' | 'email'>;

export async function mailVerification(trx: Db, { systemFrom, baseUrl }: MailSettings, user: Recipient): Promise<void> {
  const token = await issueToken(trx, 'VERIFY_EMAIL', { userId: user.id });
  await sendSystemMail(trx, {
    from: systemFrom,
    to: user.email,
    subject: 'Verify your email address',
    paragraphs: ['Please verify that this address is yours.'],
    link: { url: `${baseUrl}/verify-email/${token}`, text: 'Verify the address' },
    closing: 'The link works once and expires in three days. If you did not sign up, ignore this email.',
  });
}

export async function mailReset(trx: Db, { systemFrom, baseUrl }: MailSettings, user: Recipient): Promise<void> {
  const token = await issueToken(trx, 'RESET_PASSWORD', { userId: user.id });
  await sendSystemMail(trx, {
    from: systemFrom,
    to: user.email,
    subject: 'Reset your password',
    paragraphs: ['A password reset was requested for the account with this address.'],
    link: { url: `${baseUrl}/reset-password/${token}`, text: 'Choose a new password' },
    closing:
      'The link works once and expires in an hour. If you did not request it, ignore this email: nothing has changed.',
  });
}

export interface PasswordChange {
  /** The account was opened without proof that the address belongs to its owner. */
  takenOver?: boolean;
  /** The account has no password now. */
  cleared?: boolean;
}

/**
 * Notifies the owner of a password change they may not have made. Sends nothing to unverified addresses: a stranger
 * could fill the mailbox by changing the password repeatedly.
 */
export async function mailPasswordChanged(
  trx: Db,
  { systemFrom }: MailSettings,
  user: Recipient & Pick<User, 'emailVerified'>,
  { takenOver = false, cleared = false }: PasswordChange = {},
): Promise<void> {
  if (!user.emailVerified) return;
  const projects = takenOver ? await countProjects(trx, user.id) : 0;
  const what = cleared ? 'removed' : 'changed';
  await sendSystemMail(trx, {
    from: systemFrom,
    to: user.email,
    subject: `Your password was ${what}`,
    paragraphs: [
      `The password of your account was ${what}, and all sessions have ended.`,
      ...(cleared ? ['Request a password reset to set a new one.'] : []),
      ...(projects > 0
        ? [
            `Before the address was verified, the account had joined ${projects === 1 ? 'a project' : `${projects} projects`}. If you did not create the account, delete or leave them: someone else may know their API keys. Regenerate the keys of those that you keep.`,
          ]
        : []),
    ],
    closing: 'If this was not you, reset your password immediately.',
  });
}

const countProjects = (trx: Db, userId: string): Promise<number> =>
  Membership.query(trx).where({ userId, status: 'ACTIVE' }).resultSize();

export interface Invitation {
  token: string;
  projectName: string;
  role: string;
  /** Nothing written by an inviter without a verified address is shown. */
  invitedBy: { email: string; emailVerified: boolean };
}

export async function mailInvitation(
  trx: Db,
  { systemFrom, baseUrl }: MailSettings,
  to: string,
  { token, projectName, role, invitedBy }: Invitation,
): Promise<void> {
  const project = invitedBy.emailVerified ? `the project ${nameInMail(projectName)}` : 'a project';
  const who = invitedBy.emailVerified ? addressInMail(invitedBy.email) : undefined;
  await sendSystemMail(trx, {
    from: systemFrom,
    to,
    subject: `Invitation to ${project}`,
    paragraphs: [
      `${who ? `${who} has invited you` : 'You have been invited'} to work on ${project}, with the role ${roleInText(role)}.`,
    ],
    link: { url: `${baseUrl}/invitations/${token}`, text: 'View invitation' },
    closing: 'The link works once and expires in seven days. If you do not know the sender, ignore this email.',
  });
}
