import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { accountLanguageOf } from '../../platform/languages.ts';
import { nameInMail } from '../../platform/names.ts';
import type { Settings } from '../../platform/settings.ts';
import { type SystemMail, sendSystemMail } from '../system/mail.ts';
import { notificationMailTexts } from './mail-texts.ts';
import type { NotificationType } from './types.ts';

const BATCH = 100;
const KEPT_DAYS = 90;

interface DueRow {
  id: string;
  type: NotificationType;
  projectId: string;
  data: Record<string, unknown>;
  email: string;
  /** Of the user. */
  language: string | null;
  project: string;
  /** Has the two-factor authentication that the project requires. */
  allowed: boolean;
}

// Workers run this concurrently: SKIP LOCKED gives each its own rows.
const pick = statement<DueRow>(
  'notifications-due',
  `select n.id, n.type, n.project_id, n.data, u.email, u.language, p.name as project,
     u.totp_enabled_at is not null or not p.require_two_factor as allowed
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
      for (const row of rows.filter(({ allowed }) => allowed))
        await sendSystemMail(trx, { from: systemFrom, to: row.email, ...mailOf(row, baseUrl) });
      if (rows.length > 0) await done(trx, [rows.map(({ id }) => id)]);
      return rows.length;
    });
    total += mailed;
    if (mailed < BATCH) return total;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function mailOf(
  { type, data, projectId, project, language }: DueRow,
  baseUrl: string,
): Pick<SystemMail, 'subject' | 'paragraphs' | 'link' | 'closing'> {
  const { closing, types } = notificationMailTexts[accountLanguageOf(language)];
  const { subject, paragraph, button } = types[type]({
    project: nameInMail(project),
    name: nameInMail(textOf(data.name)),
    reason: textOf(data.reason) || textOf(data.failedReason),
    failed: data.status === 'FAILED',
    total: Number(data.total),
  });
  const url = `${baseUrl}/app/p/${projectId}/${pageOf(type, data)}`;
  return { subject, paragraphs: [paragraph], ...(button && { link: { url, text: button } }), closing };
}

function pageOf(type: NotificationType, data: DueRow['data']): string {
  if (type === 'import.finished') return `contacts/import?job=${textOf(data.jobId)}`;
  if (type === 'form.attacked') return `forms/${textOf(data.formId)}`;
  return `campaigns/${textOf(data.campaignId)}`;
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
