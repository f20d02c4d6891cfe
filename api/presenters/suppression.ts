import type { ListedSuppression } from '../../services/suppressions/list.ts';
import { suppressionReasons } from '../../services/suppressions/suppress.ts';
import { dateTime, namedType, nullable, oneOf, text, uuid } from '../http/schemas.ts';

export const suppressionSchema = namedType('Suppression', 'An address that no email is sent to.', {
  id: uuid().description('Suppression ID.'),
  email: nullable(text()).description('Email address; null once the contact is deleted, when only a hash is stored.'),
  reason: oneOf(...suppressionReasons).description('Why the address is suppressed.'),
  note: nullable(text()).description('Note that was given with the suppression; null if there is none.'),
  emailId: nullable(uuid()).description('ID of the email that bounced or was reported as spam; null if there is none.'),
  createdAt: dateTime().description('When the address was suppressed.'),
});

export const presentSuppression = ({ id, email, reason, note, emailId, createdAt }: ListedSuppression) => ({
  id,
  email,
  reason,
  note,
  emailId,
  createdAt,
});
