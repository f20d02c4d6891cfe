import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../../platform/ids.ts';
import { dataOperators } from '../../../services/conditions/operators/data.ts';
import { dateOperators } from '../../../services/conditions/operators/dates.ts';
import { emailOperators } from '../../../services/conditions/operators/email.ts';
import { eventOperators } from '../../../services/conditions/operators/event.ts';
import { resultOperators } from '../../../services/conditions/operators/results.ts';
import { segmentOperators } from '../../../services/conditions/operators/segment.ts';
import { subscribedOperators } from '../../../services/conditions/operators/subscribed.ts';
import { topicOperators } from '../../../services/conditions/operators/topic.ts';
import type { SegmentSource } from '../../../services/conditions/resolve.ts';
import type { Data } from '../../../services/contacts/data.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../../support/connected-database.ts';
import { ago, drift, evaluateBoth, type Person, populate, type TestTopic, tree } from './population.ts';
import type { TestEmail } from './population-emails.ts';

// Small pools of values, so that filters match often. Rare values are edge cases.

const spans = [
  { value: 1, unit: 'days' },
  { value: 90, unit: 'minutes' },
  { value: 1, unit: 'months' },
];
const DAY = 86_400_000;
/** The limits of the spans above, and one millisecond on each side. */
const ages = [90 * 60_000, DAY, 31 * DAY].flatMap((age) => [age - 1, age, age + 1]);
const date = fc.constantFrom(...ages, 0, -1, -DAY).map(ago);
const pastDate = fc.constantFrom(...ages, 0).map(ago);
const isoDate = fc.oneof(
  date.map((at) => at.toISOString()),
  date.map((at) => at.toISOString().slice(0, 10)),
  date.map((at) => `${at.toISOString().slice(0, 19)}Z`),
  date.map((at) => `${at.toISOString().slice(0, -1)}456+02:00`),
);
const isoText = fc.oneof(
  { weight: 4, arbitrary: isoDate },
  {
    weight: 1,
    arbitrary: fc.constantFrom('2026-02-30', '2026-02-30T00:00:00Z', '2026-03-31T24:00:00Z', '2026-03-31T12:00Z'),
  },
);
/** Leap days, ends of years, and hours in which the day differs between time zones. */
const anniversary = fc.constantFrom(
  '2000-02-29',
  '1980-02-28',
  '1999-04-01',
  '2001-03-31',
  '2010-12-31',
  '2011-03-30T22:30:00Z',
  '2020-03-31T21:59:59.999Z',
  '2020-03-31T22:00:00Z',
  '2015-04-07T01:00:00+05:00',
);
const text = fc.oneof(
  { weight: 1, arbitrary: anniversary },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'pro',
      'PRO',
      'pro plan',
      '1',
      'true',
      '%',
      '_r_',
      '\\',
      'é',
      'e\u0301',
      '\uff5e',
      '\u{1f600}',
    ),
  },
  { weight: 2, arbitrary: isoText },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }) },
);
const number = fc.oneof(
  fc.constantFrom(0, 1, -1, 1.5, 1e21, 0.1 + 0.2, 5e-324),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const scalar = fc.oneof(text, number, fc.boolean());
const keys = ['a', 'b', 'a b', "it's", 'x"y', '__proto__', '0'];
const { value: dataValue } = fc.letrec<{ value: unknown; object: Data }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 2 }),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom(...keys), tie('value')), { maxLength: 3 })
    .map((entries) => Object.fromEntries(entries)),
}));
const data: fc.Arbitrary<Data> = fc
  .array(fc.tuple(fc.constantFrom(...keys), dataValue), { maxLength: 4 })
  // Normalises values as JSON storage does, for example -0.
  .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))));

const eventNames = ['signup', 'data.a', 'segment.vip.entry', 'email.sent', 'email.open', 'email.click', 'email.bounce'];
const statics = [newId(), newId()];
const dynamics = [newId(), newId()];

