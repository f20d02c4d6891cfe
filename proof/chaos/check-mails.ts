import type { CheckContext, CheckRow } from './check.ts';

/** One mail in the ledger for each accepted send, at most one for an unknown outcome, none for a rejected one. */
export async function checkSends({ db, recorder }: CheckContext): Promise<CheckRow> {
  const { rows } = await db.raw(
    `select c.to_email as to, array_agg(e.id::text) as ids from emails e join email_contents c on c.email_id = e.id
     where e.source_type = 'TRANSACTIONAL' and e.submission_id is null group by c.to_email`,
  );
  const found = new Map<string, string[]>(rows.map(({ to, ids }: { to: string; ids: string[] }) => [to, ids]));
  const violations: string[] = [];
  for (const { to, outcome, emailId } of recorder.sends) {
    const ids = found.get(to) ?? [];
    found.delete(to);
    const isRight =
      outcome === 'accepted' ? ids.length === 1 && ids[0] === emailId : ids.length <= (outcome === 'unknown' ? 1 : 0);
    if (!isRight) violations.push(`send to ${to}, ${outcome}: mails ${ids.join(', ') || 'none'}, answered ${emailId}`);
  }
  for (const to of found.keys()) violations.push(`nobody sent a mail to ${to}`);
  const unknown = recorder.sends.filter(({ outcome }) => outcome === 'unknown').length;
  return {
    what: 'mail accepted once',
    checked: `${recorder.sends.length} sends`,
    violations,
    note: `${unknown} without an answer`,
  };
}

interface LedgerMail {
  id: string;
  source_type: string;
  status: string;
  attempts: number;
  unknown_outcomes: number;
  without_events: boolean;
  sent_events: number;
  failed_events: number;
  is_bounce: boolean;
  bounce_events: number;
}

/** What the SMTP server took, against the ledger: docs/sending.md says how many copies there may be. */
export async function checkMails({ db, stack }: CheckContext): Promise<CheckRow> {
  const copies = new Map<string, number>();
  const violations: string[] = [];
  for (const { messageId } of stack.sink.taken) {
    const id = messageId.split('@')[0] ?? '';
    copies.set(id, (copies.get(id) ?? 0) + 1);
  }
  const { rows }: { rows: LedgerMail[] } = await db.raw(
    `select e.id, e.source_type, e.status, e.attempts, e.unknown_outcomes, e.without_events, e.bounced_at is not null as is_bounce,
       coalesce(v.sent, 0)::integer as sent_events, coalesce(v.failed, 0)::integer as failed_events,
       coalesce(v.bounced, 0)::integer as bounce_events
     from emails e left join (
       select data ->> 'emailId' as email_id, count(*) filter (where name = 'email.sent') as sent,
         count(*) filter (where name = 'email.failed') as failed,
         count(*) filter (where name = 'email.bounce') as bounced
       from events where name in ('email.sent', 'email.failed', 'email.bounce') group by 1) v on v.email_id = e.id::text`,
  );
  const unknown = { rows: 0, taken: 0 };
  let repeated = 0;
  for (const mail of rows) {
    const count = copies.get(mail.id) ?? 0;
    copies.delete(mail.id);
    const [least, most] = allowedCopies(mail);
    const state = `${mail.source_type} mail ${mail.id}, ${mail.status}, unknown outcomes ${mail.unknown_outcomes}`;
    if (count < least || count > most) violations.push(`${state}: taken ${count} times`);
    const events = mail.without_events ? 0 : 1;
    if (mail.sent_events !== (mail.status === 'SENT' ? events : 0))
      violations.push(`${state}: ${mail.sent_events} email.sent`);
    if (mail.failed_events !== (mail.status === 'FAILED' ? events : 0))
      violations.push(`${state}: ${mail.failed_events} email.failed`);
    if (mail.bounce_events !== (mail.is_bounce ? events : 0))
      violations.push(`${state}: ${mail.bounce_events} email.bounce`);
    if (count > 1) repeated++;
    if (mail.status !== 'UNKNOWN') continue;
    unknown.rows++;
    unknown.taken += Math.min(count, 1);
  }
  for (const id of copies.keys()) violations.push(`a mail without a row in the ledger was sent: ${id}`);
  const note = `${repeated} taken twice after an unknown outcome; ${unknown.rows} UNKNOWN, of which ${unknown.taken} were taken`;
  return { what: 'mail sent once', checked: `${rows.length} mails`, violations, note };
}

/** An unknown outcome may or may not have been a copy. Only transactional and workflow mail is tried again after one. */
function allowedCopies({ source_type, status, unknown_outcomes: unknown }: LedgerMail): [least: number, most: number] {
  if (source_type === 'CAMPAIGN') return status === 'SENT' ? [1, 1] : [0, status === 'UNKNOWN' ? 1 : 0];
  return status === 'SENT' ? [1, 1 + unknown] : [0, unknown];
}
