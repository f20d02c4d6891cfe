import type { ContactRecord } from '../../db/models/contact.ts';
import type { SavedContact } from '../../services/contacts/save.ts';
import { dateTime, email, flag, namedType, object, record, uuid } from '../http/schemas.ts';

const shape = {
  id: uuid().description('Contact ID.'),
  email: email().description('Email address, in lower case.'),
  subscribed: flag().description('Whether the contact receives marketing email.'),
  data: record().description('Custom fields by name.').example({ plan: 'pro' }),
  createdAt: dateTime().description('When the contact was created.'),
  updatedAt: dateTime().description('When the contact last changed.'),
};

export const contactSchema = namedType('Contact', 'A person who receives email.', shape);

export const presentContact = ({ id, email: address, subscribed, data, createdAt, updatedAt }: ContactRecord) => ({
  id,
  email: address,
  subscribed,
  data,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

export const savedContactSchema = namedType('SavedContact', 'A contact that was created or updated.', {
  ...shape,
  _meta: object({
    isNew: flag().description('Whether the contact was created.'),
    isUpdate: flag().description('Whether the contact existed before.'),
  }).description('What the request did.'),
});

export const presentSavedContact = ({ contact, isNew }: SavedContact) => ({
  ...presentContact(contact),
  _meta: { isNew, isUpdate: !isNew },
});
