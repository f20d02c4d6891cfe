import { type Db, inTransaction } from '../../db/connect.ts';
import { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import { nameInMail } from '../../platform/names.ts';
import { recordAudit } from '../audit/record.ts';
import { membersToMail } from '../notifications/recipients.ts';
import { sendSystemMail } from '../system/mail.ts';
import { type EndpointNews, endpointMailTexts } from './mail-texts.ts';

const HOUR_MS = 3_600_000;
export const MAIL_AFTER_MS = HOUR_MS;
export const DISABLE_AFTER_MS = 5 * 24 * HOUR_MS;

export interface FailingDeps {
  db: Db;
  now: () => Date;
  /** The sender of mail to members. */
  systemFrom: string;
}

/** Mails the members when an endpoint has failed for an hour; once, until it succeeds again. */
export async function mailAboutFailing({ db, now, systemFrom }: FailingDeps, id: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const endpoint = await WebhookEndpoint.query(trx).findById(id).forUpdate();
    if (!endpoint?.enabled || endpoint.failureMailed || !hasFailedFor(endpoint, MAIL_AFTER_MS, now())) return;
    await endpoint.$query(trx).patch({ failureMailed: true });
    await mailMembers(trx, systemFrom, endpoint, 'warned');
  });
}

/** Returns whether the endpoint was enabled. Its events are kept for 30 days, and are sent on request. */
export async function disableEndpoint(
  { db, now, systemFrom }: FailingDeps,
  id: string,
  disabledReason: 'gone' | 'failing',
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const endpoint = await WebhookEndpoint.query(trx).findById(id).forUpdate();
    if (!endpoint?.enabled) return false;
    const at = now();
    await endpoint.$query(trx).patch({ enabled: false, disabledReason, disabledAt: at, updatedAt: at });
    await recordAudit(
      trx,
      { projectId: endpoint.projectId },
      {
        action: 'webhook_endpoint.disabled',
        target: { type: 'webhook_endpoint', id },
        changes: { disabledReason: { from: null, to: disabledReason } },
      },
    );
    await mailMembers(trx, systemFrom, endpoint, disabledReason);
    return true;
  });
}

export const hasFailedFor = ({ failingSince }: Pick<WebhookEndpoint, 'failingSince'>, ms: number, now: Date): boolean =>
  failingSince !== null && now.getTime() - failingSince.getTime() >= ms;

async function mailMembers(
  trx: Db,
  from: string,
  { projectId, url }: WebhookEndpoint,
  news: EndpointNews,
): Promise<void> {
  const members = await membersToMail(trx, projectId, 'endpoint.disabled');
  // Only the host: the rest of the URL may contain a secret.
  const { host } = new URL(url);
  for (const { email, project, language } of members)
    await sendSystemMail(trx, { from, to: email, ...endpointMailTexts[language][news](host, nameInMail(project)) });
}
