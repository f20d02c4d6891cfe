import { type Db, inTransaction } from '../../db/connect.ts';
import { rateHours } from '../../db/models/activity-counts.ts';
import { statement } from '../../db/statement.ts';
import { nameInMail } from '../../platform/names.ts';
import type { Settings } from '../../platform/settings.ts';
import { mailManagers } from '../members/mail.ts';
import { disableProject } from '../projects/disable.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';
import { MINIMUM_MAILS, thresholds } from './state.ts';

interface Suspect {
  projectId: string;
  name: string;
  sent: string;
  /** Sent plus refused, which bounces are compared with. */
  offered: string;
  bounced: string;
  complained: string;
}

// Counts a day and a week, each from the first full hour after the project was last enabled. Runs project by project,
// so that only hours of this week are read. Resetting a project does not clear its rates (past_rate_hours).
const suspects = statement<Suspect>(
  'security-suspects',
  `select distinct on (p.id) p.id as project_id, p.name, counted.sent, counted.offered, counted.bounced,
     counted.complained
   from projects p, unnest(array[1, 7]) as days, lateral (
     select sum(h.sent) as sent, sum(h.sent + h.refused) as offered, sum(h.bounced) as bounced, sum(h.complained) as complained
     from ${rateHours('p.id')} h
     where h.hour >= date_trunc('hour', now() - make_interval(days => days), 'UTC')
       and (p.enabled_at is null or h.hour > p.enabled_at)
   ) counted
   where p.id <> $4 and not p.disabled and p.deleted_at is null
     and (counted.offered >= $1 and counted.bounced >= counted.offered * $2::float8
       or counted.sent >= $1 and counted.complained >= counted.sent * $3::float8)
   order by p.id, days`,
);

const percent = (part: string, whole: string) => `${((100 * Number(part)) / Math.max(Number(whole), 1)).toFixed(1)} %`;

/** Disables projects with too many bounces or complaints. Returns how many. */
export async function disableCriticalProjects(
  db: Db,
  { autoProjectDisable, systemFrom }: Pick<Settings, 'autoProjectDisable' | 'systemFrom'>,
): Promise<number> {
  if (!autoProjectDisable) return 0;
  const found = await suspects(db, [
    MINIMUM_MAILS,
    thresholds.bounceRate.critical,
    thresholds.complaintRate.critical,
    SYSTEM_PROJECT_ID,
  ]);
  let disabled = 0;
  for (const { projectId, name, sent, offered, bounced, complained } of found) {
    const reason = `${percent(bounced, offered)} of its emails bounced, ${percent(complained, sent)} drew complaints`;
    const done = await inTransaction(db, async (trx) => {
      if (!(await disableProject(trx, projectId, { reason, automatic: true }))) return false;
      await mailManagers(trx, projectId, {
        from: systemFrom,
        subject: `The project ${nameInMail(name)} was disabled`,
        paragraphs: [
          `The project ${nameInMail(name)} was disabled: ${reason}.`,
          'Until it is enabled again, nothing can be changed or sent. Emails that were already accepted are held and sent afterwards.',
        ],
        closing: 'Remove addresses that bounce from your lists, then ask the operator to enable the project.',
      });
      return true;
    });
    if (done) disabled++;
  }
  return disabled;
}
