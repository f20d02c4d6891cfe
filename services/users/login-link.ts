import { type Db, inTransaction } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import { notFound } from '../../platform/errors.ts';
import { DEMO_DOMAIN } from '../../platform/settings.ts';
import { issueToken, lockTokenUser, revokeTokens, useToken } from './tokens.ts';

/** Domains of demo projects; no other account can be opened by a link. */
const DEMO_ADDRESS = /@demo(-[a-z0-9]+)?\.localhost$/;

/** Issues a token that signs the demo user in once. An earlier one stops working. */
export async function issueLoginLink(db: Db, email = `owner@${DEMO_DOMAIN}`): Promise<string> {
  return inTransaction(db, async (trx) => {
    const user = DEMO_ADDRESS.test(email) ? await User.query(trx).findOne({ email }).forNoKeyUpdate() : undefined;
    if (!user) throw notFound('demo user');
    await revokeTokens(trx, user.id, 'LOGIN_LINK');
    return issueToken(trx, 'LOGIN_LINK', { userId: user.id });
  });
}

/** Uses the token and returns its user. */
export async function useLoginLink(db: Db, token: string): Promise<User> {
  return inTransaction(db, async (trx) => {
    const { user } = await lockTokenUser(trx, 'LOGIN_LINK', token);
    await useToken(trx, 'LOGIN_LINK', token);
    return user;
  });
}
