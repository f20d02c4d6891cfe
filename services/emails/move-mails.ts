import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { MatchedNotice } from './apply-notices.ts';
import { type MailEvent, type MailFacts, mailEventData, mailFacts, mailFactsFrom } from './mail-events.ts';
import type { BounceType, NoticeKind } from './notices.ts';
import type { UndeliverableContact } from './unsubscribe-undeliverable.ts';

/** Of the same link of the same mail in one go: whoever reloads it a thousand times fills no table. */
const MOST_ALIKE = 10;

interface MovedRow extends MailFacts {
  delivered_before: boolean;
  opened_before: boolean;
  clicked_before: boolean;
  bounced_before: boolean;
  complained_before: boolean;
  bounce_type_before: BounceType | null;
  /** The address that it went to; null once it is erased. */
  to_email: string | null;
  contact_email: string | null;
}

// Times are those of the first notice of their kind. The status only moves forward, whatever order notices come in.
const move = statement<MovedRow>(
  'notices-move',
  `with ladder as (select array['SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED'] as steps),
   moved as (
     update emails e set
       delivered_at = coalesce(e.delivered_at, r.delivered_at),
       opened_at = coalesce(e.opened_at, r.opened_at),
       clicked_at = coalesce(e.clicked_at, r.clicked_at),
       bounced_at = coalesce(e.bounced_at, r.bounced_at),
       complained_at = coalesce(e.complained_at, r.complained_at),
       bounce_type = case when r.bounce_type = 'Permanent' then r.bounce_type
         else coalesce(e.bounce_type, r.bounce_type) end,
       reason = coalesce(r.reason, e.reason),
       status = case when array_position(steps, r.status) > array_position(steps, e.status) then r.status
         else e.status end,
       updated_at = now()
     from ladder, unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[],
         $6::timestamptz[], $7::text[], $8::text[], $9::text[])
       as r (id, delivered_at, opened_at, clicked_at, bounced_at, complained_at, bounce_type, status, reason)
     where e.id = r.id
     returning new.*, old.delivered_at is not null as delivered_before, old.opened_at is not null as opened_before,
       old.clicked_at is not null as clicked_before, old.bounced_at is not null as bounced_before,
       old.complained_at is not null as complained_before, old.bounce_type as bounce_type_before
   )
   select ${mailFacts('moved')}, moved.delivered_before, moved.opened_before, moved.clicked_before,
     moved.bounced_before, moved.complained_before, moved.bounce_type_before,
     coalesce(content.to_email, moved.to_email) as to_email, contact.email as contact_email
   from moved ${mailFactsFrom('moved')}
   left join contacts contact on contact.id = moved.contact_id`,
);

const rank: Record<NoticeKind, number> = { delivery: 1, open: 2, click: 3, bounce: 4, complaint: 5 };
const statusOf = {
  delivery: 'DELIVERED',
  open: 'OPENED',
  click: 'CLICKED',
  bounce: 'BOUNCED',
  complaint: 'COMPLAINED',
} as const;

/** Carries what was heard over to the ledger, under the contacts' locks. Gives back what is to be said of it. */
export async function moveMails(
  trx: Db,
  notices: MatchedNotice[],
): Promise<{ events: MailEvent[]; losses: UndeliverableContact[] }> {
  const sorted = [...notices].sort((a, b) => a.at.getTime() - b.at.getTime() || Number(BigInt(a.id) - BigInt(b.id)));
  const mails = byMail(sorted);
  const groups = [...mails.values()];
  const firstOf = (kind: NoticeKind) => groups.map((group) => group.find((notice) => notice.kind === kind)?.at ?? null);
  const rows = await move(trx, [
    [...mails.keys()],
    ...(['delivery', 'open', 'click', 'bounce', 'complaint'] as const).map(firstOf),
    groups.map(bounceTypeOf),
    groups.map((group) => statusOf[furthest(group)]),
    groups.map((group) => group.findLast(({ reason }) => reason !== null)?.reason ?? null),
  ]);
  const teller = new Teller(rows);
  for (const notice of sorted) teller.tell(notice);
  return teller;
}

