import { sql } from '../fragment.ts';
import { readListOf, readPart, readText } from './arguments.ts';
import { type BindableOperator, type Operators, operator, type RawFilter } from './operator.ts';
import { containsText, endsWithText, startsWithText, type TextTest } from './texts.ts';

// Addresses are stored in lower case, so a lower-case argument matches any case and can use indexes.
const address = (filter: RawFilter) => readText(filter).trim().toLowerCase();
const addresses = readListOf(address);
const addressPart = (filter: RawFilter) => readPart(filter).toLowerCase();

const textOperator = (test: TextTest): BindableOperator<undefined> =>
  operator({
    read: addressPart,
    sql: (_, wanted) => sql`c.email like ${test.pattern(wanted)}`,
    evaluate: (_, wanted, { contact }) => test.matches(contact.email, wanted),
  });

export const emailOperators: Operators<undefined> = {
  equals: operator({
    read: address,
    sql: (_, wanted) => sql`c.email = ${wanted}`,
    evaluate: (_, wanted, { contact }) => contact.email === wanted,
  }),
  notEquals: operator({
    read: address,
    sql: (_, other) => sql`c.email <> ${other}`,
    evaluate: (_, other, { contact }) => contact.email !== other,
  }),
  contains: textOperator(containsText),
  notContains: operator({
    read: addressPart,
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
