import { sql } from '../../../db/sql.ts';
import { readBoolean } from './arguments.ts';
import { type Operators, operator } from './operator.ts';

export const subscribedOperators: Operators<undefined> = {
  equals: operator({
    read: readBoolean,
    sql: (_, wanted) => sql`c.subscribed = ${wanted}`,
    evaluate: (_, wanted, { contact }) => contact.subscribed === wanted,
  }),
  notEquals: operator({
    read: readBoolean,
    sql: (_, other) => sql`c.subscribed <> ${other}`,
    evaluate: (_, other, { contact }) => contact.subscribed !== other,
  }),
};
