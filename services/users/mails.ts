import type { Db } from '../../db/connect.ts';
import type { User } from '../../db/models/user.ts';
import type { Settings } from '../../platform/settings.ts';
import { sendSystemMail } from '../system/mail.ts';
import { issueToken } from './tokens.ts';

/** What mail to users is made with. */
export type MailSettings = Pick<Settings, 'systemFrom' | 'baseUrl'>;

type Addressee = Pick<User, 'id' | 'email'>;

export async function mailVerification(trx: Db, { systemFrom, baseUrl }: MailSettings, user: Addressee): Promise<void> {
  const token = await issueToken(trx, 'VERIFY_EMAIL', { userId: user.id });
  await sendSystemMail(trx, {
    from: systemFrom,
    to: user.email,
    subject: 'Verify your e-mail address',
    paragraphs: ['Please verify that this address is yours.'],
    link: { url: `${baseUrl}/verify-email/${token}`, text: 'Verify the address' },
    closing: 'The link works once, within three days. If you did not sign up, ignore this mail.',
  });
}

export async function mailReset(trx: Db, { systemFrom, baseUrl }: MailSettings, user: Addressee): Promise<void> {
  const token = await issueToken(trx, 'RESET_PASSWORD', { userId: user.id });
  await sendSystemMail(trx, {
    from: systemFrom,
    to: user.email,
    subject: 'Reset your password',
    paragraphs: ['Somebody, you we hope, asked for a new password for the account with this address.'],
    link: { url: `${baseUrl}/reset-password/${token}`, text: 'Choose a new password' },
    closing: 'The link works once, within an hour. If it was not you, ignore this mail: nothing has changed.',
  });
}

/** A change that its owner should hear of, should it have been somebody else. */
export async function mailPasswordChanged(trx: Db, { systemFrom }: MailSettings, user: Addressee): Promise<void> {
  await sendSystemMail(trx, {
    from: systemFrom,
    to: user.email,
    subject: 'Your password was changed',
    paragraphs: ['The password of your account was changed, and all sessions have ended.'],
    closing: 'If it was not you, reset your password at once.',
  });
}

export interface Invitation {
  token: string;
  projectName: string;
  role: string;
  invitedBy: string;
}

export async function mailInvitation(
  trx: Db,
  { systemFrom, baseUrl }: MailSettings,
  to: string,
  { token, projectName, role, invitedBy }: Invitation,
): Promise<void> {
  await sendSystemMail(trx, {
    from: systemFrom,
    to,
    subject: `Invitation to the project ${projectName}`,
    paragraphs: [`${invitedBy} invites you to work on the project ${projectName}, with the role ${role}.`],
    link: { url: `${baseUrl}/invitations/${token}`, text: 'Look at the invitation' },
    closing: 'The link works once, within seven days. If you do not know the sender, ignore this mail.',
  });
}
