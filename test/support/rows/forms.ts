import type { Db } from '../../../db/connect.ts';

export const storedSubmissions = (db: Db, projectId: string) =>
  db('formSubmissions').where({ projectId }).orderBy('id');

/** Lets time pass for the submissions of a project: what was sent was sent so long ago, and what waits is due. */
export const setSubmissions = (db: Db, projectId: string, columns: object) =>
  db('formSubmissions').where({ projectId }).update(columns);

export const storedForm = (db: Db, id: string) => db('forms').where({ id }).first();

export const setForm = (db: Db, id: string, columns: object) => db('forms').where({ id }).update(columns);

/** Lets time pass: all times of the project's submissions, and those of the confirmations that limits count, move by so much. */
export async function moveSubmissions(db: Db, projectId: string, ms: number): Promise<void> {
  const columns = ['created_at', 'sent_at', 'last_sent_at', 'reminded_at', 'settled_at', 'expires_at', 'due_at'];
  const moved = columns.map((column) => `${column} = ${column} + make_interval(secs => :seconds)`).join(', ');
  const values = { seconds: ms / 1000, projectId };
  await db.raw(`update form_submissions set ${moved} where project_id = :projectId`, values);
  await db.raw('update confirmations_sent set at = at + make_interval(secs => :seconds)', values);
}
