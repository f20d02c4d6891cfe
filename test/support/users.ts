import type { Db } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import { hashPassword } from '../../platform/crypto/secrets.ts';
import { newId } from '../../platform/ids.ts';
import { once } from './cleanup.ts';

/** The password of all users that tests insert. */
export const PASSWORD = 'correct horse';

/** Hashed once: argon2 is slow by design. */
const passwordHash = once(() => hashPassword(PASSWORD));

export const insertUser = async (
  db: Db,
  { email, emailVerified = false }: { email: string; emailVerified?: boolean },
): Promise<User> =>
  User.query(db).insertAndFetch({ id: newId(), email, passwordHash: await passwordHash(), emailVerified });
