import type { User } from '../../db/models/user.ts';
import { accountLanguages } from '../../platform/languages.ts';
import { dateTime, email, flag, nullable, object, oneOf, uuid } from '../http/schemas.ts';

export const userSchema = object({
  id: uuid(),
  email: email(),
  emailVerified: flag(),
  hasPassword: flag(),
  totpEnabled: flag(),
  operator: flag(),
  language: nullable(oneOf(...accountLanguages)),
  createdAt: dateTime(),
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
