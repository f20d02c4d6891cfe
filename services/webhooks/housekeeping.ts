import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { processTimings } from '../../platform/timings.ts';
import { renewWantedTypes } from './endpoints.ts';

const removeListeners = statement<{ projectId: string }>(
  'listeners-remove',
  `delete from webhook_listeners where seen_at < now() - $1 * interval '1 millisecond' returning project_id`,
);
const removeMessages = statement(
  'listener-messages-remove',
  `delete from webhook_listener_messages where created_at < now() - 2 * $1 * interval '1 millisecond'`,
);
const findExpired = statement<{ projectId: string }>(
  'webhooks-expired-types',
  `select distinct p.project_id from webhook_endpoints p join wanted_webhook_types w on w.project_id = p.project_id
     and w.pattern = any (p.types)
   where p.disabled_at between now() - interval '37 days' and now() - interval '30 days'
     and not exists (
       select 1 from webhook_endpoints other where other.project_id = p.project_id and w.pattern = any (other.types)
         and (other.enabled or other.disabled_at > now() - interval '30 days'))
     and not exists (
       select 1 from webhook_listeners l where l.project_id = p.project_id and w.pattern = any (l.types))`,
);

/**
 * Removes listeners whose process has died, their messages, and what endpoints want that were disabled 30 days ago.
 * Returns the number of projects whose wanted types were stored again.
 */
export async function tidyWebhooks(db: Db, { listenerForgotten } = processTimings.webhooks): Promise<number> {
  const gone = await removeListeners(db, [listenerForgotten]);
  await removeMessages(db, [listenerForgotten]);
  const expired = await findExpired(db);
  const projects = new Set([...gone, ...expired].map(({ projectId }) => projectId));
  for (const projectId of projects) await renewWantedTypes(db, projectId);
  return projects.size;
}
