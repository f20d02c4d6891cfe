import type { RecordedConfirmation } from '../recorder.ts';
import type { CheckContext, CheckRow } from './check.ts';

interface SubmittedRow {
  email: string;
  statuses: string[];
  emails: number;
  contacts: number;
  topics: string[];
  actions: string[];
  events: number;
}

/**
 * Every accepted submission was decided and asked for one confirmation; a confirmed one made one contact, one choice, its
 * two records and one event, and any other nothing.
 */
export async function checkForms({ db, recorder, setup }: CheckContext): Promise<CheckRow> {
  const { rows }: { rows: SubmittedRow[] } = await db.raw(
    `select s.email, array_agg(s.status order by s.id) as statuses,
       (select count(*)::integer from emails e join form_submissions o on o.id = e.submission_id
        where o.email = s.email) as emails,
       (select count(*)::integer from contacts c where c.email = s.email) as contacts,
       (select coalesce(array_agg(ct.state), '{}') from contact_topics ct join contacts c on c.id = ct.contact_id
        where c.email = s.email and ct.topic_id = ?) as topics,
       (select coalesce(array_agg(r.action order by r.id), '{}') from consents r
        where r.email = s.email and r.topic_id is not null) as actions,
       (select count(*)::integer from events e join contacts c on c.id = e.contact_id
        where c.email = s.email and e.name = 'form.' || ? || '.confirmed') as events
     from form_submissions s group by s.email`,
    [setup.topics.news, setup.formKey],
  );
  const stored = new Map(rows.map((row) => [row.email, row]));
  const violations: string[] = [];
  const counts = { confirmed: 0, declined: 0, unanswered: 0 };
  for (const { email, outcome } of recorder.submissions) {
    const row = stored.get(email);
    stored.delete(email);
    if (!row) {
      if (outcome === 'accepted') violations.push(`the submission of ${email} is gone`);
      continue;
    }
    const say = (what: string) => violations.push(`${email}: ${what}: ${JSON.stringify(row)}`);
    const answer = recorder.confirmations.get(email);
    const decided = row.statuses.filter((status) => status !== 'REFUSED');
    if (decided.length !== 1) say('not decided once');
    if (row.emails !== 1) say('not one confirmation email');
    if (!expectedStatuses(answer).includes(decided.join())) say(`answered ${JSON.stringify(answer)}`);
    const isConfirmed = decided.join() === 'CONFIRMED';
    if (isConfirmed) counts.confirmed++;
    else if (decided.join() === 'DECLINED') counts.declined++;
    else counts.unanswered++;
    const { contacts, topics, actions, events } = row;
    const written = [contacts, topics.join(), actions.toSorted().join(), events].join(' ');
    if (written !== (isConfirmed ? '1 SUBSCRIBED CONFIRMED,REQUESTED 1' : '0   0')) say('wrong records');
  }
  for (const email of stored.keys()) violations.push(`nobody submitted ${email}`);
  return {
    what: 'forms: confirmed once, or nothing',
    checked: `${recorder.submissions.length} submissions`,
    violations,
    note: `${counts.confirmed} confirmed, ${counts.declined} declined, ${counts.unanswered} unanswered`,
  };
}

function expectedStatuses(answer: RecordedConfirmation | undefined): string[] {
  if (!answer || answer.kind === 'none') return ['PENDING'];
  const settled = answer.kind === 'confirm' ? 'CONFIRMED' : 'DECLINED';
  return answer.outcome === 'unknown' ? ['PENDING', settled] : [settled];
}
