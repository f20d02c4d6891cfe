import type { Db } from '../../db/connect.ts';
import type { Settings } from '../../platform/settings.ts';
import { dropOldAuditMonths } from './audit.ts';
import { removeOldBodies } from './bodies.ts';
import { removeOldEvents } from './events.ts';
import { addMonths, addWeeks, gatherStatistics } from './partitions.ts';
import { removeOldWebhooks } from './webhooks.ts';

export type RetentionSettings = Pick<Settings, 'eventRetentionDays' | 'emailBodyRetentionDays'>;

export interface Removed {
  events: number;
  bodies: number;
  /** Weeks of webhook events and deliveries. */
  webhookWeeks: number;
  auditMonths: number;
}

/** Safe to repeat after a crash. */
export async function runRetention(db: Db, settings: RetentionSettings, now = new Date()): Promise<Removed> {
  await addMonths(db, now);
  await addWeeks(db, now);
  const { eventRetentionDays, emailBodyRetentionDays } = settings;
  const events = eventRetentionDays === undefined ? 0 : await removeOldEvents(db, eventRetentionDays, now);
  const bodies = await removeOldBodies(db, emailBodyRetentionDays, now);
  const webhookWeeks = await removeOldWebhooks(db, now);
  const auditMonths = await dropOldAuditMonths(db, now);
  await gatherStatistics(db);
  return { events, bodies, webhookWeeks, auditMonths };
}
