import type { Db } from '../db/connect.ts';
import { aggregateCounters } from '../db/models/counters.ts';
import { createStripe } from '../platform/integrations/stripe.ts';
import type { Logger } from '../platform/logger.ts';
import type { Settings } from '../platform/settings.ts';
import { createUploadStorage } from '../platform/storage/upload-storage.ts';
import type { MailReachCache } from '../services/addresses/mail-reach.ts';
import { maintainBilling } from '../services/billing/maintenance.ts';
import { aggregateContactCounts } from '../services/contacts/counts.ts';
import { cleanContactIndexes } from '../services/contacts/upkeep.ts';
import { removeUnverifiedDomains } from '../services/domains/remove-unverified.ts';
import { deleteOldPreviews } from '../services/emails/previews.ts';
import { aggregateEventCounts } from '../services/events/counts.ts';
import { acceptAll } from '../services/forms/accept.ts';
import { watchAttacks } from '../services/forms/attack.ts';
import { sweepChallenges } from '../services/forms/challenges.ts';
import { sweepConfirmations } from '../services/forms/confirmation-limits.ts';
import { sendPreferenceLinks } from '../services/forms/preferences-link.ts';
import { sweepKeys } from '../services/idempotency/once.ts';
import { deleteOldErrors } from '../services/jobs/errors.ts';
import { deleteOldImported } from '../services/jobs/imported.ts';
import { admitAllWaiting } from '../services/jobs/slots.ts';
import { deleteOldNoticeIds } from '../services/notices/receive.ts';
import { deleteOldNotifications, mailNotifications } from '../services/notifications/mail.ts';
import { deleteOldRequests } from '../services/request-log/requests.ts';
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
import { sealUrlCredentials } from '../services/webhooks/url-credentials.ts';
import { continueMoves } from '../services/workflows/drafts/moves.ts';
import { deleteLeftoverExecutions } from '../services/workflows/executions/remove.ts';
import { resealHeaders } from '../services/workflows/reseal-headers.ts';
import { deleteOldTicks } from '../services/workflows/tick.ts';
import { deleteUnusedVersions } from '../services/workflows/versions.ts';
import type { IdleMode } from './idle-mode.ts';
import { Loop } from './loop.ts';

interface HousekeepingDeps {
  db: Db;
  settings: Settings;
  mailReach: MailReachCache;
  idleMode?: IdleMode;
  log: Logger;
}

/** Starts periodic work in Postgres that may run in any number of processes and may be late. Returns how to stop it. */
export function startHousekeeping({ db, settings, mailReach, idleMode, log }: HousekeepingDeps): () => Promise<void> {
  const { housekeeping: every } = settings.timings;
  const chore = (name: string, idleMs: number, work: () => Promise<unknown>) =>
    new Loop({
      name,
      idleMs,
      troubleMs: every.trouble,
      // Rare ones cost nothing.
      idleMode: idleMs <= every.tidy ? idleMode : undefined,
      log,
      round: async () => {
        await work();
        return 'idle';
      },
    });
  let stripe: ReturnType<typeof createStripe> | undefined;
  const maintain = async () => {
    stripe ??= createStripe(settings.stripe);
    await maintainBilling({ db, stripe: await stripe, settings, log });
  };
  const storage = createUploadStorage(settings.uploads);
  const chores = [
    chore('contact counts', every.aggregate, () => aggregateContactCounts(db)),
    chore('counters', every.aggregate, () => aggregateCounters(db)),
    chore('event counts', every.aggregate, () => aggregateEventCounts(db)),
    chore('previews', every.sweep, () => deleteOldPreviews(db)),
    chore('failed requests', every.sweep, () => deleteOldRequests(db)),
    chore('bad rows of imports', every.hourly, () => deleteOldErrors(db)),
    chore('contacts of imports', every.hourly, () => deleteOldImported(db)),
    chore('partitions', every.sweep, async () => {
      await addMonths(db);
      await addWeeks(db);
    }),
    chore('contact indexes', every.tidy, () => cleanContactIndexes(db)),
    chore('segment changes', every.segments, () => applyAllContactChanges(db)),
    chore('edited segments', every.segments, () => reconcileDue(db)),
    chore('idempotency keys', every.sweep, () => sweepKeys(db, settings.idempotencyKeyTtlHours)),
    chore('account mail', every.accountMail, () => sendRequestedMails(db, settings)),
    chore('links to preferences', every.accountMail, () => sendPreferenceLinks(db, settings)),
    chore('submissions', every.accountMail, () => acceptAll({ db, settings, mailReach })),
    chore('attacks on forms', every.tidy, () => watchAttacks(db)),
    chore('limits of forms', every.sweep, async () => {
      await sweepConfirmations(db);
      await sweepChallenges(db);
    }),
    chore('notifications', every.accountMail, () => mailNotifications(db, settings)),
    chore('old notifications', every.hourly, () => deleteOldNotifications(db)),
    chore('billing', settings.stripe ? every.billing : every.sweep, maintain),
    chore('system mail', every.security, () => scrubSystemMail(db)),
    chore('security', every.security, () => disableCriticalProjects(db, settings)),
    chore('removed uploads', every.tidy, () => removeUploads(db, storage)),
    chore('accounts', every.sweep, () => sweepAccounts(db)),
    chore('sealed secrets', every.sweep, () => resealSecrets(db, settings.secretKeys)),
    chore('credentials of endpoints', every.hourly, () => sealUrlCredentials(db, settings.secretKeys)),
    chore('waiting jobs', every.tidy, () => admitAllWaiting(db, settings.limits)),
    chore('sealed webhook headers', every.hourly, () => resealHeaders(db, settings.secretKeys)),
    chore('webhook listeners', every.tidy, () => tidyWebhooks(db)),
    chore('received notices', every.sweep, () => deleteOldNoticeIds(db)),
    chore('unverified domains', every.hourly, () => removeUnverifiedDomains(db, settings)),
    chore('moves of executions', every.tidy, () => continueMoves(db, settings.secretKeys)),
    chore('workflow versions', every.sweep, () => deleteUnusedVersions(db)),
    chore('deleted workflows', every.tidy, () => deleteLeftoverExecutions(db)),
    chore('ticks of workflows', every.sweep, () => deleteOldTicks(db)),
  ];
  return async () => void (await Promise.all(chores.map((loop) => loop.stop())));
}
