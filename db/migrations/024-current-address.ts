import type { Knex } from 'knex';

/** As 021 has it, with a say in which of the mails are still as they should be. */
export const beginCampaignMails = (isCurrent: string): string => `
    create or replace function begin_campaign_mails(
      p_campaign_id uuid, p_batch_id uuid, p_token uuid, p_ids uuid[], p_subjects text[], p_recipients text[]
    ) returns table (id uuid, verdict text, reason text, attempts integer, unknown_outcomes integer) language plpgsql
    set plan_cache_mode = force_generic_plan
    as $$
    #variable_conflict use_column
    declare
      campaign_type text;
      obstacle text;
    begin
      perform pg_advisory_xact_lock_shared(campaign_lock(p_campaign_id));
      select c.type into campaign_type from campaigns c
      where c.id = p_campaign_id and c.status = 'SENDING' and not c.paused;
      if not found then
        return query select asked.id, 'stopped', null::text, 0, 0 from unnest(p_ids) as asked (id);
        return;
      end if;
      perform 1 from delivery_batches b where b.id = p_batch_id and b.lease_token = p_token and b.lease_until > now();
      if not found then return; end if;
      obstacle := campaign_obstacle(p_campaign_id);
      if obstacle is not null then
        return query select asked.id, 'held', obstacle, 0, 0 from unnest(p_ids) as asked (id);
        return;
      end if;
      return query
        -- Each row by its own id (the inner limits see to that): the planner would rather read the whole batch.
        with asked as materialized (
          select e.id, ask.subject, ask.recipient, case
              when k.id is null then 'contact deleted'
              when campaign_type <> 'TRANSACTIONAL' and not k.subscribed then 'unsubscribed'
              when coalesce((select s.reason = 'HARD_BOUNCE' from suppressions s
                where s.project_id = e.project_id and s.address_hash = address_hash(e.project_id, k.email) limit 1), false)
                then 'suppressed'
            end as skip
          from unnest(p_ids, p_subjects, p_recipients) as ask (id, subject, recipient)
          cross join lateral (select * from emails where emails.id = ask.id limit 1) e
          left join lateral (select * from contacts where contacts.id = e.contact_id limit 1) k on true
          where e.batch_id = p_batch_id and e.status = 'PENDING' ${isCurrent}
        )
        update emails e set
          status = case when asked.skip is null then 'SENDING' else 'SKIPPED' end,
          attempts = case when asked.skip is null then e.attempts + 1 else e.attempts end,
          reason = coalesce(asked.skip, e.reason),
          to_email = case when asked.skip is null then asked.recipient else e.to_email end,
          rendered_subject = case when asked.skip is null then asked.subject else e.rendered_subject end,
          updated_at = now()
        from asked where e.id = asked.id and e.status = 'PENDING'
        returning e.id, case when asked.skip is null then 'go' else 'skipped' end, asked.skip, e.attempts,
          e.unknown_outcomes;
    end $$;`;

export const IS_CURRENT = 'and (k.id is null or k.email = ask.recipient)';

// Mails are made ready a little ahead, and slowly sent where a campaign is throttled. One whose contact has got another
// address meanwhile is passed over: it stays PENDING in its batch, and is made ready anew.
export async function up(db: Knex): Promise<void> {
  await db.raw(beginCampaignMails(IS_CURRENT));
}

export async function down(db: Knex): Promise<void> {
  await db.raw(beginCampaignMails(''));
}
