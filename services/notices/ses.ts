import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { classifyUserAgent } from '../emails/machines.ts';
import type { BounceType, Notice } from '../emails/notices.ts';
import { EMAIL_ID_HEADER, openReturnToken } from '../emails/return-token.ts';

// Reads notifications of Amazon SES: https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html and, for
// configuration sets, event-publishing-retrieving-sns-contents.html. No field is assumed to exist or to have its type.

type JsonObject = Record<string, unknown>;

const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? (value as JsonObject) : {};
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.replaceAll('\0', '') : undefined;
const itemsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const MAX_LINK = 4_096;

/** Returns no notice for other kinds of messages and for mail that is not ours. */
export function readSesNotices(keys: SigningKeys, message: string): Notice[] {
  const notification = objectOf(parseJson(message));
  const mail = mailOf(keys, objectOf(notification.mail));
  const type = textOf(notification.eventType) ?? textOf(notification.notificationType) ?? '';
  const notice = mail && noticeOf(type, notification);
  return mail && notice ? [{ mail, ...notice }] : [];
}

function parseJson(message: string): unknown {
  try {
    return JSON.parse(message);
  } catch {
    return undefined;
  }
}

/** Finds the mail by our own header if SES includes the headers, or by the id of SES. */
function mailOf(keys: SigningKeys, mail: JsonObject): Notice['mail'] | undefined {
  for (const header of itemsOf(mail.headers).map(objectOf)) {
    const mark =
      textOf(header.name)?.toLowerCase() === EMAIL_ID_HEADER.toLowerCase() ? textOf(header.value) : undefined;
    const id = mark && openReturnToken(keys, mark);
    if (id) return { id };
  }
  const providerMessageId = textOf(mail.messageId);
  return providerMessageId === undefined ? undefined : { providerMessageId: providerMessageId.slice(0, 200) };
}

function noticeOf(type: string, notification: JsonObject): Omit<Notice, 'mail'> | undefined {
  switch (type) {
    case 'Delivery':
      return { kind: 'delivery', at: timeOf(objectOf(notification.delivery)) };
    case 'Bounce':
      return bounceOf(objectOf(notification.bounce));
    case 'Complaint': {
      const complaint = objectOf(notification.complaint);
      const reason = textOf(complaint.complaintFeedbackType);
      // `not-spam` means that a recipient moved the mail out of the spam folder (RFC 5965).
      return reason === 'not-spam' ? undefined : { kind: 'complaint', reason, at: timeOf(complaint) };
    }
    // SES accepted the mail and dropped it because of a virus: it did not arrive, but the address is not at fault.
    case 'Reject':
      return {
        kind: 'bounce',
        bounceType: 'Undetermined',
        reason: `rejected: ${textOf(objectOf(notification.reject).reason) ?? 'no reason given'}`,
      };
    case 'Open':
      return { kind: 'open', ...agentAndTimeOf(objectOf(notification.open)) };
    case 'Click': {
      const click = objectOf(notification.click);
      return { kind: 'click', link: textOf(click.link)?.slice(0, MAX_LINK), ...agentAndTimeOf(click) };
    }
    default:
      return undefined;
  }
}

function bounceOf(bounce: JsonObject): Omit<Notice, 'mail'> {
  const known: BounceType[] = ['Permanent', 'Transient'];
  const bounceType = known.find((type) => type === bounce.bounceType) ?? 'Undetermined';
  const [recipient] = itemsOf(bounce.bouncedRecipients).map(objectOf);
  const reason = textOf(recipient?.diagnosticCode) ?? textOf(bounce.bounceSubType);
  return { kind: 'bounce', bounceType, reason, at: timeOf(bounce) };
}

function agentAndTimeOf(report: JsonObject): Pick<Notice, 'agent' | 'at'> {
  const userAgent = textOf(report.userAgent);
  return { agent: userAgent === undefined ? undefined : classifyUserAgent(userAgent), at: timeOf(report) };
}

function timeOf({ timestamp }: JsonObject): Date | undefined {
  const at = new Date(textOf(timestamp) ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? undefined : at;
}
