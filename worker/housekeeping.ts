import type { Db } from '../db/connect.ts';
import { aggregateCampaignCounts } from '../db/models/campaign-counts.ts';
import { createStripe } from '../platform/integrations/stripe.ts';
import type { Logger } from '../platform/logger.ts';
import type { Settings } from '../platform/settings.ts';
import { createUploadStorage } from '../platform/storage/upload-storage.ts';
import { maintainBilling } from '../services/billing/maintenance.ts';
import { aggregateContactCounts } from '../services/contacts/counts.ts';
import { cleanContactIndexes } from '../services/contacts/upkeep.ts';
import { removeUnverifiedDomains } from '../services/domains/remove-unverified.ts';
import { deleteOldPreviews } from '../services/emails/previews.ts';
import { aggregateEventCounts } from '../services/events/counts.ts';
import { sweepKeys } from '../services/idempotency/once.ts';
import { deleteOldErrors } from '../services/jobs/errors.ts';
import { admitAllWaiting } from '../services/jobs/slots.ts';
import { deleteOldNoticeIds } from '../services/notices/receive.ts';
import { deleteOldNotifications, mailNotifications } from '../services/notifications/mail.ts';
import { deleteOldRequests } from '../services/request-log/failed-requests.ts';
import { addMonths, addWeeks } from '../services/retention/partitions.ts';
import { resealSecrets } from '../services/sealing/reseal.ts';
import { disableCriticalProjects } from '../services/security/auto-disable.ts';
import { applyAllContactChanges } from '../services/segments/changes.ts';
import { reconcileDue } from '../services/segments/sweep.ts';
import { scrubSystemMail } from '../services/system/remove-links.ts';
import { removeUploads } from '../services/uploads/remove.ts';
import { sweepAccounts } from '../services/users/attempts.ts';
import { sendRequestedMails } from '../services/users/requests.ts';
import { tidyWebhooks } from '../services/webhooks/housekeeping.ts';
import { aggregateWorkflowCounts } from '../services/workflows/counts.ts';
import { continueMoves } from '../services/workflows/drafts/moves.ts';
import { deleteLeftoverExecutions } from '../services/workflows/executions/remove.ts';
import { resealHeaders } from '../services/workflows/reseal-headers.ts';
import { deleteOldTicks } from '../services/workflows/tick.ts';
import { deleteUnusedVersions } from '../services/workflows/versions.ts';
import { Loop } from './loop.ts';

interface HousekeepingDeps {
  db: Db;
  settings: Settings;
  log: Logger;
}

const AGGREGATE_MS = 2_000;
const TIDY_MS = 10_000;
const SEGMENTS_MS = 1_000;
const ACCOUNT_MAIL_MS = 1_000;
const SECURITY_MS = 60_000;
const BILLING_MS = 5_000;
const SWEEP_MS = 5 * 60_000;
const HOURLY_MS = 60 * 60_000;
const MAX_BACKOFF_MS = 60_000;

/** Starts periodic work in Postgres that may run in any number of processes and may be late. Returns how to stop it. */
export function startHousekeeping({ db, settings, log }: HousekeepingDeps): () => Promise<void> {
  const chore = (name: string, idleMs: number, work: () => Promise<unknown>) =>
    new Loop({
      name,
      idleMs,
      troubleMs: MAX_BACKOFF_MS,
      log,
      round: async () => {
        await work();
        return 'idle';
      },
    });
  const stripe = createStripe(settings.stripe);
  const storage = createUploadStorage(settings.uploads);
  const chores = [
    chore('contact counts', AGGREGATE_MS, () => aggregateContactCounts(db)),
    chore('campaign counts', AGGREGATE_MS, () => aggregateCampaignCounts(db)),
    chore('workflow counts', AGGREGATE_MS, () => aggregateWorkflowCounts(db)),
    chore('event counts', AGGREGATE_MS, () => aggregateEventCounts(db)),
    chore('previews', SWEEP_MS, () => deleteOldPreviews(db)),
    chore('failed requests', SWEEP_MS, () => deleteOldRequests(db)),
    chore('bad rows of imports', HOURLY_MS, () => deleteOldErrors(db)),
    chore('partitions', SWEEP_MS, async () => {
      await addMonths(db);
      await addWeeks(db);
    }),
    chore('contact indexes', TIDY_MS, () => cleanContactIndexes(db)),
    chore('segment changes', SEGMENTS_MS, () => applyAllContactChanges(db)),
    chore('edited segments', SEGMENTS_MS, () => reconcileDue(db)),
    chore('idempotency keys', SWEEP_MS, () => sweepKeys(db, settings.idempotencyKeyTtlHours)),
    chore('account mail', ACCOUNT_MAIL_MS, () => sendRequestedMails(db, settings)),
    chore('notifications', ACCOUNT_MAIL_MS, () => mailNotifications(db, settings)),
    chore('old notifications', HOURLY_MS, () => deleteOldNotifications(db)),
    chore('billing', stripe ? BILLING_MS : SWEEP_MS, () => maintainBilling({ db, stripe, settings, log })),
    chore('system mail', SECURITY_MS, () => scrubSystemMail(db)),
    chore('security', SECURITY_MS, () => disableCriticalProjects(db, settings)),
    chore('removed uploads', TIDY_MS, () => removeUploads(db, storage)),
    chore('accounts', SWEEP_MS, () => sweepAccounts(db)),
    chore('sealed secrets', SWEEP_MS, () => resealSecrets(db, settings.secretKeys)),
    chore('waiting jobs', TIDY_MS, () => admitAllWaiting(db, settings.limits)),
    chore('sealed webhook headers', HOURLY_MS, () => resealHeaders(db, settings.secretKeys)),
    chore('webhook listeners', TIDY_MS, () => tidyWebhooks(db)),
    chore('received notices', SWEEP_MS, () => deleteOldNoticeIds(db)),
    chore('unverified domains', HOURLY_MS, () => removeUnverifiedDomains(db, settings)),
    chore('moves of executions', TIDY_MS, () => continueMoves(db)),
    chore('workflow versions', SWEEP_MS, () => deleteUnusedVersions(db)),
    chore('deleted workflows', TIDY_MS, () => deleteLeftoverExecutions(db)),
    chore('ticks of workflows', SWEEP_MS, () => deleteOldTicks(db)),
  ];
  return async () => void (await Promise.all(chores.map((loop) => loop.stop())));
}
