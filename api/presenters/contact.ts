import type { ContactRecord } from '../../db/models/contact.ts';
import type { SavedContact } from '../../services/contacts/save.ts';
import { dateTime, email, flag, object, record, uuid } from '../http/schemas.ts';

const shape = {
  id: uuid(),
  email: email(),
  subscribed: flag(),
  data: record(),
  createdAt: dateTime(),
  updatedAt: dateTime(),
};

export const contactSchema = object(shape);

export const presentContact = ({ id, email: address, subscribed, data, createdAt, updatedAt }: ContactRecord) => ({
  id,
  email: address,
  subscribed,
  data,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

export const savedContactSchema = object({ ...shape, _meta: object({ isNew: flag(), isUpdate: flag() }) });

export const presentSavedContact = ({ contact, isNew }: SavedContact) => ({
  ...presentContact(contact),
  _meta: { isNew, isUpdate: !isNew },
});
