import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { statement } from '../../db/statement.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import { endLoop } from './loop.ts';
import { spellingsOf } from './name.ts';
import { notifyDomainsChanged } from './notify.ts';

const usedBy = statement<{ kind: string; name: string }>(
  'domain-user',
  `select 'template' as kind, name from templates
   where project_id = $1 and substring(from_email from '[^@]*$') = any ($2::text[])
   union all
   select 'campaign', name from campaigns
   where project_id = $1 and substring(from_email from '[^@]*$') = any ($2::text[])
     and status in ('DRAFT', 'SCHEDULED', 'SENDING') and deleted_at is null
   union all
   select 'form', name from forms
   where project_id = $1 and substring(from_email from '[^@]*$') = any ($2::text[]) and deleted_at is null
   union all
   select 'topic', name from topics
   where project_id = $1 and substring(confirmation ->> 'from' from '[^@]*$') = any ($2::text[])
   union all
   select 'project', p.name from project_pages g join projects p on p.id = g.project_id
   where g.project_id = $1 and substring(g.from_email from '[^@]*$') = any ($2::text[])
   limit 1`,
);

/**
 * Returns a template, an unfinished campaign or the project whose pages send from the domain. Complete while the domain's row is locked:
 * saving a sender locks that row too.
 */
export async function findDomainUser(
  trx: Db,
  { projectId, domain }: Pick<Domain, 'projectId' | 'domain'>,
): Promise<{ kind: string; name: string } | undefined> {
  const [user] = await usedBy(trx, [projectId, spellingsOf(domain)]);
  return user;
}

export async function deleteDomain(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await writing(db, project, async (trx) => {
    const { projectId } = project;
    const domain = await Domain.query(trx).findOne({ projectId, id }).forUpdate();
    if (!domain) throw notFound('domain');
    const user = await findDomainUser(trx, domain);
    if (user)
      throw new ApiError(409, 'CONFLICT', `The ${user.kind} "${user.name}" sends from ${domain.domain}.`, {
        suggestion:
          user.kind === 'project'
            ? 'Give its pages another sender (PATCH /projects/:id/pages).'
            : `Give the ${user.kind} another sender, or delete it first.`,
      });
    await removeDomain(trx, domain, project.actor);
  });
}

/** Deletes the row, which the caller has locked, and cancels its check loop. */
export async function removeDomain(trx: Db, domain: Domain, actor?: Actor): Promise<void> {
  const { id, projectId, domain: name } = domain;
  await Domain.query(trx).deleteById(id);
  await recordAudit(
    trx,
    { projectId, actor },
    { action: 'domain.deleted', target: { type: 'domain', id }, changes: { name: { from: name, to: null } } },
  );
  if (!domain.managed) await endLoop(trx, domain);
  await notifyDomainsChanged(trx, projectId);
}
