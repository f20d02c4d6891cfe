import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type AgentClass, isMachine, secondsAfterSending } from './machines.ts';
import { type MailEvent, mailEventData, mailFactsColumns, mailFactsJoins } from './mail-events.ts';
import type { BounceType, NoticeKind } from './notices.ts';
import {
  type AddressedMail,
  addressColumns,
  type UndeliverableContact,
  undeliverable,
} from './unsubscribe-undeliverable.ts';

/** The most notices of the same link and mail in one batch, so that reloading a link fills no table. */
const MAX_REPEATS = 10;

/** A notice with the mail that it is about. */
export interface MatchedNotice {
  id: string;
  kind: NoticeKind;
  bounceType: BounceType | null;
  link: string | null;
  linkIndex: number | null;
  reason: string | null;
  at: Date;
  agent: AgentClass | null;
  /** When the mail was sent. */
  sentAt: Date | null;
  emailId: string;
  contactId: string;
}

interface UpdatedRow extends AddressedMail {
  /** A confirmation of a form: what happens to it changes the ledger only. */
  isSilent: boolean;
  deliveredBefore: boolean;
  openedBefore: boolean;
  clickedBefore: boolean;
  humanOpenedBefore: boolean;
  humanClickedBefore: boolean;
  bouncedBefore: boolean;
  complainedBefore: boolean;
  bounceTypeBefore: BounceType | null;
}

// Keeps the time of the first notice of each kind. The status only moves forward, in any order of notices.
const update = statement<UpdatedRow>(
  'notices-update-mails',
  `with status_order as (select array['SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED'] as statuses),
   updated as (
     update emails e set
       delivered_at = coalesce(e.delivered_at, r.delivered_at),
       opened_at = coalesce(e.opened_at, r.opened_at),
       clicked_at = coalesce(e.clicked_at, r.clicked_at),
       human_opened_at = coalesce(e.human_opened_at, r.human_opened_at),
       human_clicked_at = coalesce(e.human_clicked_at, r.human_clicked_at),
       bounced_at = coalesce(e.bounced_at, r.bounced_at),
       complained_at = coalesce(e.complained_at, r.complained_at),
       bounce_type = case when r.bounce_type = 'Permanent' then r.bounce_type
         else coalesce(e.bounce_type, r.bounce_type) end,
       reason = coalesce(r.reason, e.reason),
       status = case when array_position(statuses, r.status) > array_position(statuses, e.status) then r.status
         else e.status end,
       updated_at = now()
     from status_order, unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[],
         $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::text[], $10::text[], $11::text[])
       as r (id, delivered_at, opened_at, clicked_at, bounced_at, complained_at, human_opened_at, human_clicked_at,
         bounce_type, status, reason)
     where e.id = r.id
     returning new.*, old.delivered_at is not null as delivered_before, old.opened_at is not null as opened_before,
       old.clicked_at is not null as clicked_before, old.human_opened_at is not null as human_opened_before,
       old.human_clicked_at is not null as human_clicked_before, old.bounced_at is not null as bounced_before,
       old.complained_at is not null as complained_before, old.bounce_type as bounce_type_before
   )
   select ${mailFactsColumns('updated')}, updated.delivered_before, updated.opened_before, updated.clicked_before,
     updated.human_opened_before, updated.human_clicked_before, updated.bounced_before, updated.complained_before, updated.bounce_type_before,
     updated.without_events and updated.submission_id is not null as is_silent,
     ${addressColumns('updated')}
   from updated ${mailFactsJoins('updated')}
   left join contacts contact on contact.id = updated.contact_id`,
);

const rank: Record<NoticeKind, number> = { delivery: 1, open: 2, click: 3, bounce: 4, complaint: 5 };
const statusOf = {
  delivery: 'DELIVERED',
  open: 'OPENED',
  click: 'CLICKED',
  bounce: 'BOUNCED',
  complaint: 'COMPLAINED',
} as const;

/** Applies notices to the ledger, under the contacts' locks. Returns the events to record and the contacts to unsubscribe. */
export async function updateMails(
  trx: Db,
  notices: MatchedNotice[],
): Promise<{ events: MailEvent[]; undeliverable: UndeliverableContact[] }> {
  const sorted = [...notices].sort((a, b) => a.at.getTime() - b.at.getTime() || Number(BigInt(a.id) - BigInt(b.id)));
  const mails = byMail(sorted);
  const groups = [...mails.values()];
  const firstOf = (kind: NoticeKind) => groups.map((group) => group.find((notice) => notice.kind === kind)?.at ?? null);
  const firstHumanOf = (kind: NoticeKind) =>
    groups.map((group) => group.find((notice) => notice.kind === kind && !isMachine(notice))?.at ?? null);
  const rows = await update(trx, [
    [...mails.keys()],
    ...(['delivery', 'open', 'click', 'bounce', 'complaint'] as const).map(firstOf),
    ...(['open', 'click'] as const).map(firstHumanOf),
    groups.map(bounceTypeOf),
    groups.map((group) => statusOf[furthest(group)]),
    groups.map((group) => group.findLast(({ reason }) => reason !== null)?.reason ?? null),
  ]);
  const collector = new NoticeEvents(rows);
  for (const notice of sorted) collector.add(notice);
  return collector;
}

