import type { SigningKeys } from '../../platform/cursor.ts';
import type { BounceType, Notice } from '../emails/notices.ts';
import { MARK_HEADER, openReturnToken } from '../emails/return-token.ts';

// What Amazon SES tells of a mail: https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html and, for
// configuration sets, event-publishing-retrieving-sns-contents.html beside it. Nothing of it is taken for granted.

type Part = Record<string, unknown>;

const part = (value: unknown): Part => (typeof value === 'object' && value !== null ? (value as Part) : {});
const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.replaceAll('\0', '') : undefined;
const items = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const MAX_LINK = 4_096;

/** Empty for what means nothing to us: news of another kind, or of mail that is not ours. */
export function readSesNotices(keys: SigningKeys, message: string): Notice[] {
  const told = part(parsed(message));
  const mail = mailOf(keys, part(told.mail));
  const notice = mail && noticeOf(text(told.eventType) ?? text(told.notificationType) ?? '', told);
  return mail && notice ? [{ mail, ...notice }] : [];
}

function parsed(message: string): unknown {
  try {
    return JSON.parse(message);
  } catch {
    return undefined;
  }
}

/** By our own mark, where the head came along, or by the id that SES gave it. */
function mailOf(keys: SigningKeys, mail: Part): Notice['mail'] | undefined {
  for (const header of items(mail.headers).map(part)) {
    const mark = text(header.name)?.toLowerCase() === MARK_HEADER.toLowerCase() ? text(header.value) : undefined;
    const id = mark && openReturnToken(keys, mark);
    if (id) return { id };
  }
  const providerMessageId = text(mail.messageId);
  return providerMessageId === undefined ? undefined : { providerMessageId: providerMessageId.slice(0, 200) };
}

function noticeOf(type: string, told: Part): Omit<Notice, 'mail'> | undefined {
  switch (type) {
    case 'Delivery':
      return { kind: 'delivery', at: timeOf(part(told.delivery)) };
    case 'Bounce':
      return bounceOf(part(told.bounce));
    case 'Complaint': {
      const complaint = part(told.complaint);
      const reason = text(complaint.complaintFeedbackType);
      // Somebody took the mail out of the spam: the opposite of a complaint, told in the same way (RFC 5965).
      return reason === 'not-spam' ? undefined : { kind: 'complaint', reason, at: timeOf(complaint) };
    }
    // SES has taken the mail and then thrown it away, for a virus: it has not arrived, but not for the address's sake.
    case 'Reject':
      return {
        kind: 'bounce',
        bounceType: 'Undetermined',
        reason: `rejected: ${text(part(told.reject).reason) ?? 'no reason given'}`,
      };
    case 'Open':
      return { kind: 'open', at: timeOf(part(told.open)) };
    case 'Click': {
      const click = part(told.click);
      return { kind: 'click', link: text(click.link)?.slice(0, MAX_LINK), at: timeOf(click) };
    }
    default:
      return undefined;
  }
}

function bounceOf(bounce: Part): Omit<Notice, 'mail'> {
  const known: BounceType[] = ['Permanent', 'Transient'];
  const bounceType = known.find((type) => type === bounce.bounceType) ?? 'Undetermined';
  const [recipient] = items(bounce.bouncedRecipients).map(part);
  const reason = text(recipient?.diagnosticCode) ?? text(bounce.bounceSubType);
  return { kind: 'bounce', bounceType, reason, at: timeOf(bounce) };
}

function timeOf({ timestamp }: Part): Date | undefined {
  const at = new Date(text(timestamp) ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? undefined : at;
}
