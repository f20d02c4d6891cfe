import type { Suppression } from '../../db/models/suppression.ts';
import { suppressionReasons } from '../../services/suppressions/suppress.ts';
import { dateTime, nullable, object, oneOf, text, uuid } from '../http/schemas.ts';

export const suppressionSchema = object({
  id: uuid(),
  /** Null once the contact is deleted: then only a hash is stored. */
  email: nullable(text()),
  reason: oneOf(...suppressionReasons),
  /** Why it was added by hand. */
  note: nullable(text()),
  /** The mail that caused it. */
  emailId: nullable(uuid()),
  createdAt: dateTime(),
});

export const presentSuppression = ({ id, email, reason, note, emailId, createdAt }: Suppression) => ({
  id,
  email,
  reason,
  note,
  emailId,
  createdAt,
});
