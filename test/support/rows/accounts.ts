// Users, sessions and memberships as they are stored: for time that has passed, limits that are nearly reached, and
// proof that nothing was written.
import type { Db } from '../../../db/connect.ts';
import { User } from '../../../db/models/user.ts';
import { makeOperator } from '../../../services/operators/accounts.ts';

export const storedUsers = (db: Db, where: object) => db('users').where(where);

export const userByEmail = (db: Db, email: string) => storedUsers(db, { email }).first();

export const emailOfUser = async (db: Db, id: string): Promise<string> => (await storedUsers(db, { id }).first()).email;

export const setUser = (db: Db, id: string, columns: object) => db('users').where({ id }).update(columns);

/** A user who signs in with a provider only. */
export const removePassword = (db: Db, id: string) => setUser(db, id, { passwordHash: null });

/** Does what `everpost user make-operator` does. */
export async function promoteToOperator(db: Db, id: string): Promise<void> {
  await makeOperator(db, await User.query(db).findById(id).throwIfNotFound());
}

export const storedSessions = (db: Db, userId: string) => db('sessions').where({ userId });

export const setSessions = (db: Db, userId: string, columns: object) =>
  db('sessions').where({ userId }).update(columns);

export const storedMemberships = (db: Db, where: object) => db('memberships').where(where);

export const storedRecoveryCodes = (db: Db, userId: string) => db('userRecoveryCodes').where({ userId });

export const storedIdentities = (db: Db, userId: string) => db('userIdentities').where({ userId });

export const linkIdentity = (db: Db, userId: string, identity: { provider: string; subject: string }) =>
  db('userIdentities').insert({ ...identity, userId });

/** Ends the validity of the links that were mailed, of one user or of all. */
export const expireTokens = (db: Db, where: object = {}) =>
  db('userTokens')
    .where(where)
    .update({ expiresAt: new Date(Date.now() - 1000) });

/** Lifts the limits on log-ins, sign-ups and mails. */
export const clearAttempts = (db: Db, where: object = {}) => db('authAttempts').where(where).del();

/** Lets time pass for the limits on log-ins, sign-ups and mails. */
export const ageAttempts = (db: Db, minutes: number, where: object = {}) =>
  db('authAttempts')
    .where(where)
    .update({ openedAt: db.raw('opened_at - make_interval(mins => ?)', [minutes]) });

/** Sets how often something was tried, instead of trying it so often. */
export const setAttempts = (db: Db, count: number, where: object = {}) =>
  db('authAttempts').where(where).update({ count });

/** Requests for mails to users, which are answered in the background. */
export const storedAccountRequests = (db: Db) => db('accountRequests');

export const setScopedKey = (db: Db, id: string, columns: object) => db('scopedKeys').where({ id }).update(columns);

export const expireScopedKey = (db: Db, id: string) => setScopedKey(db, id, { expiresAt: new Date(Date.now() - 1) });

export const storedAudit = (db: Db, where: object) => db('auditLog').where(where).orderBy('id');

export const clearAttemptsBelow = (db: Db, count: number) => db('authAttempts').where('count', '<', count).del();

export const clearAccountRequests = (db: Db) => db('accountRequests').del();

/** Ends the sessions of log-ins through the API, which have an IP. */
export const expireSessionsWithIp = (db: Db, userId: string) =>
  db('sessions')
    .where({ userId })
    .whereNotNull('ip')
    .update({ expiresAt: new Date(0) });

export const storedScopedKey = (db: Db, id: string) => db('scopedKeys').where({ id }).first();

export const addAudit = (db: Db, entries: object[]) => db('auditLog').insert(entries);

export const addMembership = (db: Db, columns: object) => db('memberships').insert(columns);

export const userById = (db: Db, id: string) => storedUsers(db, { id }).first();
