import { expect } from 'chai';
import fc from 'fast-check';
import type { Db } from '../../../db/connect.ts';
import { type Data, readData } from '../../../services/contacts/data.ts';
import { saveContact, updateContact } from '../../../services/contacts/save.ts';
import { writeContacts } from '../../../services/contacts/write.ts';
import { trackEvent } from '../../../services/events/track.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { contactWith } from '../../support/rows/contacts.ts';

const RESERVED = [
  'id',
  'email',
  'service_id',
  'service_email',
  'everpost_id',
  'everpost_email',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
];

/** The rules of the contract: what a value changes in a contact, and whether the event sees it. */
function model(stored: Map<string, unknown>, data: Data): Map<string, unknown> {
  const seen = new Map<string, unknown>();
  for (const [key, given] of Object.entries(data)) {
    if (RESERVED.includes(key)) continue;
    const wrapped = isWrapped(given);
    const value = wrapped ? given.value : given;
    if (value === '') continue;
    if (value !== null) seen.set(key, value);
    if (wrapped && !given.persistent) continue;
    if (value === null) stored.delete(key);
    else stored.set(key, value);
  }
  return seen;
}

const isWrapped = (value: unknown): value is { value: unknown; persistent: boolean } =>
  typeof value === 'object' &&
  value !== null &&
  Object.hasOwn(value, 'value') &&
  Object.hasOwn(value, 'persistent') &&
  typeof (value as { persistent: unknown }).persistent === 'boolean';

// The texts that the API accepts: no lone surrogates, no NUL, no __proto__.
const text = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((value) => !/\0|\p{Surrogate}/u.test(value));
const key = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c', 'first name', 'a.b', 'x"y', 'locale', 'constructor', '') },
  { weight: 1, arbitrary: fc.constantFrom(...RESERVED) },
  { weight: 1, arbitrary: text.filter((name) => name !== '__proto__') },
);
const plain = fc.oneof(
  fc.constantFrom('', null, 0, -0.5, true, false, '2026-01-01'),
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: plain },
  { weight: 1, arbitrary: fc.array(plain, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('value', 'persistent', 'tier'), plain, { maxKeys: 3 }) },
  { weight: 2, arbitrary: fc.record({ value: plain, persistent: fc.boolean() }) },
);
const data: fc.Arbitrary<Data> = fc.dictionary(key, value, { maxKeys: 6, noNullPrototype: true });

describe('the rules for data', () => {
  it('match the contract for 500 random inputs', () => {
    fc.assert(
      fc.property(data, (given) => {
        const stored = new Map<string, unknown>(Object.keys(given).map((name) => [name, 'before']));
        const seen = model(stored, given);
        const change = readData(given);
        expect(change.seen).to.deep.equal(Object.fromEntries(seen));
        const merged = new Map<string, unknown>(Object.keys(given).map((name) => [name, 'before']));
        for (const name of change.deletes) merged.delete(name);
        for (const [name, item] of Object.entries(change.patch)) merged.set(name, item);
        expect(Object.fromEntries(merged)).to.deep.equal(Object.fromEntries(stored));
      }),
      { numRuns: 500 },
    );
  });

  describe('in the database', () => {
    let database: ConnectedDatabase;
    let db: Db;
    let project: TestProject;
    let contacts = 0;

    before(async () => {
      database = await connectTestDatabase(5);
      ({ db } = database);
      project = await makeProject(db);
    });
    after(() => database.close());

    /** The operations that apply the rules. */
    const operations: Record<string, (email: string, data: Data) => Promise<unknown>> = {
      track: (email, given) => trackEvent(db, project.access, { email, event: 'e', data: given }),
      save: (email, given) => saveContact(db, project.access, { email, data: given }),
      update: async (email, given) => {
        const { contact } = await saveContact(db, project.access, { email });
        return updateContact(db, project.access, contact.id, { data: given });
      },
      many: (email, given) => {
        const { patch, deletes } = readData(given);
        return writeContacts(db, project.id, [{ email, subscribedWhenNew: true, patch, deletes }]);
      },
    };
    const step = fc.record({ operation: fc.constantFrom(...Object.keys(operations)), data });

    it('give the same contact for every sequence of operations', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
          const email = `c${++contacts}@example.com`;
          const stored = new Map<string, unknown>();
          for (const { operation, data: given } of steps) {
            model(stored, given);
            await operations[operation]?.(email, given);
          }
          const row = await contactWith(db, project.id, email);
          expect(row.data).to.deep.equal(Object.fromEntries(stored));
        }),
        { numRuns: 80 },
      );
    });
  });
});
