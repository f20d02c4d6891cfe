import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { nameInMail } from '../../platform/names.ts';
import type { Settings } from '../../platform/settings.ts';
import { type SystemMail, sendSystemMail } from '../system/mail.ts';
import type { NotificationType } from './types.ts';

const BATCH = 100;
const KEPT_DAYS = 90;

interface DueRow {
  id: string;
  type: NotificationType;
  project_id: string;
  data: Record<string, unknown>;
  email: string;
  project: string;
}

// Workers run this concurrently: SKIP LOCKED gives each its own rows.
const pick = statement<DueRow>(
  'notifications-due',
  `select n.id, n.type, n.project_id, n.data, u.email, p.name as project
   from notifications n join users u on u.id = n.user_id join projects p on p.id = n.project_id and p.deleted_at is null
   where n.mail_due order by n.id limit $1 for update of n skip locked`,
);
const done = statement('notifications-mailed', 'update notifications set mail_due = false where id = any ($1::uuid[])');

/** Housekeeping: writes the mail of notifications, each once: the mail and the mark are one transaction. */
export async function mailNotifications(
  db: Db,
  { systemFrom, baseUrl }: Pick<Settings, 'systemFrom' | 'baseUrl'>,
): Promise<number> {
  let total = 0;
  for (;;) {
    const mailed = await inTransaction(db, async (trx) => {
      const rows = await pick(trx, [BATCH]);
      for (const row of rows) await sendSystemMail(trx, { from: systemFrom, to: row.email, ...mailOf(row, baseUrl) });
      if (rows.length > 0) await done(trx, [rows.map(({ id }) => id)]);
      return rows.length;
    });
    total += mailed;
    if (mailed < BATCH) return total;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function mailOf(
  { type, data, project_id, project: name }: DueRow,
  baseUrl: string,
): Pick<SystemMail, 'subject' | 'paragraphs' | 'link' | 'closing'> {
  const project = nameInMail(name);
  const what = nameInMail(textOf(data.name));
  const page = `${baseUrl}/app/p/${project_id}`;
  const closing = 'You can turn these mails off in the settings of your notifications.';
  switch (type) {
    case 'campaign.finished':
      return {
        subject: `The campaign ${what} has finished`,
        paragraphs: [`The campaign ${what} of the project ${project} has been sent to all recipients.`],
        link: { url: `${page}/campaigns/${textOf(data.campaignId)}`, text: 'Show the campaign' },
        closing,
      };
    case 'campaign.paused':
      return {
        subject: `The campaign ${what} has paused itself`,
        paragraphs: [
          `The campaign ${what} of the project ${project} has paused itself${data.reason ? `: ${textOf(data.reason)}` : ''}.`,
        ],
        link: { url: `${page}/campaigns/${textOf(data.campaignId)}`, text: 'Show the campaign' },
        closing,
      };
    case 'import.finished':
      return {
        subject:
          data.status === 'FAILED' ? `An import of ${project} has failed` : `An import of ${project} has finished`,
        paragraphs: [
          data.status === 'FAILED'
            ? `An import of the project ${project} has failed: ${textOf(data.failedReason)}`
            : `An import of the project ${project} has finished: ${Number(data.total)} rows were read.`,
        ],
        link: { url: `${page}/contacts/import?job=${textOf(data.jobId)}`, text: 'Show the import' },
        closing,
      };
    // Mailed by the services that notice them.
    case 'domain.lost':
    case 'endpoint.disabled':
    case 'project.near_limit':
      return { subject: `News of the project ${project}`, paragraphs: [`Open the project ${project}.`], closing };
  }
}

const removeOld = statement<{ id: string }>(
  'notifications-remove-old',
  `delete from notifications where id = any (array(
     select id from notifications where id < uuid_floor(now() - make_interval(days => $1)) order by id limit 10000))`,
);

/** Housekeeping: removes what is older than 90 days. */
export async function deleteOldNotifications(db: Db): Promise<void> {
  await removeOld(db, [KEPT_DAYS]);
}
