import type { Db } from '../../db/connect.ts';
import {
  type DomainCounts,
  readDomainCounts,
  readTemplateCounts,
  readTopLinks,
  type TemplateCounts,
  type TopLink,
} from '../../db/models/mail-counts.ts';
import { type RangeQuery, readWholeDays } from '../range.ts';

type MailsQuery = RangeQuery & { limit: number };

export async function byTemplate(
  db: Db,
  projectId: string,
  { limit, ...query }: MailsQuery,
): Promise<TemplateCounts[]> {
  return readTemplateCounts(db, projectId, readWholeDays(query), limit);
}

export async function byDomain(db: Db, projectId: string, { limit, ...query }: MailsQuery): Promise<DomainCounts[]> {
  return readDomainCounts(db, projectId, readWholeDays(query), limit);
}

export async function topLinks(db: Db, projectId: string, { limit, ...query }: MailsQuery): Promise<TopLink[]> {
  return readTopLinks(db, projectId, readWholeDays(query), limit);
}
