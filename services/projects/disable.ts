import { type Db, inTransaction } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { ProjectSuspension } from '../../db/models/project-suspension.ts';
import { newId } from '../../platform/ids.ts';
import { notifyKeysChanged } from '../access/keys.ts';
import { noProject } from '../access/membership.ts';
import { type Actor, changesOf, recordAudit } from '../audit/record.ts';
import { releaseBlockedMail } from '../blocking/release.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';

/** Rejects writes and blocks mail of the project; reading works. Returns false if it was disabled already. */
export async function disableProject(
  db: Db,
  id: string,
  { reason, automatic = false, actor }: { reason: string; automatic?: boolean; actor?: Actor },
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const project = await lock(trx, id);
    if (project.disabled) return false;
    await Project.query(trx).findById(id).patch({ disabled: true, disabledReason: reason, updatedAt: new Date() });
    await ProjectSuspension.query(trx).insert({ id: newId(), projectId: id, reason, automatic });
    await recordAudit(
      trx,
      { projectId: id, actor },
      { action: 'project.disabled', target: { type: 'project', id }, changes: changesOf({}, { reason, automatic }) },
    );
    await notifyKeysChanged(trx, id);
    return true;
  });
}

/** Accepts writes again and releases blocked mail. Returns false if the project was not disabled. */
export async function enableProject(db: Db, id: string, actor?: Actor): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const project = await lock(trx, id);
    if (!project.disabled) return false;
    const now = new Date();
    await Project.query(trx)
      .findById(id)
      .patch({ disabled: false, disabledReason: null, enabledAt: now, updatedAt: now });
    await ProjectSuspension.query(trx).where({ projectId: id }).whereNull('enabledAt').patch({ enabledAt: now });
    await recordAudit(trx, { projectId: id, actor }, { action: 'project.enabled', target: { type: 'project', id } });
    await notifyKeysChanged(trx, id);
    await releaseBlockedMail(trx, { projectId: id });
    return true;
  });
}

async function lock(trx: Db, id: string): Promise<Project> {
  const project = await Project.query(trx)
    .findById(id)
    .whereNull('deletedAt')
    .whereNot({ id: SYSTEM_PROJECT_ID })
    .forUpdate();
  if (!project) throw noProject();
  return project;
}
