// Projects and domains as they are stored: for states that no request leads to.
import type { Db } from '../../../db/connect.ts';
import { aggregateCounters } from '../../../db/models/counters.ts';
import { disableProject, enableProject } from '../../../services/projects/disable.ts';

export const storedProject = (db: Db, id: string) => db('projects').where({ id }).first();

export const setProject = (db: Db, id: string, columns: object) => db('projects').where({ id }).update(columns);

export const blockProject = (db: Db, id: string, reason = 'too many bounces') => disableProject(db, id, { reason });

export const unblockProject = (db: Db, id: string) => enableProject(db, id);

export const storedDomains = (db: Db, where: object) => db('domains').where(where);

/** Sets the state that a check of the DNS records leads to. */
export const setDomains = (db: Db, where: object, columns: object) => db('domains').where(where).update(columns);

/** The domains of the project fail their check, or pass it. */
export const setDomainStatus = (db: Db, projectId: string, status: 'PENDING' | 'VERIFIED') =>
  setDomains(db, { projectId }, { status });

export const addSuppression = (db: Db, projectId: string, email: string, reason: 'HARD_BOUNCE' | 'COMPLAINT') =>
  db.raw(
    `insert into suppressions (id, project_id, address_hash, email, contact_id, reason)
     select gen_random_uuid(), ?, address_hash(?, ?), ?,
       (select id from contacts where project_id = ? and email = ?), ?`,
    [projectId, projectId, email, email, projectId, email, reason],
  );

export const storedSuppressions = (db: Db, where: object) => db('suppressions').where(where);

/** Adds to the counts of an hour, which delivery results are aggregated into. */
export async function addActivityHour(db: Db, projectId: string, hour: Date, counts: object): Promise<void> {
  await db('counterDeltas').insert({ projectId, subject: 'activity/hours', period: hour, counts });
  await aggregateCounters(db);
}

export const storedErasures = (db: Db, where: object) =>
  db('projectErasures').where(where).orderBy('createdAt', 'desc');

export async function removeActivity(db: Db, projectId: string): Promise<void> {
  await aggregateCounters(db);
  await db('counters').where({ projectId }).whereLike('subject', 'activity/%').del();
}

/** Adds counts that are not aggregated yet, of the hour in which `at` is. */
export const addActivityDeltas = (db: Db, projectId: string, deltas: { kind: string; at: Date; delta: number }[]) =>
  db('counterDeltas').insert(
    deltas.map(({ kind, at, delta }) => ({
      projectId,
      subject: 'activity/hours',
      period: new Date(Math.floor(at.getTime() / 3_600_000) * 3_600_000),
      counts: { [kind]: delta },
    })),
  );

/** Why mail of this source is not sent at present, or null. */
export const sendingBlockReason = async (db: Db, projectId: string, source: string): Promise<string | null> =>
  (await db.raw("select sending_block_reason(?, '', ?) as reason", [projectId, source])).rows[0].reason;

/** Keeps the hash only, as the deletion of the contact does. */
export const eraseSuppressedAddress = (db: Db, email: string) =>
  db('suppressions').where({ email }).update({ email: null, note: null });

/** The projects that exist, except that of the system. */
export const idsOfProjects = (db: Db): Promise<string[]> =>
  db('projects').whereNull('deletedAt').whereNot({ publicKey: 'system' }).pluck('id');

/** Inserts pending domains `many1.example`, `many2.example` … */
export const addDomains = (db: Db, projectId: string, count: number) =>
  db.raw(
    `insert into domains (id, project_id, domain)
     select gen_random_uuid(), ?, 'many' || n || '.example' from generate_series(1, ?::integer) n`,
    [projectId, count],
  );

/** Orders the erasure of a project's data without starting it. */
export const addReset = (db: Db, projectId: string, id: string) =>
  db('projectErasures').insert({ id, projectId, kind: 'RESET' });

/** Lets hours pass for idempotency keys. */
export const ageIdempotencyKeys = (db: Db, hours: number) =>
  db('idempotencyKeys').update({ createdAt: db.raw('now() - make_interval(hours => ?)', [hours]) });