/** The default of the second one has changed, at a moment at which contacts were created too. */
const topics: TestTopic[] = [
  { key: 'news', defaults: [{ since: null, state: 'UNSUBSCRIBED' }] },
  {
    key: 'tips',
    defaults: [
      { since: null, state: 'SUBSCRIBED' },
      { since: ago(DAY), state: 'UNSUBSCRIBED' },
    ],
  },
];
const choice = fc.option(
  fc.record({ state: fc.constantFrom('SUBSCRIBED', 'UNSUBSCRIBED', 'PENDING'), since: pastDate }),
  { nil: undefined },
);

const campaignIds = [newId(), newId(), newId()];
const templateIds = [newId(), newId()];
const stepIds = [newId(), newId()];
const links = ['https://a.example/1', 'https://a.example/2?x={{ y }}', 'https://b.example/'];
const sent = fc.constantFrom<TestEmail['status']>('SENT', 'SENT', 'SENT', 'UNKNOWN');
const email = (more: Partial<TestEmail>): fc.Arbitrary<TestEmail> =>
  (
    fc.record({
      ...Object.fromEntries(Object.entries(more).map(([key, value]) => [key, fc.constant(value)])),
      status: fc.oneof(
        { weight: 4, arbitrary: sent },
        { weight: 2, arbitrary: fc.constantFrom('PENDING', 'FAILED', 'SKIPPED', 'CANCELLED') },
      ),
      reason: fc.constantFrom(undefined, 'holdout', 'frequency cap', 'suppressed'),
      createdAt: pastDate,
      sentAt: pastDate,
      opened: fc.boolean(),
      clicked: fc.boolean(),
      openedByPerson: fc.boolean(),
      clickedByPerson: fc.boolean(),
      bounced: fc.constantFrom(undefined, undefined, undefined, 'Permanent', 'Transient'),
      complained: fc.boolean(),
      unsubscribed: fc.boolean(),
      links: fc
        .subarray(links)
        .chain((some) =>
          fc.tuple(...some.map((link) => fc.constantFrom(true, false, undefined).map((human) => ({ link, human })))),
        ),
    }) as fc.Arbitrary<TestEmail>
  )
    // Only an email that was sent has a time of sending.
    .map((one) => (one.status === 'SENT' ? one : { ...one, sentAt: null }));
/** A contact has at most one email of a campaign. */
const emails: fc.Arbitrary<TestEmail[]> = fc
  .tuple(
    ...campaignIds.map((campaign) =>
      fc.option(
        fc
          .constantFrom(undefined, ...templateIds)
          .chain((template) => email({ campaign, ...(template && { template }) })),
        { nil: undefined },
      ),
    ),
    fc.array(
      fc
        .tuple(fc.constantFrom(...templateIds), fc.constantFrom(undefined, ...stepIds))
        .chain(([template, step]) => email({ template, ...(step && { step }) })),
      { maxLength: 3 },
    ),
  )
  .map((all) => all.flat().flatMap((one) => one ?? []));

const person: fc.Arbitrary<Omit<Person, 'email'>> = fc.record({
  subscribed: fc.boolean(),
  data,
  createdAt: pastDate,
  updatedAt: pastDate,
  events: fc.array(fc.record({ name: fc.constantFrom(...eventNames), createdAt: pastDate, data }), { maxLength: 6 }),
  topics: fc
    .record({ news: choice, tips: choice })
    .map((chosen) => Object.fromEntries(Object.entries(chosen).flatMap(([key, one]) => (one ? [[key, one]] : [])))),
  segments: fc.subarray(statics),
  emails,
});
const names = ['ann', 'bob', 'a_b%c', "o'neil", 'ünal', 'ann.b'];
const people: fc.Arbitrary<Person[]> = fc
  .array(person, { minLength: 6, maxLength: 6 })
  .map((all) => all.map((one, n) => ({ ...one, email: `${names[n]}@example.com` })));

const path = fc.oneof(
  fc
    .array(fc.constantFrom(...keys), { minLength: 1, maxLength: 2 })
    .map((steps) => steps.map((key) => `[${JSON.stringify(key)}]`).join('')),
  fc.constantFrom('.a', '.a.b', '.a b', ".it's", '.b.a', '.0'),
);

