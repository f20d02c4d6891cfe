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

/** A row as statements written in SQL return it. */
export interface ContactRow {
  id: string;
  email: string;
  subscribed: boolean;
  data: Record<string, unknown>;
  created_at: Date;
  updated_at: Date;
}

export const contactRecord = ({ id, email, subscribed, data, created_at, updated_at }: ContactRow): ContactRecord => ({
  id,
  email,
  subscribed,
  data,
  createdAt: created_at,
  updatedAt: updated_at,
});
