import { type Db, inTransaction } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { Membership } from '../../db/models/membership.ts';
import { Project } from '../../db/models/project.ts';
import { ProjectErasure } from '../../db/models/project-erasure.ts';
import { UserToken } from '../../db/models/user.ts';
import { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import { newId } from '../../platform/ids.ts';
import { notifyKeysChanged } from '../access/keys.ts';
import { noProject } from '../access/membership.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import { endLoop } from '../domains/loop.ts';
import { notifyDomainsChanged } from '../domains/notify.ts';
import { workflowIds } from '../outbox/ids.ts';
import { cancelWebhookEndpointWorkflow } from '../outbox/webhook-endpoint-run.ts';
import { writeOutboxMessage } from '../outbox/write.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';
import { RESETTING, runErasure } from './project-run.ts';

/** Most projects are small and erased within the request. The rest is erased in the background. */
const REQUEST_MS = 4_000;

/**
 * Makes the project inaccessible in one transaction: no key and no session opens it, and its domains are free for others.
 * Its rows are erased in the background.
 */
export async function deleteProject(db: Db, id: string, actor?: Actor): Promise<void> {
  await inTransaction(db, async (trx) => {
    // Locks domains before the project, as all changes of a domain do, because they also write `senders_version`.
    await Domain.query(trx).where({ projectId: id }).orderBy('id').forUpdate().select('id');
    const { name, keyGeneration } = await lockProject(trx, id);
    await Project.query(trx)
      .findById(id)
      .patch({
        deletedAt: new Date(),
        disabled: true,
        disabledReason: 'deleted',
        // Values that no request can match: neither is a valid key or hash.
        publicKey: `deleted ${id}`,
        secretKeyHash: Buffer.from(`deleted ${id}`),
        keyGeneration: keyGeneration + 1,
      });
    await Membership.query(trx).delete().where({ projectId: id });
    await UserToken.query(trx).where({ projectId: id }).delete();
    const domains = await Domain.query(trx).delete().where({ projectId: id }).returning('*');
    for (const domain of domains) if (!domain.managed) await endLoop(trx, domain);
    const endpoints = await WebhookEndpoint.query(trx).delete().where({ projectId: id }).returning('*');
    for (const endpoint of endpoints) await cancelWebhookEndpointWorkflow(trx, endpoint);
    await beginErasure(trx, id, 'DELETE');
    await recordAudit(
      trx,
      { projectId: id, actor },
      { action: 'project.deleted', target: { type: 'project', id }, changes: { name: { from: name, to: null } } },
    );
    await notifyKeysChanged(trx, id);
    await notifyDomainsChanged(trx, id);
  });
}

/** Disables the project until all is erased, so that no new data is erased with the old. */
export async function resetProject(db: Db, id: string, actor?: Actor): Promise<void> {
  const erasureId = await inTransaction(db, async (trx) => {
    const { disabled } = await lockProject(trx, id);
    if (!disabled) await Project.query(trx).findById(id).patch({ disabled: true, disabledReason: RESETTING });
    await recordAudit(trx, { projectId: id, actor }, { action: 'project.reset', target: { type: 'project', id } });
    await notifyKeysChanged(trx, id);
    return beginErasure(trx, id, 'RESET');
  });
  const deadline = Date.now() + REQUEST_MS;
  await runErasure(db, erasureId, () => Date.now() > deadline);
}

async function lockProject(trx: Db, id: string): Promise<Project> {
  const project = await Project.query(trx)
    .findById(id)
    .whereNull('deletedAt')
    .whereNot({ id: SYSTEM_PROJECT_ID })
    .forUpdate();
  if (!project) throw noProject();
  return project;
}

async function beginErasure(trx: Db, projectId: string, kind: 'RESET' | 'DELETE'): Promise<string> {
  const open = await ProjectErasure.query(trx).findOne({ projectId, done: false });
  if (open) {
    await ProjectErasure.query(trx).where({ projectId, id: open.id }).patch({ kind });
    return open.id;
  }
  const id = newId();
  await ProjectErasure.query(trx).insert({ id, projectId, kind });
  await writeOutboxMessage(trx, {
    queue: 'control',
    action: 'start',
    workflowType: 'erasure',
    workflowId: workflowIds.erasure(projectId, id),
    args: [{ erasureId: id }],
    projectId,
    resourceId: id,
  });
  return id;
}
