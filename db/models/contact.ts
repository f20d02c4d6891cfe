import { BaseModel } from './base.ts';

export class Contact extends BaseModel {
  static override tableName = 'contacts';

  declare id: string;
  declare projectId: string;
  declare email: string;
  declare subscribed: boolean;
  declare data: Record<string, unknown>;
  declare updatedAt: Date;
}

/** The fields of a contact that clients see. */
export type ContactRecord = Pick<Contact, 'id' | 'email' | 'subscribed' | 'data' | 'createdAt' | 'updatedAt'>;

/** SQL: the columns of `ContactRecord`. */
export const contactColumns = (contact: string): string =>
  ['id', 'email', 'subscribed', 'data', 'created_at', 'updated_at'].map((column) => `${contact}.${column}`).join(', ');

/** Leaves out further columns of a row. */
export const contactRecord = ({ id, email, subscribed, data, createdAt, updatedAt }: ContactRecord): ContactRecord => ({
  id,
  email,
  subscribed,
  data,
  createdAt,
  updatedAt,
});

/** What templates can show of a contact. */
export interface ContactInMail {
  email: string;
  subscribed: boolean;
  created_at: string;
  data: Record<string, unknown>;
}

/** SQL: `ContactInMail`, or null where an outer join has found no contact. */
export const contactInMail = (contact: string): string =>
  `case when ${contact}.id is not null then jsonb_build_object('email', ${contact}.email,
     'subscribed', ${contact}.subscribed, 'created_at', ${contact}.created_at, 'data', ${contact}.data) end`;
