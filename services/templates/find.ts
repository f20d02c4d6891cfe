import type { Db } from '../../db/connect.ts';
import { Template } from '../../db/models/template.ts';
import { notFound } from '../../platform/errors.ts';

export async function findTemplate(db: Db, projectId: string, id: string): Promise<Template> {
  return found(await Template.query(db).findOne({ projectId, id }));
}

/** For one who is going to remove it: nobody can begin to use it meanwhile. */
export async function lockTemplate(trx: Db, projectId: string, id: string): Promise<Template> {
  return found(await Template.query(trx).findOne({ projectId, id }).forUpdate());
}

export function found(template: Template | undefined): Template {
  if (!template) throw notFound('template', 'TEMPLATE_NOT_FOUND');
  return template;
}
