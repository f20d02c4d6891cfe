import type { Db } from '../../db/connect.ts';
import { processTimings } from '../../platform/timings.ts';
import { renewWantedTypes } from './endpoints.ts';

/**
 * Removes listeners whose process has died, their messages, and what endpoints want that were disabled 30 days ago.
 * Returns the number of projects whose wanted types were stored again.
 */
export async function tidyWebhooks(db: Db, { listenerForgotten } = processTimings.webhooks): Promise<number> {
  const gone: { rows: { project_id: string }[] } = await db.raw(
    `delete from webhook_listeners where seen_at < now() - interval '${listenerForgotten} milliseconds' returning project_id`,
  );
  await db.raw(
    `delete from webhook_listener_messages where created_at < now() - interval '${2 * listenerForgotten} milliseconds'`,
  );
  const expired: { rows: { project_id: string }[] } = await db.raw(
    `select distinct p.project_id from webhook_endpoints p join wanted_webhook_types w on w.project_id = p.project_id
       and w.pattern = any (p.types)
     where p.disabled_at between now() - interval '37 days' and now() - interval '30 days'
       and not exists (
         select 1 from webhook_endpoints other where other.project_id = p.project_id and w.pattern = any (other.types)
           and (other.enabled or other.disabled_at > now() - interval '30 days'))
       and not exists (
         select 1 from webhook_listeners l where l.project_id = p.project_id and w.pattern = any (l.types))`,
  );
  const projects = new Set([...gone.rows, ...expired.rows].map(({ project_id }) => project_id));
  for (const projectId of projects) await renewWantedTypes(db, projectId);
  return projects.size;
}
