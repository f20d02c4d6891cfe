import type { User } from '../../db/models/user.ts';
import { dateTime, email, flag, object, uuid } from '../http/schemas.ts';

export const userSchema = object({
  id: uuid(),
  email: email(),
  emailVerified: flag(),
  hasPassword: flag(),
  totpEnabled: flag(),
  operator: flag(),
  createdAt: dateTime(),
});

export const presentUser = (user: User) => ({
  id: user.id,
  email: user.email,
  emailVerified: user.emailVerified,
  hasPassword: user.passwordHash !== null,
  totpEnabled: user.totpEnabledAt !== null,
  operator: user.operator,
  createdAt: user.createdAt.toISOString(),
});