const list = (item: fc.Arbitrary<unknown>) => fc.array(item, { minLength: 1, maxLength: 3 });
const isAnniversary = (operator: string) => operator.startsWith('anniversary');
const isSpan = (operator: string) => /within|olderThan/i.test(operator) && !isAnniversary(operator);
const isList = (operator: string) => operator === 'in' || operator === 'notIn';
const isTextual = (operator: string) => ['contains', 'notContains', 'startsWith', 'endsWith'].includes(operator);
const isOrder = (operator: string) => /^(greater|less)Than/.test(operator);

/** Takes operators from their tables, so that a new operator is tested automatically. */
function filter(
  field: fc.Arbitrary<string>,
  operators: object,
  item: fc.Arbitrary<unknown>,
  ordered: fc.Arbitrary<unknown> = fc.oneof(text, number),
): fc.Arbitrary<object> {
  return fc.constantFrom(...Object.keys(operators)).chain((operator): fc.Arbitrary<object> => {
    const base = { field, operator: fc.constant(operator) };
    if (isAnniversary(operator))
      return fc.record({ ...base, value: fc.constantFrom(0, 1, 7, 30, 365, 366), unit: fc.constant('days') });
    if (isSpan(operator))
      return fc
        .tuple(fc.record({ ...base, count: fc.constantFrom(undefined, 1, 2, 3) }), fc.constantFrom(...spans))
        .map(([given, span]) => ({ ...given, ...span }));
    const value = isList(operator) ? list(item) : isTextual(operator) ? text : isOrder(operator) ? ordered : item;
    return fc.record({ ...base, value, count: fc.constantFrom(undefined, 1, 2, 3) });
  });
}

const address = fc.oneof(
  fc.constantFrom('ANN@example.com', 'bob@example.com', 'ann', '%', 'b@', '.com', 'ün'),
  fc.constant('Ü'),
);

/** Tests of the data of an event, as filters on fields without their field. */
const where = fc
  .array(
    filter(
      path.map((steps) => `data${steps}`),
      dataOperators,
      scalar,
    ),
    { maxLength: 2 },
  )
  .map((tests) =>
    tests.map(({ field, ...test }: { field?: string }) => ({ key: field?.replace(/^data\.?/, ''), ...test })),
  );

const results = fc
  .tuple(
    filter(
      fc.constantFrom(
        'campaigns',
        ...campaignIds.map((id) => `campaign.${id}`),
        ...templateIds.map((id) => `template.${id}`),
        ...stepIds.map((id) => `step.${id}`),
      ),
      resultOperators,
      fc.boolean(),
    ) as fc.Arbitrary<{ field: string; operator: string }>,
    fc.record({
      last: fc.constantFrom(undefined, 1, 2, 3),
      link: fc.constantFrom(undefined, ...links, 'https://a.example/*', 'https://c.example/', '*'),
      machine: fc.constantFrom(undefined, false, true),
      variant: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, 'A'),
    }),
  )
  .map(([one, { last, link, ...more }]) => ({
    ...one,
    ...more,
    ...(one.field === 'campaigns' ? { last } : { count: undefined }),
    ...(/clicked/i.test(one.operator) && { link }),
  }));

const filters: fc.Arbitrary<object>[] = [
  results,
  filter(fc.constant('email'), emailOperators, address),
  filter(fc.constant('subscribed'), subscribedOperators, fc.boolean()),
  filter(fc.constantFrom('createdAt', 'updatedAt'), dateOperators, isoDate, isoDate),
  filter(
    fc.oneof(
      path.map((steps) => `data${steps}`),
      path.map((steps) => `event${steps}`),
    ),
    dataOperators,
    scalar,
  ),
  filter(
    fc.constantFrom(...eventNames.map((name) => `event.${name}`), 'signup', 'email.opened', 'email.bounced'),
    eventOperators,
    fc.boolean(),
  ),
  fc
    .tuple(filter(fc.constantFrom('event.signup', 'event.email.open'), eventOperators, fc.boolean()), where)
    .map(([one, tests]) => ({ ...one, where: tests })),
  filter(fc.constantFrom('topic.news', 'topic.tips', 'topic.gone'), topicOperators, fc.boolean()),
];
const segmentFilter = (ids: string[]) =>
  filter(fc.constantFrom(...ids.map((id) => `segment.${id}`)), segmentOperators, fc.boolean());

