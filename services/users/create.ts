import type { Db } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import { hashPassword } from '../../platform/crypto/secrets.ts';
import { newId } from '../../platform/ids.ts';

export interface NewUser {
  email: string;
  password: string;
  emailVerified?: boolean;
}

export async function createUser(db: Db, { email, password, emailVerified = false }: NewUser): Promise<User> {
  return User.query(db).insertAndFetch({
    id: newId(),
    email: email.trim().toLowerCase(),
    passwordHash: await hashPassword(password),
    emailVerified,
  });
}