function byMail(notices: MatchedNotice[]): Map<string, MatchedNotice[]> {
  const mails = new Map<string, MatchedNotice[]>();
  for (const notice of notices) {
    const group = mails.get(notice.emailId);
    if (group) group.push(notice);
    else mails.set(notice.emailId, [notice]);
  }
  return mails;
}

function bounceTypeOf(group: MatchedNotice[]): BounceType | null {
  const types = group.filter(({ kind }) => kind === 'bounce').map(({ bounceType }) => bounceType ?? 'Undetermined');
  return types.find((type) => type === 'Permanent') ?? types[0] ?? null;
}

const furthest = (group: MatchedNotice[]): NoticeKind =>
  group.map(({ kind }) => kind).reduce((a, b) => (rank[a] >= rank[b] ? a : b));

/** Collects the events of notices: the first delivery, bounce and complaint of a mail, and all opens and clicks. */
class NoticeEvents {
  readonly events: MailEvent[] = [];
  readonly undeliverable: UndeliverableContact[] = [];
  private readonly mails: Map<string, UpdatedRow>;
  private readonly repeats = new Map<string, number>();

  constructor(rows: UpdatedRow[]) {
    this.mails = new Map(rows.map((row) => [row.id, row]));
  }

  add(notice: MatchedNotice): void {
    const mail = this.mails.get(notice.emailId);
    if (!mail || this.isRepeatedTooOften(notice)) return;
    const isFirst = this.isFirst(mail, notice.kind);
    const isWorse = notice.kind === 'bounce' && notice.bounceType === 'Permanent' && !this.bouncedForGood(mail);
    if (!isFirst && !isWorse && notice.kind !== 'open' && notice.kind !== 'click') return;
    if (notice.kind === 'bounce') mail.bounceTypeBefore = notice.bounceType ?? 'Undetermined';
    const data = mailEventData(mail, { ...detailOf(mail, notice), ...this.readerOf(mail, notice), isFirst });
    if (!mail.isSilent) this.events.push({ name: `email.${notice.kind}`, mail, data });
    if (notice.kind === 'complaint' || isWorse)
      this.undeliverable.push(undeliverable(mail, notice.kind === 'complaint' ? 'complaint' : 'bounce'));
  }

  private isRepeatedTooOften(notice: MatchedNotice): boolean {
    const { emailId, kind, link } = notice;
    const key = `${emailId} ${kind} ${isMachine(notice)} ${link}`;
    const before = this.repeats.get(key) ?? 0;
    this.repeats.set(key, before + 1);
    return before >= MAX_REPEATS;
  }

  /** Says who opened or clicked: a person or a machine, and for a person whether it was the first time. */
  private readerOf(mail: UpdatedRow, notice: MatchedNotice) {
    if (notice.kind !== 'open' && notice.kind !== 'click') return {};
    const machine = isMachine(notice);
    const before = notice.kind === 'open' ? 'humanOpenedBefore' : 'humanClickedBefore';
    const isFirstHuman = !machine && !mail[before];
    const isFirstReading = !machine && !mail.humanOpenedBefore && !mail.humanClickedBefore;
    if (!machine) mail[before] = true;
    return {
      machine,
      isFirstHuman,
      isFirstReading,
      userAgentClass: notice.agent,
      secondsAfterSending: secondsAfterSending(notice),
    };
  }

  private isFirst(mail: UpdatedRow, kind: NoticeKind): boolean {
    const before = {
      delivery: 'deliveredBefore',
      open: 'openedBefore',
      click: 'clickedBefore',
      bounce: 'bouncedBefore',
      complaint: 'complainedBefore',
    } as const;
    const isFirst = !mail[before[kind]];
    mail[before[kind]] = true;
    return isFirst;
  }

  private readonly bouncedForGood = ({ bouncedBefore, bounceTypeBefore }: UpdatedRow): boolean =>
    bouncedBefore && bounceTypeBefore === 'Permanent';
}

function detailOf(mail: UpdatedRow, { kind, at, link, linkIndex, bounceType, reason }: MatchedNotice) {
  const time = at.toISOString();
  switch (kind) {
    case 'delivery':
      return { deliveredAt: time };
    case 'open':
      return { openedAt: time };
    case 'click':
      // A link may contain personal data, so it is dropped once the contact is deleted.
      return { clickedAt: time, link: mail.contactEmail === null ? null : link, linkIndex };
    case 'bounce':
      return { bouncedAt: time, bounceType: bounceType ?? 'Undetermined', reason };
    case 'complaint':
      return { complainedAt: time, reason };
  }
}
