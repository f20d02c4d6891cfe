// Attack mode: while bots submit a form, every submission needs one more button and the most work.
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

// More than 50 submissions in an hour and under 5 % of them confirmed, or over 20 % of the latest 50 confirmations bounced.
// Their ids grow with time, so that only those of the last hour are read. A form without a submission in an hour is not
// looked at, unless it is under attack. Seen again within a minute writes nothing.
const begin = statement<{ id: string }>(
  'form-attacks-begin',
  `with recent as (
     select s.form_id, count(*) as submitted, count(*) filter (where s.status = 'CONFIRMED') as confirmed
     from form_submissions s
     where s.id >= uuid_floor(now() - interval '1 hour') and s.created_at > now() - interval '1 hour' and s.form_id is not null
     group by s.form_id
   )
   update forms f set attacked_since = coalesce(f.attacked_since, now()), attack_seen_at = now()
   from (
     select k.id, r.submitted, r.confirmed from forms k left join recent r on r.form_id = k.id
     where k.deleted_at is null and (r.form_id is not null or k.attacked_since is not null)
   ) active
   where f.id = active.id and (f.attack_seen_at is null or f.attack_seen_at < now() - interval '1 minute')
     and (active.submitted > 50 and active.confirmed < active.submitted * 0.05 or (
       select count(*) = 50 and count(*) filter (where e.bounced_at is not null) > 10
       from (
         select s.last_email_id from form_submissions s
         where s.form_id = f.id and s.last_sent_at > now() - interval '24 hours' and s.status <> 'ALREADY'
         order by s.last_sent_at desc limit 50
       ) latest join emails e on e.id = latest.last_email_id and e.project_id = f.project_id
     ))
   returning f.id`,
);

const end = statement<{ id: string }>(
  'form-attacks-end',
  `update forms set attacked_since = null, attack_seen_at = null
   where attacked_since is not null and attack_seen_at <= now() - interval '1 hour' returning id`,
);

/**
 * Switches attack mode on, and off after an hour without a sign of an attack. A trigger of `forms` notifies members and
 * queues the webhook.
 */
export async function watchAttacks(db: Db): Promise<void> {
  await begin(db, []);
  await end(db, []);
}
