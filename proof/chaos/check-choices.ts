import { proofClient } from '../client.ts';
import type { RecordedChoice } from '../recorder.ts';
import type { CheckContext, CheckRow } from './check.ts';

const byContactAndTopic = (choices: RecordedChoice[]): Map<string, RecordedChoice[]> => {
  const found = new Map<string, RecordedChoice[]>();
  for (const choice of choices) {
    const key = `${choice.contactId} ${choice.topicId}`;
    found.set(key, [...(found.get(key) ?? []), choice]);
  }
  return found;
};

interface TopicMailRow {
  id: string;
  contact_id: string;
  topic_id: string;
  status: string;
  reason: string | null;
  /** The starts of attempts, in milliseconds. */
  starts: number[];
}

/** No email of a topic began between the answer to a withdrawal and the next request that joined the topic again. */
export async function checkTopicMails({ db, recorder }: CheckContext): Promise<CheckRow> {
  const { rows }: { rows: TopicMailRow[] } = await db.raw(
    `select e.id, e.contact_id, coalesce(c.topic_id, e.topic_id) as topic_id, e.status, e.reason,
       (select coalesce(jsonb_agg(extract(epoch from (a.value ->> 'startedAt')::timestamptz) * 1000), '[]')
        from jsonb_array_elements(coalesce(e.attempt_log, '[]')) a) as starts
     from emails e left join campaigns c on c.id = e.campaign_id
     where coalesce(c.topic_id, e.topic_id) is not null`,
  );
  const choices = byContactAndTopic(recorder.choices);
  const violations: string[] = [];
  let skipped = 0;
  for (const mail of rows) {
    if (mail.status === 'SKIPPED' && mail.reason === 'topic unsubscribed') skipped++;
    for (const [from, to] of withdrawnTimes(choices.get(`${mail.contact_id} ${mail.topic_id}`) ?? []))
      if (mail.starts.some((at) => at > from && at < to))
        violations.push(
          `email ${mail.id} began after the withdrawal that was answered at ${new Date(from).toISOString()}`,
        );
  }
  const withdrawn = recorder.choices.filter((one) => one.state === 'UNSUBSCRIBED' && one.outcome === 'accepted').length;
  return {
    what: 'no email after a withdrawal',
    checked: `${rows.length} emails of topics, ${withdrawn} withdrawals`,
    violations,
    note: `${skipped} skipped when they began`,
  };
}

/** From the answer to a withdrawal to the first request that joins the topic again. */
function withdrawnTimes(choices: RecordedChoice[]): [from: number, to: number][] {
  return choices.flatMap(({ state, outcome, answeredAt }, n): [number, number][] =>
    state === 'UNSUBSCRIBED' && outcome === 'accepted'
      ? [[answeredAt, choices[n + 1]?.sentAt ?? Number.POSITIVE_INFINITY]]
      : [],
  );
}

interface ChosenRow {
  contact_id: string;
  topic_id: string;
  state: string;
  has_record: boolean;
  actions: string[];
  events: string[];
}

/** Every accepted choice has one record and one event, in order, and the last one counts; nothing else has any. */
export async function checkChoices({ db, recorder, setup }: CheckContext): Promise<CheckRow> {
  const { rows }: { rows: ChosenRow[] } = await db.raw(
    `select ct.contact_id, ct.topic_id, ct.state,
       exists (select 1 from consents r where r.id = ct.consent_id and r.contact_id = ct.contact_id
         and r.topic_id = ct.topic_id and r.id = (select max(l.id::text)::uuid from consents l
           where l.contact_id = ct.contact_id and l.topic_id = ct.topic_id)) as has_record,
       (select coalesce(array_agg(r.action order by r.id), '{}') from consents r
        where r.contact_id = ct.contact_id and r.topic_id = ct.topic_id) as actions,
       (select coalesce(array_agg(split_part(e.name, '.', 3) order by e.position), '{}') from events e
        where e.contact_id = ct.contact_id and e.name like 'topic.%' and e.data ->> 'topicId' = ct.topic_id::text) as events
     from contact_topics ct join contacts c on c.id = ct.contact_id where c.data ->> 'group' is not null`,
  );
  const stored = new Map(rows.map((row) => [`${row.contact_id} ${row.topic_id}`, row]));
  const violations: string[] = [];
  for (const [key, choices] of byContactAndTopic(recorder.choices)) {
    const row = stored.get(key);
    stored.delete(key);
    const sure = choices.filter(({ outcome }) => outcome === 'accepted').map(({ state }) => state);
    const last = choices.at(-1);
    // Only the last one can be unknown: who made it chooses no more.
    const possible = last?.outcome === 'unknown' ? [sure, [...sure, last.state]] : [sure];
    const written = (row?.actions ?? []).map((action) => (action === 'GRANTED' ? 'SUBSCRIBED' : 'UNSUBSCRIBED'));
    const say = (what: string) => violations.push(`${key}: ${what}`);
    if (!possible.some((states) => states.join() === written.join()))
      say(`records ${written.join()}, answered ${choices.map(({ state, outcome }) => `${state} ${outcome}`).join()}`);
    if (row?.events.join() !== (row && written.join().toLowerCase())) say(`events ${row?.events.join()}`);
    if (row && (row.state !== written.at(-1) || !row.has_record)) say(`is ${row.state}, not its last record`);
  }
  for (const key of stored.keys()) violations.push(`a choice that was not made: ${key}`);
  const { rows: loose } = await db.raw(
    `select r.id from consents r where r.topic_id is not null and r.action <> 'REQUESTED'
       and not exists (select 1 from contact_topics ct where ct.contact_id = r.contact_id and ct.topic_id = r.topic_id)`,
  );
  violations.push(...loose.map(({ id }: { id: string }) => `record ${id} has no choice`));
  const contacts = new Set(recorder.choices.map(({ contactId }) => contactId)).size;
  const checked = `${recorder.choices.length} choices of ${contacts} of ${contacts + untouched(setup, recorder)} contacts`;
  return { what: 'choices recorded once', checked, violations };
}

const untouched = ({ choosers }: CheckContext['setup'], { choices }: CheckContext['recorder']): number => {
  const chosen = new Set(choices.map(({ contactId }) => contactId));
  return choosers.filter(({ id }) => !chosen.has(id)).length;
};

/** The counts that the API shows, against the state of every contact. */
export async function checkTopicCounts({ db, setup, stack }: CheckContext): Promise<CheckRow> {
  const client = proofClient(stack.apiUrls, stack.project.secretKey);
  const violations: string[] = [];
  let contacts = 0;
  for (const id of Object.values(setup.topics)) {
    const { rows } = await db.raw(
      `select lower(topic_state(project_id, ?, id, created_at)) as state, count(*)::integer as count from contacts group by 1`,
      [id],
    );
    const counted = new Map(rows.map((row: { state: string; count: number }) => [row.state, row.count]));
    const shown = (await client.insist('GET', `/topics/${id}`)).body?.counts as Record<string, number> | undefined;
    for (const state of ['subscribed', 'unsubscribed', 'pending']) {
      const count = Number(counted.get(state) ?? 0);
      contacts += count;
      if (shown?.[state] !== count) violations.push(`topic ${id}: ${shown?.[state]} ${state}, counted ${count}`);
    }
  }
  return { what: 'counts of topics', checked: `${contacts} states`, violations };
}
