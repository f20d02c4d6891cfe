import { type Db, wake } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { AgentClass } from './machines.ts';

export const noticeKinds = ['delivery', 'open', 'click', 'bounce', 'complaint'] as const;
export type NoticeKind = (typeof noticeKinds)[number];
export type BounceType = 'Permanent' | 'Transient' | 'Undetermined';

/** A report about a mail after it was sent. */
export interface Notice {
  /** The mail, by our id or by the relay's. */
  mail: { id: string } | { providerMessageId: string };
  kind: NoticeKind;
  bounceType?: BounceType | undefined;
  /** The clicked link. */
  link?: string | undefined;
  /** Its position among the links of the email; undefined in email of an earlier version. */
  linkIndex?: number | undefined;
  /** The reason of a bounce or complaint, as reported. */
  reason?: string | undefined;
  /** Of an open or a click; undefined when it is not known. */
  agent?: AgentClass | undefined;
  /** When it happened; now by default. */
  at?: Date | undefined;
}

const append = statement(
  'notices-append',
  `insert into email_notices (email_id, provider_message_id, kind, bounce_type, link, reason, at, agent, link_index)
   select id, provider_id, kind, bounce_type, link, reason, least(coalesce(at, now()), now()), agent, link_index
   from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[],
     $8::text[], $9::smallint[]) as n (id, provider_id, kind, bounce_type, link, reason, at, agent, link_index)`,
);

const waiting = statement<{ count: number }>('notices-waiting', 'select count(*)::integer as count from email_notices');

/** Counts the notices that are not applied yet. */
export async function noticesWaiting(db: Db): Promise<number> {
  return (await waiting(db, []))[0]?.count ?? 0;
}

const REASON_LENGTH = 500;
/** Of a smallint. */
const MAX_INDEX = 32_767;

/**
 * Stores notices with one insert that waits for no lock. `applyNotices` soon applies them (status, events, unsubscribed
 * contacts). The same notice may be recorded any number of times.
 */
export async function recordNotices(db: Db, notices: Notice[]): Promise<void> {
  if (notices.length === 0) return;
  await append(db, [
    notices.map(({ mail }) => ('id' in mail ? mail.id : null)),
    notices.map(({ mail }) => ('id' in mail ? null : withoutNul(mail.providerMessageId))),
    notices.map(({ kind }) => kind),
    notices.map(({ bounceType }) => bounceType ?? null),
    notices.map(({ link }) => withoutNul(link)),
    notices.map(({ reason }) => withoutNul(reason?.slice(0, REASON_LENGTH))),
    notices.map(({ at }) => at ?? null),
    notices.map(({ agent }) => agent ?? null),
    notices.map(({ linkIndex }) => (linkIndex !== undefined && linkIndex <= MAX_INDEX ? linkIndex : null)),
  ]);
  wake(db, 'notices');
}

/** Removes NUL, which Postgres cannot store and which would fail the whole insert. */
const withoutNul = (text: string | undefined): string | null => text?.replaceAll('\0', '') ?? null;
