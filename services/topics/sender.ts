import { lockName } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/connect.ts';
import { findSender } from '../../db/models/project-pages.ts';
import { statement } from '../../db/statement.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';

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

// A topic or form with a sender does not need that of the pages.
const findSenderUse = statement<{ what: string; name: string }>(
  'sender-use',
  `select 'topic' as what, t.name from topics t
   left join templates m on m.id = (t.confirmation ->> 'templateId')::uuid and m.project_id = t.project_id
   where t.project_id = $1 and t.double_opt_in and not t.archived
     and coalesce(m.from_email, t.confirmation ->> 'from') is null
   union all
   select 'form', f.name from forms f
   left join templates m on m.id = f.confirmation_template_id and m.project_id = f.project_id
   where f.project_id = $1 and f.status = 'ACTIVE' and f.deleted_at is null and coalesce(m.from_email, f.from_email) is null
   order by 1, 2 limit 1`,
);

/** Rejects with 409 where a topic or form is left without any sender but that of the pages. */
export async function requireUnusedSender(trx: Db, projectId: string): Promise<void> {
  const [use] = await findSenderUse(trx, [projectId]);
  if (use)
    throw new ApiError(409, 'CONFLICT', `Confirmations of the ${use.what} "${use.name}" are sent from this address.`, {
      suggestion: `Give the ${use.what} another sender first.`,
    });
}

/** The same after a template has lost its sender, which that of the pages takes the place of. */
export async function requireSenderWithoutTemplate(trx: Db, projectId: string): Promise<void> {
  await lockName(trx, `pages/${projectId}`);
  if (!(await findSender(trx, projectId))) await requireUnusedSender(trx, projectId);
}
