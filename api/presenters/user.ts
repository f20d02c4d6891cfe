import type { User } from '../../db/models/user.ts';
import { accountLanguages } from '../../platform/languages.ts';
import { dateTime, email, flag, namedType, nullable, oneOf, uuid } from '../http/schemas.ts';

export const userSchema = namedType('User', 'A user of Everpost.', {
  id: uuid().description('User ID.'),
  email: email().description('Email address, in lower case.'),
  emailVerified: flag().description('Whether the user has verified the email address.'),
  hasPassword: flag().description('Whether the account has a password.'),
  totpEnabled: flag().description('Whether two-factor authentication is on.'),
  operator: flag().description('Whether the user is an operator of this installation.'),
  language: nullable(oneOf(...accountLanguages)).description(
    'Language of the dashboard and of emails to the user. If null, the dashboard follows the browser and emails are in English.',
  ),
  createdAt: dateTime().description('When the account was created.'),
});

export const presentUser = (user: User) => ({
  id: user.id,
  email: user.email,
  emailVerified: user.emailVerified,
  hasPassword: user.passwordHash !== null,
  totpEnabled: user.totpEnabledAt !== null,
  operator: user.operator,
  language: accountLanguages.find((language) => language === user.language) ?? null,
  createdAt: user.createdAt.toISOString(),
});