const treeOf = (one: fc.Arbitrary<object>): fc.Arbitrary<Record<string, unknown>> =>
  fc.letrec<{ tree: Record<string, unknown> }>((tie) => ({
    tree: fc.record({
      logic: fc.constantFrom('AND', 'OR'),
      groups: fc.array(
        fc.oneof(
          { depthSize: 'small' },
          fc.record({ filters: fc.array(one, { minLength: 1, maxLength: 2 }) }),
          fc.record({ filters: fc.array(one, { maxLength: 2 }), conditions: tie('tree') }),
        ),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  })).tree;

/** Segments have no execution, so `event["a"]` is a value only in the evaluated tree itself. */
const stored = treeOf(fc.oneof(...filters, segmentFilter(statics)).filter((one) => !isOfContext(one)));
const trees = fc.array(treeOf(fc.oneof(...filters, segmentFilter([...statics, ...dynamics]))), {
  minLength: 10,
  maxLength: 10,
});
const isOfContext = (one: object) =>
  'field' in one && 'operator' in one && /^event/.test(String(one.field)) && !(String(one.operator) in eventOperators);

const segmentsOf = (one: Record<string, unknown>, two: Record<string, unknown>): SegmentSource[] => [
  ...statics.map((id) => ({ id, condition: null })),
  { id: dynamics[0] ?? '', condition: one },
  { id: dynamics[1] ?? '', condition: two },
];

const anyStored = fc.oneof(...filters, segmentFilter([...statics, ...dynamics])).filter((one) => !isOfContext(one));
const timed = anyStored.filter(
  (one) => 'operator' in one && (isSpan(String(one.operator)) || isAnniversary(String(one.operator))),
);
const storedTrees = fc.array(
  fc.oneof(
    treeOf(anyStored),
    timed.map((one) => tree(one)),
  ),
  { minLength: 20, maxLength: 20 },
);
const windows = fc
  .tuple(fc.constantFrom(0, 1, -1), fc.constantFrom(1, 1_000, 2 * DAY, 40 * DAY))
  .map(([age, length]) => ({ from: ago(age + length), to: ago(age) }));

describe('SQL and in-memory evaluation of a condition', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());

  it('agree for every contact', async () => {
    const seen = { matched: 0, asked: 0 };
    const property = fc.asyncProperty(
      people,
      trees,
      stored,
      stored,
      data,
      async (all, asked, first, second, context) => {
        const population = await populate(database.db, all, segmentsOf(first, second), topics);
        for (const one of asked) {
          const { bySql, inMemory } = await evaluateBoth(database.db, population, one, context);
          expect(bySql, JSON.stringify(one)).to.deep.equal(inMemory);
          seen.matched += bySql.length;
          seen.asked += all.length;
        }
      },
    );
    await fc.assert(property, { numRuns: 100 });
    // Guards against a test in which all or no contacts match.
    expect(seen.matched / seen.asked).to.be.within(0.15, 0.85);
  });

  it('change with time only for contacts that a sweep selects', async () => {
    let changes = 0;
    const property = fc.asyncProperty(
      people,
      storedTrees,
      stored,
      stored,
      windows,
      async (all, asked, first, second, window) => {
        const population = await populate(database.db, all, segmentsOf(first, second), topics);
        for (const tree of asked) {
          const { changed, selected } = await drift(database.db, population, tree, window);
          expect(selected, JSON.stringify(tree)).to.include.members(changed);
          changes += changed.length;
        }
      },
    );
    await fc.assert(property, { numRuns: 60 });
    expect(changes).to.be.greaterThan(200);
  });
});
