import { lockName } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/connect.ts';
import { findSender } from '../../db/models/project-pages.ts';
import { badRequest } from '../../platform/errors.ts';

interface OwnSender {
  from: string | null | undefined;
  templateFrom: string | null | undefined;
}

/**
 * Rejects with 400 what sends email without a sender: that of its template, its own, or that of the project's pages, which
 * is then not removed before the transaction ends.
 */
export async function requireSender(
  trx: Db,
  projectId: string,
  what: string,
  { from, templateFrom }: OwnSender,
): Promise<void> {
  if (templateFrom || from) return;
  await lockName(trx, `pages/${projectId}`);
  if (await findSender(trx, projectId)) return;
  throw badRequest(`${what} needs a sender for its confirmation emails.`, {
    suggestion: 'Set its sender, use a template that has one, or set that of the pages (PATCH /projects/:id/pages).',
  });
}
