import type { Db } from '../../db/connect.ts';
import { Template } from '../../db/models/template.ts';
import { notFound } from '../../platform/errors.ts';

export async function findTemplate(db: Db, projectId: string, id: string): Promise<Template> {
  return requireTemplate(await Template.query(db).findOne({ projectId, id }));
}

/** Locks the row for its removal, so that no transaction can begin to use it. */
export async function lockTemplate(trx: Db, projectId: string, id: string): Promise<Template> {
  return requireTemplate(await Template.query(trx).findOne({ projectId, id }).forUpdate());
}

export function requireTemplate<T extends object>(template: T | undefined): T {
  if (!template) throw notFound('template', 'TEMPLATE_NOT_FOUND');
  return template;
}
