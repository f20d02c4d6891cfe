import { type Db, inTransaction } from '../../db/connect.ts';
import type { SigningKeys } from '../../platform/cursor.ts';
import { seal, unseal } from '../../platform/seal.ts';
import { newWebhookSecret } from '../../platform/standard-webhooks.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';

interface Row {
  sealed: string;
}

/** What the project's WEBHOOK steps are signed with. It is made when it is first asked for. */
export async function webhookSecret(db: Db, keys: SigningKeys, projectId: string): Promise<string> {
  const stored = await find(db, projectId);
  if (stored) return unseal(keys, webhookPlace(projectId), stored.sealed);
  const sealed = seal(keys, webhookPlace(projectId), newWebhookSecret());
  // Of those who make one at the same time, the first wins.
  await db('webhookSecrets').insert({ projectId, sealed }).onConflict('projectId').ignore();
  const first = await find(db, projectId);
  return unseal(keys, webhookPlace(projectId), first?.sealed ?? sealed);
}

/** The old one ends with this transaction: calls that are made from then on carry the new signature. */
export async function rotateWebhookSecret(db: Db, keys: SigningKeys, project: ProjectAccess): Promise<string> {
  const { projectId } = project;
  const secret = newWebhookSecret();
  const sealed = seal(keys, webhookPlace(projectId), secret);
  await inTransaction(db, async (trx) => {
    await requireOpenProject(trx, project);
    await trx('webhookSecrets')
      .insert({ projectId, sealed, updatedAt: new Date() })
      .onConflict('projectId')
      .merge(['sealed', 'updatedAt']);
  });
  return secret;
}

const find = (db: Db, projectId: string): Promise<Row | undefined> =>
  db('webhookSecrets').where({ projectId }).first<Row | undefined>('sealed');

/** What the sealed secret is bound to. */
export function webhookPlace(projectId: string): string[] {
  return ['webhook', projectId];
}
