import { sql } from '../fragment.ts';
import { listOf, part, text } from './arguments.ts';
import { type Entry, type Operators, operator, type RawFilter } from './operator.ts';
import { contains, endsWith, startsWith, type TextTest } from './texts.ts';

// Addresses are stored in lower case: with the filter's text in lower case too, case does not matter and indexes serve.
const address = (filter: RawFilter) => text(filter).trim().toLowerCase();
const addresses = listOf(address);
const piece = (filter: RawFilter) => part(filter).toLowerCase();

const finds = (test: TextTest): Entry<undefined> =>
  operator({
    read: piece,
    sql: (_, wanted) => sql`c.email like ${test.pattern(wanted)}`,
    decide: (_, wanted, { contact }) => test.holds(contact.email, wanted),
  });

export const emailOperators: Operators<undefined> = {
  equals: operator({
    read: address,
    sql: (_, wanted) => sql`c.email = ${wanted}`,
    decide: (_, wanted, { contact }) => contact.email === wanted,
  }),
  notEquals: operator({
    read: address,
    sql: (_, other) => sql`c.email <> ${other}`,
    decide: (_, other, { contact }) => contact.email !== other,
  }),
  contains: finds(contains),
  notContains: operator({
    read: piece,
    sql: (_, other) => sql`c.email not like ${contains.pattern(other)}`,
    decide: (_, other, { contact }) => !contact.email.includes(other),
  }),
  startsWith: finds(startsWith),
  endsWith: finds(endsWith),
  in: operator({
    read: addresses,
    sql: (_, wanted) => sql`c.email = any (${wanted}::text[])`,
    decide: (_, wanted, { contact }) => wanted.includes(contact.email),
  }),
  notIn: operator({
    read: addresses,
    sql: (_, others) => sql`c.email <> all (${others}::text[])`,
    decide: (_, others, { contact }) => !others.includes(contact.email),
  }),
};
