import type { Db } from '../../db/connect.ts';
import type { Settings } from '../../platform/settings.ts';
import { dropOldAuditMonths } from './audit.ts';
import { removeOldBodies } from './bodies.ts';
import { removeOldConsents, removeOldSubmissions } from './consents.ts';
import { removeOldEvents } from './events.ts';
import { removeOldPageChanges } from './page-changes.ts';
import { addMonths, addWeeks, gatherStatistics } from './partitions.ts';
import { removeOldWebhooks } from './webhooks.ts';

export type RetentionSettings = Pick<
  Settings,
  'eventRetentionDays' | 'emailBodyRetentionDays' | 'consentRetentionDays'
>;

export interface Removed {
  events: number;
  bodies: number;
  /** Weeks of webhook events and deliveries. */
  webhookWeeks: number;
  auditMonths: number;
  consents: number;
  /** Settled ones without an address. */
  submissions: number;
  /** Changes on pages that can no longer be undone. */
  pageChanges: number;
}

/** Safe to repeat after a crash. */
export async function runRetention(db: Db, settings: RetentionSettings, now = new Date()): Promise<Removed> {
  await addMonths(db, now);
  await addWeeks(db, now);
  const { eventRetentionDays, emailBodyRetentionDays, consentRetentionDays } = settings;
  const events = eventRetentionDays === undefined ? 0 : await removeOldEvents(db, eventRetentionDays, now);
  const bodies = await removeOldBodies(db, emailBodyRetentionDays, now);
  const webhookWeeks = await removeOldWebhooks(db, now);
  const auditMonths = await dropOldAuditMonths(db, now);
  const consents = await removeOldConsents(db, consentRetentionDays, now);
  const submissions = await removeOldSubmissions(db, consentRetentionDays, now);
  const pageChanges = await removeOldPageChanges(db);
  await gatherStatistics(db);
  return { events, bodies, webhookWeeks, auditMonths, consents, submissions, pageChanges };
}