function byMail(notices: MatchedNotice[]): Map<string, MatchedNotice[]> {
  const mails = new Map<string, MatchedNotice[]>();
  for (const notice of notices) {
    const group = mails.get(notice.email_id);
    if (group) group.push(notice);
    else mails.set(notice.email_id, [notice]);
  }
  return mails;
}

function bounceTypeOf(group: MatchedNotice[]): BounceType | null {
  const types = group.filter(({ kind }) => kind === 'bounce').map(({ bounce_type }) => bounce_type ?? 'Undetermined');
  return types.find((type) => type === 'Permanent') ?? types[0] ?? null;
}

const furthest = (group: MatchedNotice[]): NoticeKind =>
  group.map(({ kind }) => kind).reduce((a, b) => (rank[a] >= rank[b] ? a : b));

/** Decides which notices are news: of deliveries, bounces and complaints the first, of opens and clicks all. */
class Teller {
  readonly events: MailEvent[] = [];
  readonly losses: UndeliverableContact[] = [];
  private readonly mails: Map<string, MovedRow>;
  private readonly alike = new Map<string, number>();

  constructor(rows: MovedRow[]) {
    this.mails = new Map(rows.map((row) => [row.id, row]));
  }

  tell(notice: MatchedNotice): void {
    const mail = this.mails.get(notice.email_id);
    if (!mail || this.isTooMuch(notice)) return;
    const isFirst = this.isFirst(mail, notice.kind);
    const isWorse = notice.kind === 'bounce' && notice.bounce_type === 'Permanent' && !this.bouncedForGood(mail);
    if (!isFirst && !isWorse && notice.kind !== 'open' && notice.kind !== 'click') return;
    if (notice.kind === 'bounce') mail.bounce_type_before = notice.bounce_type ?? 'Undetermined';
    const data = mailEventData(mail, { ...detailOf(mail, notice), isFirst });
    this.events.push({ name: `email.${notice.kind}`, mail, data });
    if (notice.kind === 'complaint' || isWorse) this.losses.push(lossOf(mail, notice));
  }

  private isTooMuch({ email_id, kind, link }: MatchedNotice): boolean {
    const key = `${email_id} ${kind} ${link}`;
    const before = this.alike.get(key) ?? 0;
    this.alike.set(key, before + 1);
    return before >= MOST_ALIKE;
  }

  private isFirst(mail: MovedRow, kind: NoticeKind): boolean {
    const before = {
      delivery: 'delivered_before',
      open: 'opened_before',
      click: 'clicked_before',
      bounce: 'bounced_before',
      complaint: 'complained_before',
    } as const;
    const isFirst = !mail[before[kind]];
    mail[before[kind]] = true;
    return isFirst;
  }

  private readonly bouncedForGood = ({ bounced_before, bounce_type_before }: MovedRow): boolean =>
    bounced_before && bounce_type_before === 'Permanent';
}

function detailOf(mail: MovedRow, { kind, at, link, bounce_type: bounceType, reason }: MatchedNotice) {
  const time = at.toISOString();
  switch (kind) {
    case 'delivery':
      return { deliveredAt: time };
    case 'open':
      return { openedAt: time };
    case 'click':
      // An address may say a lot about whoever it was written for.
      return { clickedAt: time, link: mail.contact_email === null ? null : link };
    case 'bounce':
      return { bouncedAt: time, bounceType: bounceType ?? 'Undetermined', reason };
    case 'complaint':
      return { complainedAt: time, reason };
  }
}

const lossOf = (mail: MovedRow, { kind }: MatchedNotice): UndeliverableContact => ({
  mail,
  reason: kind === 'complaint' ? 'complaint' : 'bounce',
  address: mail.to_email ?? mail.contact_email,
  isCurrent: mail.to_email === null || mail.to_email === mail.contact_email,
});
