import type { Db } from '../../db/connect.ts';
import { Form } from '../../db/models/form.ts';
import { notFound } from '../../platform/errors.ts';
import { isUuid } from '../../platform/ids.ts';

export const formNotFound = () => notFound('form');

const existing = (db: Db, projectId: string) => Form.query(db).where({ projectId }).whereNull('deletedAt');

export async function listForms(db: Db, projectId: string): Promise<Form[]> {
  return existing(db, projectId).orderBy('id');
}

export async function findForm(db: Db, projectId: string, id: string): Promise<Form> {
  return found(await existing(db, projectId).findOne({ id }));
}

export async function lockForm(trx: Db, projectId: string, id: string): Promise<Form> {
  return found(await existing(trx, projectId).findOne({ id }).forUpdate());
}

/** Returns the form with this id or key. */
export async function findFormNamed(db: Db, projectId: string, name: string): Promise<Form> {
  return found(await existing(db, projectId).findOne(isUuid(name) ? { id: name } : { key: name }));
}

function found(form: Form | undefined): Form {
  if (!form) throw formNotFound();
  return form;
}
