import type { Suppression } from '../../db/models/suppression.ts';
import { dateTime, nullable, object, oneOf, text, uuid } from '../http/schemas.ts';

export const suppressionSchema = object({
  id: uuid(),
  /** Null once the contact is deleted: then only a hash is stored. */
  email: nullable(text()),
  reason: oneOf('HARD_BOUNCE', 'COMPLAINT'),
  /** The mail that caused it. */
  emailId: nullable(uuid()),
  createdAt: dateTime(),
});

export const presentSuppression = ({ id, email, reason, emailId, createdAt }: Suppression) => ({
  id,
  email,
  reason,
  emailId,
  createdAt,
});
