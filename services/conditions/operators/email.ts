import { sql } from '../../../db/sql.ts';
import { readAddress, readAddressPart, readListOf } from './arguments.ts';
import { type BindableOperator, type Operators, operator } from './operator.ts';
import { containsText, endsWithText, startsWithText, type TextTest } from './texts.ts';

const addresses = readListOf(readAddress);

const textOperator = (test: TextTest): BindableOperator<undefined> =>
  operator({
    read: readAddressPart,
    sql: (_, wanted) => sql`c.email like ${test.pattern(wanted)}`,
    evaluate: (_, wanted, { contact }) => test.matches(contact.email, wanted),
  });

export const emailOperators: Operators<undefined> = {
  equals: operator({
    read: readAddress,
    sql: (_, wanted) => sql`c.email = ${wanted}`,
    evaluate: (_, wanted, { contact }) => contact.email === wanted,
  }),
  notEquals: operator({
    read: readAddress,
    sql: (_, other) => sql`c.email <> ${other}`,
    evaluate: (_, other, { contact }) => contact.email !== other,
  }),
  contains: textOperator(containsText),
  notContains: operator({
    read: readAddressPart,
    sql: (_, other) => sql`c.email not like ${containsText.pattern(other)}`,
    evaluate: (_, other, { contact }) => !contact.email.includes(other),
  }),
  startsWith: textOperator(startsWithText),
  endsWith: textOperator(endsWithText),
  in: operator({
    read: addresses,
    sql: (_, wanted) => sql`c.email = any (${wanted}::text[])`,
    evaluate: (_, wanted, { contact }) => wanted.includes(contact.email),
  }),
  notIn: operator({
    read: addresses,
    sql: (_, others) => sql`c.email <> all (${others}::text[])`,
    evaluate: (_, others, { contact }) => !others.includes(contact.email),
  }),
};
