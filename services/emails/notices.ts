import { type Db, wake } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

export const noticeKinds = ['delivery', 'open', 'click', 'bounce', 'complaint'] as const;
export type NoticeKind = (typeof noticeKinds)[number];
export type BounceType = 'Permanent' | 'Transient' | 'Undetermined';

/** Something that was heard of a mail after it left. */
export interface Notice {
  /** Which mail: by our id of it, or by the one that the relay gave it. */
  mail: { id: string } | { providerMessageId: string };
  kind: NoticeKind;
  bounceType?: BounceType | undefined;
  /** What was clicked. */
  link?: string | undefined;
  /** Of a bounce or complaint, in the words of whoever tells. */
  reason?: string | undefined;
  /** When it happened; now, when nothing is said. */
  at?: Date | undefined;
}

const append = statement(
  'notices-append',
  `insert into email_notices (email_id, provider_message_id, kind, bounce_type, link, reason, at)
   select id, provider_id, kind, bounce_type, link, reason, least(coalesce(at, now()), now())
   from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
     as n (id, provider_id, kind, bounce_type, link, reason, at)`,
);

const waiting = statement<{ count: number }>('notices-waiting', 'select count(*)::integer as count from email_notices');

/** How many are not settled yet. */
export async function noticesWaiting(db: Db): Promise<number> {
  return (await waiting(db, []))[0]?.count ?? 0;
}

const REASON_LENGTH = 500;

/**
 * Notes what was heard of mails: one insert that waits for nobody. What follows from it (the mail's state, events, a
 * contact unsubscribed) is done by `settleNotices` soon after. The same notice may come any number of times.
 */
export async function recordNotices(db: Db, notices: Notice[]): Promise<void> {
  if (notices.length === 0) return;
  await append(db, [
    notices.map(({ mail }) => ('id' in mail ? mail.id : null)),
    notices.map(({ mail }) => ('id' in mail ? null : stored(mail.providerMessageId))),
    notices.map(({ kind }) => kind),
    notices.map(({ bounceType }) => bounceType ?? null),
    notices.map(({ link }) => stored(link)),
    notices.map(({ reason }) => stored(reason?.slice(0, REASON_LENGTH))),
    notices.map(({ at }) => at ?? null),
  ]);
  wake(db, 'notices');
}

/** Postgres keeps no NUL, and one notice that cannot be stored would take its neighbours along. */
const stored = (text: string | undefined): string | null => text?.replaceAll('\0', '') ?? null;
