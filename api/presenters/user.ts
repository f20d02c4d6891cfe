import type { User } from '../../db/models/user.ts';
import { dateTime, email, flag, object, uuid } from '../http/schemas.ts';

export const userSchema = object({ id: uuid(), email: email(), emailVerified: flag(), createdAt: dateTime() });

export const presentUser = ({ id, email: address, emailVerified, createdAt }: User) => ({
  id,
  email: address,
  emailVerified,
  createdAt: createdAt.toISOString(),
});
