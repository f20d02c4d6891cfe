import type { CheckContext, CheckRow } from './check.ts';
import { SCORE_LIMIT } from './setup.ts';

/** Imports and bulk jobs are complete, deleted contacts are gone. */
export async function checkContacts({ db, recorder }: CheckContext): Promise<CheckRow> {
  const violations: string[] = [];
  const jobs = new Map<string, { status: string; result: Record<string, number> }>(
    (await db('jobs').select('id', 'status', 'result')).map((job) => [job.id, job]),
  );
  for (const { outcome, jobId, emails } of recorder.imports) {
    const [row] = await db('contacts').whereIn('email', emails).count();
    const count = Number(row?.count);
    // A job whose answer was lost is still a whole job.
    if (count !== emails.length && (outcome === 'accepted' || count !== 0))
      violations.push(`import ${jobId}, ${outcome}: ${count} of ${emails.length} contacts`);
    const job = jobs.get(jobId ?? '');
    if (outcome === 'accepted' && (job?.status !== 'COMPLETED' || job.result.created !== emails.length))
      violations.push(`import ${jobId}: ${JSON.stringify(job)}`);
  }
  for (const { outcome, jobId, action, contactIds } of recorder.bulks) {
    const rows = await db('contacts').whereIn('id', contactIds).select('subscribed');
    const done =
      action === 'delete'
        ? rows.length === 0
        : rows.length === contactIds.length && rows.every(({ subscribed }) => subscribed === (action === 'subscribe'));
    // Imported contacts are subscribed, so an undone "subscribe" looks like a done one.
    const undone = rows.length === contactIds.length && rows.every(({ subscribed }) => subscribed);
    if (!done && (outcome === 'accepted' || !undone)) violations.push(`bulk ${action} ${jobId}, ${outcome}: half done`);
    const job = jobs.get(jobId ?? '');
    if (outcome === 'accepted' && job?.status !== 'COMPLETED') violations.push(`bulk ${jobId}: ${JSON.stringify(job)}`);
  }
  const kept = await db('contacts')
    .whereIn('id', [...recorder.deleted])
    .select('email');
  violations.push(...kept.map(({ email }) => `${email} was deleted and exists`));
  const { imports, bulks, deleted } = recorder;
  const checked = `${imports.length} imports, ${bulks.length} bulk jobs, ${deleted.size} deletions`;
  return { what: 'imports, bulk jobs, deletions', checked, violations };
}

/** Members are those whose score says so; entries and exits alternate. */
export async function checkSegments({ db, recorder, setup }: CheckContext): Promise<CheckRow> {
  const violations: string[] = [];
  const { rows }: { rows: { email: string; score: number | null; is_member: boolean; names: string[] }[] } =
    await db.raw(
      `select c.email, (c.data ->> 'score')::integer as score, m.contact_id is not null as is_member,
       (select coalesce(array_agg(split_part(e.name, '.', 3) order by e.position), '{}') from events e
        where e.contact_id = c.id and e.name like 'segment.%') as names
     from contacts c left join segment_members m on m.contact_id = c.id and m.segment_id = ?
     where c.email like 'score%'`,
      [setup.segmentId],
    );
  let members = 0;
  for (const { email, score, is_member: isMember, names } of rows) {
    const reply = recorder.scores.get(email);
    if (reply !== undefined && reply !== score) violations.push(`${email}: score ${score}, answered ${reply}`);
    const belongs = (score ?? 0) > SCORE_LIMIT;
    if (belongs) members++;
    if (isMember !== belongs) violations.push(`${email}: score ${score}, member ${isMember}`);
    const alternates = names.every((name, n) => name === (n % 2 === 0 ? 'entry' : 'exit'));
    if (!alternates || (names.length % 2 === 1) !== isMember) violations.push(`${email}: events ${names.join()}`);
  }
  const segment = await db('segments').where({ id: setup.segmentId }).first('memberCount');
  if (segment.memberCount !== members) violations.push(`member count ${segment.memberCount}, counted ${members}`);
  return { what: 'segment membership', checked: `${rows.length} contacts`, violations, note: `${members} members` };
}
