import type { CheckContext, CheckRow } from './check.ts';

/** Each query returns the rows in which a stored count differs from a recount. */
const recounts: Record<string, string> = {
  contacts: `select k.contacts, k.subscribed, r.contacts as counted, r.subscribed as counted_subscribed
    from contact_counts k join (select project_id, count(*) as contacts, count(*) filter (where subscribed) as subscribed
      from contacts group by project_id) r using (project_id)
    where (k.contacts, k.subscribed) is distinct from (r.contacts, r.subscribed)`,
  events: `select h.name, h.count, r.count as counted
    from (select project_id, name, sum(count) as count from event_hours group by 1, 2) h
    full join (select project_id, name, count(*) as count from events group by 1, 2) r using (project_id, name)
    where h.count is distinct from r.count`,
  'contact fields': `select f.key, f.contacts, r.contacts as counted from contact_fields f join (
      select project_id, key, count(*) as contacts from contacts, jsonb_object_keys(data) key group by 1, 2) r
      using (project_id, key)
    where f.contacts <> r.contacts`,
  executions: `select k.workflow_id, k.name, k.count, r.count as counted
    from (select split_part(subject, '/', 2)::uuid as workflow_id, name, sum(value::bigint) as count
      from counters, jsonb_each_text(counts) as number (name, value)
      where subject like 'workflow/%/days' and part not like '%/%' and name in ('started', 'exited', 'failed')
      group by 1, 2) k
    full join (
      select workflow_id, 'started' as name, count(*) as count from executions group by 1
      union all select workflow_id, lower(status), count(*) from executions
        where status in ('EXITED', 'FAILED') group by 1, 2) r using (workflow_id, name)
    where coalesce(k.count, 0) <> coalesce(r.count, 0)`,
  'static counts of segments': `select s.id, s.member_count, r.count as counted from segments s join (
      select segment_id, count(*) as count from segment_members group by 1) r on r.segment_id = s.id
    where s.track_membership and s.member_count <> r.count`,
};

export async function checkCounters({ db }: CheckContext): Promise<CheckRow> {
  const violations: string[] = [];
  for (const [name, query] of Object.entries(recounts)) {
    const { rows } = await db.raw(query);
    violations.push(...rows.map((row: object) => `${name}: ${JSON.stringify(row)}`));
  }
  return { what: 'counters against recounts', checked: `${Object.keys(recounts).length} counters`, violations };
}
