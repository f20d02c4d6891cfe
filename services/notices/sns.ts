import type { Db } from '../../db/connect.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { ApiError } from '../../platform/errors.ts';
import type { SnsMessage, SnsVerifier } from '../../platform/integrations/sns.ts';
import { DEDUPLICATION_DAYS, receiveNotices } from './receive.ts';
import { readSesNotices } from './ses.ts';

const MAX_ID = 200;

/** What was done with a message. All are answered with 200, so that SNS does not repeat it. */
export type SnsOutcome = 'recorded' | 'repeated' | 'confirmed' | 'ignored';

/** Verifies the signature before it reads the message. */
export async function receiveSnsMessage(
  db: Db,
  gate: SnsVerifier,
  keys: SigningKeys,
  message: SnsMessage,
): Promise<SnsOutcome> {
  const refusal = await gate.refusalOf(message);
  if (refusal) throw forbidden(refusal);
  if (message.Type === 'SubscriptionConfirmation') return confirm(gate, message);
  if (message.Type !== 'Notification' || isStale(message)) return 'ignored';
  const notices = readSesNotices(keys, message.Message);
  if (notices.length === 0) return 'ignored';
  return (await receiveNotices(db, `sns ${message.MessageId.replaceAll('\0', '').slice(0, MAX_ID)}`, notices))
    ? 'recorded'
    : 'repeated';
}

async function confirm(gate: SnsVerifier, { SubscribeURL }: SnsMessage): Promise<SnsOutcome> {
  if (!SubscribeURL || !gate.isAllowed(SubscribeURL))
    throw forbidden('The subscription URL is not hosted by the provider.');
  if (await gate.confirm(SubscribeURL)) return 'confirmed';
  throw new ApiError(502, 'EXTERNAL_SERVICE_ERROR', 'The subscription could not be confirmed.');
}

const forbidden = (message: string) => new ApiError(403, 'FORBIDDEN', message);

/** True for a message so old that its id may have been deleted: a replay would not be detected. */
function isStale({ Timestamp }: SnsMessage): boolean {
  const age = Date.now() - Date.parse(Timestamp);
  return !(age < (DEDUPLICATION_DAYS - 1) * 86_400_000);
}
