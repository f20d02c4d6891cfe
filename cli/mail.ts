import { type BlockedMail, listBlockedMail } from '../services/blocking/list.ts';
import { withDb } from './environment.ts';
import type { CommandResult } from './output.ts';

/** Lists the mail that policy keeps from being sent, by project and reason. */
export async function mailBlocked(): Promise<CommandResult> {
  return withDb(async (db) => {
    const blocked = await listBlockedMail(db);
    return { lines: blocked.length > 0 ? blocked.map(lineOf) : ['No mail is blocked.'], json: { blocked } };
  });
}

const lineOf = ({ projectId, reason, domains, count, oldest }: BlockedMail): string =>
  [
    `project ${projectId}: ${count} ${count === 1 ? 'mail' : 'mails'}, the oldest of ${oldest.toISOString()}`,
    reason ?? 'no reason recorded',
    ...(domains.length > 0 ? [`from ${domains.join(', ')}`] : []),
  ].join('; ');
