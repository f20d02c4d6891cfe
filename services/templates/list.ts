import type { Db } from '../../db/connect.ts';
import { Template, type TemplateType } from '../../db/models/template.ts';
import { type OffsetPage, requireSmallPage } from '../paging.ts';

export interface TemplatesQuery {
  page: number;
  pageSize: number;
  type?: TemplateType | undefined;
  /** Searched in name, description and subject. */
  search?: string | undefined;
  sort: 'name' | 'createdAt' | 'updatedAt';
  dir: 'asc' | 'desc';
}

/** Without documents, which may take 512 kB each. */
const LISTED = [
  'id',
  'projectId',
  'name',
  'description',
  'subject',
  'body',
  'rendererVersion',
  'fromEmail',
  'fromName',
  'replyTo',
  'topicId',
  'type',
  'createdAt',
  'updatedAt',
] as const;

export async function listTemplates(db: Db, projectId: string, query: TemplatesQuery): Promise<OffsetPage<Template>> {
  const { page, pageSize, type, search, sort, dir } = query;
  const list = Template.query(db)
    .select(LISTED)
    .where({ projectId, ...(type && { type }) })
    .orderBy([
      { column: sort, order: dir },
      { column: 'id', order: dir },
    ]);
  if (search) {
    const part = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    list.where((any) => {
      for (const column of ['name', 'description', 'subject']) any.orWhereILike(column, part);
    });
  }
  await requireSmallPage(db, projectId, list, query);
  const { results, total } = await list.page(page - 1, pageSize);
  return { data: results, total, page, pageSize, totalPages: Math.ceil(total / pageSize) };
}
