import { type Db, inTransaction } from '../../db/connect.ts';
import { Session } from '../../db/models/session.ts';
import { User } from '../../db/models/user.ts';
import { statement } from '../../db/statement.ts';
import { hashToken } from '../../platform/crypto/secrets.ts';
import { notFound } from '../../platform/errors.ts';
import { newId, randomText } from '../../platform/ids.ts';
import { type Actor, recordAudit } from '../audit/record.ts';

export const SESSION_DAYS = 7;
const SEEN_MS = 60_000;
const MAX_USER_AGENT = 500;

/** The browser or program that uses a session. */
export interface SessionClient {
  ip?: string | undefined;
  userAgent?: string | undefined;
}

export interface NewSession extends SessionClient {
  /** Hashed before the token: the session is found only by a token with this prefix. */
  boundTo?: string;
  /** When the user proved who they are; now by default. */
  provenAt?: Date | undefined;
}

export interface CurrentSession {
  id: string;
  /** When the user last gave the password or a code, or signed in with a provider. */
  provenAt: Date;
  lastSeenAt: Date;
}

const clientColumns = ({ ip, userAgent }: SessionClient) => ({
  ip: ip ?? null,
  userAgent: userAgent?.slice(0, MAX_USER_AGENT) ?? null,
});

/** Creates a session and returns the cookie's token; stores only its hash, so a copy of the table opens nothing. */
export async function createSession(
  db: Db,
  userId: string,
  { boundTo = '', provenAt, ...client }: NewSession = {},
): Promise<string> {
  const token = randomText(48);
  const expiresAt = new Date(Date.now() + SESSION_DAYS * 86_400_000);
  await Session.query(db).insert({
    id: newId(),
    tokenHash: hashToken(boundTo + token),
    userId,
    expiresAt,
    ...clientColumns(client),
    ...(provenAt && { provenAt }),
  });
  return token;
}

interface SessionRow extends Omit<CurrentSession, 'id'> {
  sessionId: string;
}

const find = statement<SessionRow>(
  'session-find',
  `select u.*, s.id as session_id, s.proven_at, s.last_seen_at from sessions s join users u on u.id = s.user_id
   where s.token_hash = $1 and s.expires_at > now()`,
);

/** Returns the session of a token, and its user. */
export async function findSession(db: Db, token: string): Promise<{ user: User; session: CurrentSession } | undefined> {
  const [row] = await find(db, [hashToken(token)]);
  if (!row) return undefined;
  const { sessionId: id, provenAt, lastSeenAt, ...user } = row;
  return { user: User.fromDatabaseJson(user), session: { id, provenAt, lastSeenAt } };
}

export const findSessionUser = async (db: Db, token: string): Promise<User | undefined> =>
  (await findSession(db, token))?.user;

/** Returns the session of `token` if it is one of this account. */
export async function findSessionOf(
  db: Db,
  token: string | undefined,
  userId: string,
): Promise<CurrentSession | undefined> {
  const found = token === undefined ? undefined : await findSession(db, token);
  return found?.user.id === userId ? found.session : undefined;
}

/** Records a use of the session, at most once a minute. */
export async function touchSession(db: Db, { id, lastSeenAt }: CurrentSession, client: SessionClient): Promise<void> {
  if (Date.now() - lastSeenAt.getTime() < SEEN_MS) return;
  await Session.query(db)
    .where({ id })
    .patch({ lastSeenAt: new Date(), ...clientColumns(client) });
}

/** Lists the user's sessions, the last used first. */
export const listSessions = (db: Db, userId: string): Promise<Session[]> =>
  Session.query(db)
    .where({ userId })
    .where('expiresAt', '>', new Date())
    .orderBy([{ column: 'lastSeenAt', order: 'desc' }, { column: 'id' }])
    .execute();

/** Records that the user of the session has just proved who they are. */
export async function proveSession(db: Db, id: string): Promise<void> {
  await Session.query(db).where({ id }).patch({ provenAt: new Date() });
}

export async function endSession(db: Db, token: string): Promise<void> {
  await Session.query(db).deleteById(hashToken(token));
}

/** Ends one of the user's sessions by its id. */
export async function revokeSession(db: Db, userId: string, id: string, actor: Actor): Promise<void> {
  await inTransaction(db, async (trx) => {
    if ((await Session.query(trx).delete().where({ userId, id })) === 0) throw notFound('session');
    await recordAudit(trx, { userId, actor }, { action: 'user.session_revoked', target: { type: 'session', id } });
  });
}

/** Ends all sessions of the user, except the one named. */
export async function endSessions(db: Db, userId: string, { except }: { except?: string } = {}): Promise<void> {
  const sessions = Session.query(db).delete().where({ userId });
  await (except === undefined ? sessions : sessions.whereNot({ id: except }));
}
