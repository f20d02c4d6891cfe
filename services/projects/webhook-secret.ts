import type { Db } from '../../db/connect.ts';
import { WebhookSecret } from '../../db/models/webhook-secret.ts';
import { seal, unseal } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { newWebhookSecret } from '../../platform/crypto/standard-webhooks.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { recordAudit } from '../audit/record.ts';

/** Returns the secret that signs the project's WEBHOOK steps; creates it on first use. */
export async function webhookSecret(db: Db, keys: SigningKeys, projectId: string): Promise<string> {
  const stored = await WebhookSecret.query(db).findById(projectId);
  if (stored) return unseal(keys, webhookSecretContext(projectId), stored.sealed);
  const sealed = seal(keys, webhookSecretContext(projectId), newWebhookSecret());
  // Of concurrent callers the first wins.
  await WebhookSecret.query(db).insert({ projectId, sealed }).onConflict('projectId').ignore();
  const first = await WebhookSecret.query(db).findById(projectId);
  return unseal(keys, webhookSecretContext(projectId), first?.sealed ?? sealed);
}

/** Replaces the secret; calls after this transaction carry the new signature. */
export async function rotateWebhookSecret(db: Db, keys: SigningKeys, project: ProjectAccess): Promise<string> {
  const { projectId } = project;
  const secret = newWebhookSecret();
  const sealed = seal(keys, webhookSecretContext(projectId), secret);
  await writing(db, project, async (trx) => {
    await WebhookSecret.query(trx)
      .insert({ projectId, sealed, updatedAt: new Date() })
      .onConflict('projectId')
      .merge(['sealed', 'updatedAt']);
    await recordAudit(trx, project, {
      action: 'project.webhook_secret_rotated',
      target: { type: 'project', id: projectId },
    });
  });
  return secret;
}

/** The context that the sealed secret is bound to. */
export function webhookSecretContext(projectId: string): string[] {
  return ['webhook', projectId];
}
