import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { dataOperators } from '../../../services/conditions/operators/data.ts';
import { dateOperators } from '../../../services/conditions/operators/dates.ts';
import { emailOperators } from '../../../services/conditions/operators/email.ts';
import { eventOperators } from '../../../services/conditions/operators/event.ts';
import { segmentOperators } from '../../../services/conditions/operators/segment.ts';
import { subscribedOperators } from '../../../services/conditions/operators/subscribed.ts';
import type { Data } from '../../../services/contacts/data.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../../support/connected-database.ts';
import { ago, evaluateBoth, type Person, type Population, populate, tree } from './population.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Contacts are named by the local part of their address; a row lists the names that match. */
type Row = [
  operator: string,
  rest: { value?: unknown; unit?: string; count?: number; where?: unknown },
  ...names: string[],
];

describe('every operator, as SQL and in memory', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());

  async function expectTable(population: Population, field: string, rows: Row[], context?: Data): Promise<void> {
    for (const [operator, rest, ...names] of rows) {
      const { bySql, inMemory } = await evaluateBoth(
        database.db,
        population,
        tree({ field, operator, ...rest }),
        context,
      );
      const wanted = [...names].sort();
      const what = `${field} ${operator} ${JSON.stringify(rest)}`;
      expect(bySql.map(nameOf), `${what} by SQL`).to.deep.equal(wanted);
      expect(inMemory.map(nameOf), `${what} in memory`).to.deep.equal(wanted);
    }
  }

  const nameOf = (email: string) => email.slice(0, email.indexOf('@'));

  const expectCovered = (rows: Row[], operators: object) =>
    expect([...new Set(rows.map(([operator]) => operator))].sort()).to.deep.equal(Object.keys(operators).sort());

  it('matches email without regard to case', async () => {
    const population = await populate(database.db, [
      { email: 'ann@example.com' },
      { email: 'bob@example.com' },
      { email: 'a_b%c@sub.example.org' },
    ]);
    const rows: Row[] = [
      ['equals', { value: ' Ann@Example.COM' }, 'ann'],
      ['equals', { value: 'ann' }],
      ['notEquals', { value: 'ANN@example.com' }, 'bob', 'a_b%c'],
      ['contains', { value: 'EXAMPLE.c' }, 'ann', 'bob'],
      ['contains', { value: '_b%' }, 'a_b%c'],
      ['contains', { value: 'a%m' }],
      ['notContains', { value: '.ORG' }, 'ann', 'bob'],
      ['startsWith', { value: 'A' }, 'ann', 'a_b%c'],
      ['startsWith', { value: 'a_n' }],
      ['endsWith', { value: '.COM' }, 'ann', 'bob'],
      ['in', { value: ['Bob@example.com', 'nobody@example.com'] }, 'bob'],
      ['notIn', { value: ['Bob@example.com'] }, 'ann', 'a_b%c'],
    ];
    expectCovered(rows, emailOperators);
    await expectTable(population, 'email', rows);
  });

  it('matches subscribed', async () => {
    const population = await populate(database.db, [
      { email: 'in@example.com', subscribed: true },
      { email: 'out@example.com', subscribed: false },
    ]);
    const rows: Row[] = [
      ['equals', { value: true }, 'in'],
      ['equals', { value: false }, 'out'],
      ['notEquals', { value: true }, 'out'],
    ];
    expectCovered(rows, subscribedOperators);
    await expectTable(population, 'subscribed', rows);
  });

  for (const field of ['createdAt', 'updatedAt'] as const)
    it(`compares ${field} with millisecond precision`, async () => {
      const at = (name: string, date: string): Person => ({ email: `${name}@example.com`, [field]: new Date(date) });
      const population = await populate(database.db, [
        at('january', '2026-01-31T12:00:00.000Z'),
        at('yesterday', '2026-03-30T23:59:59.999Z'),
        at('today', '2026-03-31T00:00:00.000Z'),
        at('now', '2026-03-31T12:00:00.000Z'),
      ]);
      const rows: Row[] = [
        ['equals', { value: '2026-03-31' }, 'today', 'now'],
        ['equals', { value: '2026-03-31T12:00:00Z' }, 'now'],
        ['equals', { value: '2026-03-31T14:00:00.0009+02:00' }, 'now'],
        ['equals', { value: '2026-03-31T12:00:00.001Z' }],
        ['notEquals', { value: '2026-03-31' }, 'january', 'yesterday'],
        ['notEquals', { value: '2026-03-31T12:00:00.000Z' }, 'january', 'yesterday', 'today'],
        ['greaterThan', { value: '2026-03-31' }, 'now'],
        ['greaterThan', { value: '2026-03-30T23:59:59.999Z' }, 'today', 'now'],
        ['greaterThanOrEqual', { value: '2026-03-31' }, 'today', 'now'],
        ['lessThan', { value: '2026-03-31' }, 'january', 'yesterday'],
        ['lessThan', { value: '2026-03-30T23:59:59.999Z' }, 'january'],
        ['lessThanOrEqual', { value: '2026-03-30T23:59:59.999Z' }, 'january', 'yesterday'],
        ['within', { value: 1, unit: 'days' }, 'yesterday', 'today', 'now'],
        ['within', { value: 12, unit: 'hours' }, 'today', 'now'],
        ['within', { value: 1, unit: 'minutes' }, 'now'],
        ['within', { value: 2, unit: 'months' }, 'january', 'yesterday', 'today', 'now'],
        ['within', { value: 1, unit: 'months' }, 'yesterday', 'today', 'now'],
        ['within', { value: 8.5, unit: 'weeks' }, 'january', 'yesterday', 'today', 'now'],
        ['olderThan', { value: 12, unit: 'hours' }, 'january', 'yesterday'],
        ['olderThan', { value: 2, unit: 'months' }],
        ['olderThan', { value: 8, unit: 'weeks' }, 'january'],
        // In Berlin it is the 31st already.
        ['anniversaryWithin', { value: 0, unit: 'days' }, 'yesterday', 'today', 'now'],
        ['anniversaryWithin', { value: 305, unit: 'days' }, 'yesterday', 'today', 'now'],
        ['anniversaryWithin', { value: 306, unit: 'days' }, 'january', 'yesterday', 'today', 'now'],
        ['anniversaryOlderThan', { value: 58, unit: 'days' }, 'january'],
        ['anniversaryOlderThan', { value: 59, unit: 'days' }],
      ];
      expectCovered(rows, dateOperators);
      await expectTable(population, field, rows);
    });

  const values: Record<string, unknown> = {
    one: 1,
    ten: 10,
    one_as_text: '1',
    text: 'pro plan',
    upper: 'PRO PLAN',
    pattern: '100%_\\',
    rare: '\u{1f600}',
    yes: true,
    list: ['pro plan', 1],
    object: { inner: 1 },
    day: '2026-03-30',
    moment: '2026-03-30T23:30:00.000Z',
    offset: '2026-03-30T23:30:00-02:00',
    future: '2026-04-30T00:00:00Z',
    no_such_day: '2026-02-30T00:00:00Z',
    nothing: null,
  };
  const present = Object.keys(values).filter((name) => name !== 'nothing');
  const presentBut = (...names: string[]) => present.filter((name) => !names.includes(name));

  const dataRows: Row[] = [
    ['equals', { value: 1 }, 'one'],
    ['equals', { value: '1' }, 'one_as_text'],
    ['equals', { value: 'pro plan' }, 'text'],
    ['equals', { value: true }, 'yes'],
    ['equals', { value: false }],
    ['equals', { value: '2026-03-30' }, 'day', 'moment'],
    ['equals', { value: '2026-03-31' }, 'offset'],
    ['equals', { value: '2026-03-30T23:30:00Z' }],
    ['equals', { value: '2026-02-30' }],
    ['notEquals', { value: 1 }, ...presentBut('one')],
    ['notEquals', { value: '2026-03-30' }, ...presentBut('day', 'moment')],
    ['in', { value: [1, 'pro plan', '2026-03-30'] }, 'one', 'text', 'day'],
    ['in', { value: ['nobody'] }],
    ['notIn', { value: [1, 'pro plan', '2026-03-30'] }, ...presentBut('one', 'text', 'day')],
    ['contains', { value: 'ro pl' }, 'text'],
    ['contains', { value: '%_\\' }, 'pattern'],
    ['contains', { value: '1' }, 'one_as_text', 'pattern'],
    ['notContains', { value: 'ro pl' }, ...presentBut('text')],
    ['startsWith', { value: 'PRO' }, 'upper'],
    ['endsWith', { value: 'plan' }, 'text'],
    ['greaterThan', { value: 1 }, 'ten'],
    ['greaterThan', { value: 'pro plan' }, 'rare'],
    // JavaScript would order this character after the one in `rare`.
    ['greaterThan', { value: '\uff5e' }, 'rare'],
    ['greaterThan', { value: '2026-03-30' }, 'moment', 'offset', 'future'],
    ['greaterThanOrEqual', { value: 1 }, 'one', 'ten'],
    ['greaterThanOrEqual', { value: '2026-03-30' }, 'day', 'moment', 'offset', 'future'],
    ['lessThan', { value: 10.5 }, 'one', 'ten'],
    ['lessThan', { value: 1 }],
    ['lessThan', { value: '2026-03-31T00:00:00Z' }, 'day', 'moment'],
    ['lessThanOrEqual', { value: '1' }, 'one_as_text'],
    ['lessThanOrEqual', { value: '2026-03-30' }, 'day'],
    ['within', { value: 1, unit: 'days' }, 'moment', 'offset'],
    ['within', { value: 11, unit: 'hours' }, 'offset'],
    ['olderThan', { value: 12, unit: 'hours' }, 'moment'],
    ['anniversaryWithin', { value: 29, unit: 'days' }, 'moment', 'offset'],
    ['anniversaryWithin', { value: 30, unit: 'days' }, 'moment', 'offset', 'future'],
    ['anniversaryWithin', { value: 364, unit: 'days' }, 'day', 'moment', 'offset', 'future'],
    ['anniversaryOlderThan', { value: 0, unit: 'days' }, 'day', 'future'],
    ['anniversaryOlderThan', { value: 1, unit: 'days' }, 'future'],
    ['anniversaryOlderThan', { value: 335, unit: 'days' }],
    ['exists', {}, ...present],
    ['notExists', {}, 'nothing', 'missing'],
  ];

  const holders = (data: (value: unknown) => Data): Person[] => [
    ...Object.entries(values).map(([name, value]) => ({ email: `${name}@example.com`, data: data(value) })),
    { email: 'missing@example.com', data: { other: 1 } },
  ];

  const places: [field: string, data: (value: unknown) => Data][] = [
    ['data.plan', (value) => ({ plan: value })],
    ['data.profile.plan', (value) => ({ profile: { plan: value, other: 1 } })],
    ['data.first plan', (value) => ({ 'first plan': value })],
    ['data["first plan"]', (value) => ({ 'first plan': value })],
    ['data["a.b"].c', (value) => ({ 'a.b': { c: value } })],
    [`data.'; drop table contacts; --`, (value) => ({ "'; drop table contacts; --": value })],
    [`data["\\"?]).$1"].\u{1f600}[x]`, (value) => ({ '"?]).$1': { '\u{1f600}[x]': value } })],
    ['data.__proto__', (value) => Object.fromEntries([['__proto__', value]])],
  ];
  for (const [field, data] of places)
    it(`evaluates ${field} with matching, other, missing, null and mistyped values`, async () => {
      expectCovered(dataRows, dataOperators);
      await expectTable(await populate(database.db, holders(data)), field, dataRows);
    });

  it('follows a data path through objects only, not through arrays or scalars', async () => {
    const population = await populate(database.db, [
      { email: 'array@example.com', data: { a: [{ b: 1 }] } },
      { email: 'number@example.com', data: { a: 5 } },
      { email: 'text@example.com', data: { a: 'b' } },
      { email: 'object@example.com', data: { a: { b: 1, 0: { b: 1 } } } },
    ]);
    await expectTable(population, 'data.a.b', [
      ['equals', { value: 1 }, 'object'],
      ['exists', {}, 'object'],
      ['notExists', {}, 'array', 'number', 'text'],
      ['notEquals', { value: 2 }, 'object'],
    ]);
    await expectTable(population, 'data.a.0', [['exists', {}, 'object']]);
    await expectTable(population, 'data.a.length', [['exists', {}]]);
  });

  it('reads event.<key> from the context of the execution', async () => {
    const population = await populate(database.db, [{ email: 'ann@example.com' }]);
    for (const [name, value] of Object.entries(values)) {
      const rows = dataRows.map(
        ([operator, rest, ...names]): Row => (names.includes(name) ? [operator, rest, 'ann'] : [operator, rest]),
      );
      await expectTable(population, 'event.plan', rows, { plan: value });
    }
  });

  const eventRows: Row[] = [
    ['triggered', { value: true }, 'once', 'thrice'],
    ['triggered', { count: 1 }, 'once', 'thrice'],
    ['triggered', { count: 3 }, 'thrice'],
    ['triggered', { count: 4 }],
    ['notTriggered', {}, 'never', 'other'],
    ['notTriggered', { count: 3 }, 'never', 'other', 'once'],
    ['triggeredWithin', { value: 2, unit: 'days' }, 'once', 'thrice'],
    ['triggeredWithin', { value: 1, unit: 'hours' }, 'thrice'],
    ['triggeredWithin', { value: 2, unit: 'days', count: 2 }, 'thrice'],
    ['triggeredWithin', { value: 2, unit: 'days', count: 3 }],
    ['notTriggeredWithin', { value: 1, unit: 'hours' }, 'never', 'other', 'once'],
    ['notTriggeredWithin', { value: 2, unit: 'days', count: 2 }, 'never', 'other', 'once'],
    ['triggeredOlderThan', { value: 1, unit: 'days' }, 'once', 'thrice'],
    ['triggeredOlderThan', { value: 2, unit: 'days' }, 'thrice'],
    ['triggeredOlderThan', { value: 1, unit: 'months', count: 2 }],
  ];
  const happened = (name: string): Person[] => [
    { email: 'never@example.com' },
    { email: 'other@example.com', events: [{ name: `${name}!`, createdAt: ago(HOUR) }] },
    { email: 'once@example.com', events: [{ name, createdAt: ago(2 * DAY) }] },
    {
      email: 'thrice@example.com',
      events: [HOUR, 1, 90 * DAY].map((age) => ({ name, createdAt: ago(age) })),
    },
  ];
  const recorded: [field: string, name: string][] = [
    ['event.signed up', 'signed up'],
    ['purchase', 'purchase'],
    ['contact.subscribed', 'contact.subscribed'],
    ['segment.vip.entry', 'segment.vip.entry'],
    ['event.data.x', 'data.x'],
    ['email.sent', 'email.sent'],
    ['email.delivered', 'email.delivery'],
    ['email.delivery', 'email.delivery'],
    ['email.opened', 'email.open'],
    ['email.open', 'email.open'],
    ['email.clicked', 'email.click'],
    ['email.click', 'email.click'],
    ['email.bounced', 'email.bounce'],
    ['email.bounce', 'email.bounce'],
    ['email.complained', 'email.complaint'],
    ['email.complaint', 'email.complaint'],
    ['event.email.opened', 'email.open'],
    ['email.failed', 'email.failed'],
  ];
  for (const [field, name] of recorded)
    it(`counts ${field} by number and time`, async () => {
      expectCovered(eventRows, eventOperators);
      await expectTable(await populate(database.db, happened(name)), field, eventRows);
    });

  it('counts 29 February as 28 February in other years', async () => {
    const population = await populate(database.db, [
      { email: 'leap@example.com', data: { born: '2000-02-29' } },
      { email: 'before@example.com', data: { born: '2001-02-28' } },
      { email: 'after@example.com', data: { born: '2001-03-01' } },
    ]);
    // 31 March 2026 is 30 days after 1 March, and 31 days after 28 February.
    await expectTable(population, 'data.born', [
      ['anniversaryOlderThan', { value: 29, unit: 'days' }, 'leap', 'before', 'after'],
      ['anniversaryOlderThan', { value: 30, unit: 'days' }, 'leap', 'before'],
      ['anniversaryOlderThan', { value: 31, unit: 'days' }],
      ['anniversaryWithin', { value: 333, unit: 'days' }],
      ['anniversaryWithin', { value: 334, unit: 'days' }, 'leap', 'before'],
      ['anniversaryWithin', { value: 366, unit: 'days' }, 'leap', 'before', 'after'],
    ]);
  });

  it('tests the data of one and the same event, and counts events for which all tests hold', async () => {
    const order = (total: unknown, more: Data = {}, age = DAY) => ({
      name: 'order placed',
      createdAt: ago(age),
      data: { total, ...more },
    });
    const population = await populate(database.db, [
      { email: 'none@example.com' },
      { email: 'small@example.com', events: [order(20, { shop: 'web' })] },
      { email: 'apart@example.com', events: [order(80, { shop: 'app' }), order(20, { shop: 'web' })] },
      { email: 'large@example.com', events: [order(80, { shop: 'web' }), order('80')] },
      { email: 'twice@example.com', events: [order(60, { shop: 'web' }), order(70, { shop: 'web' }, 9 * DAY)] },
    ]);
    const over50 = { key: 'total', operator: 'greaterThan', value: 50 };
    const onWeb = { key: 'shop', operator: 'equals', value: 'web' };
    await expectTable(population, 'event.order placed', [
      ['triggered', { where: [over50] }, 'apart', 'large', 'twice'],
      ['triggered', { where: [over50, onWeb] }, 'large', 'twice'],
      ['triggered', { where: [over50, onWeb], count: 2 }, 'twice'],
      ['notTriggered', { where: [over50, onWeb] }, 'none', 'small', 'apart'],
      ['triggeredWithin', { where: [over50], count: 2, value: 2, unit: 'days' }],
      ['triggeredOlderThan', { where: [over50], value: 8, unit: 'days' }, 'twice'],
      ['triggered', { where: [] }, 'small', 'apart', 'large', 'twice'],
      ['triggered', { where: [{ key: 'shop', operator: 'notExists' }] }, 'large'],
    ]);
  });

  it('matches members of static, dynamic, nested and deleted segments', async () => {
    const fixed = newId();
    const dynamic = newId();
    const through = newId();
    const gone = newId();
    const population = await populate(
      database.db,
      [
        { email: 'ann@example.com', data: { plan: 'pro' }, segments: [fixed] },
        { email: 'bob@example.com', data: { plan: 'pro' } },
        { email: 'cid@example.com', segments: [fixed] },
      ],
      [
        { id: fixed, condition: null },
        { id: dynamic, condition: tree({ field: 'data.plan', operator: 'equals', value: 'pro' }) },
        { id: through, condition: tree({ field: `segment.${dynamic}`, operator: 'notMemberOfSegment' }) },
      ],
    );
    const members: [id: string, ...names: string[]][] = [
      [fixed, 'ann', 'cid'],
      [dynamic, 'ann', 'bob'],
      [through, 'cid'],
      [gone],
    ];
    for (const [id, ...names] of members) {
      const rows: Row[] = [
        ['memberOfSegment', { value: true }, ...names],
        ['notMemberOfSegment', {}, ...['ann', 'bob', 'cid'].filter((name) => !names.includes(name))],
      ];
      expectCovered(rows, segmentOperators);
      await expectTable(population, `segment.${id.toUpperCase()}`, rows);
    }
  });

  it('ends the evaluation of a cycle of segments', async () => {
    const one = newId();
    const two = newId();
    const population = await populate(
      database.db,
      [{ email: 'ann@example.com' }],
      [
        { id: one, condition: tree({ field: `segment.${two}`, operator: 'memberOfSegment' }) },
        { id: two, condition: tree({ field: `segment.${one}`, operator: 'memberOfSegment' }) },
      ],
    );
    await expectTable(population, `segment.${one}`, [['memberOfSegment', {}]]);
  });

  it('combines groups by logic, and requires all filters and the nested condition of a group', async () => {
    const population = await populate(database.db, [
      { email: 'a@example.com', data: { a: 1 } },
      { email: 'b@example.com', data: { b: 1 } },
      { email: 'ab@example.com', data: { a: 1, b: 1 } },
      { email: 'c@example.com', data: { c: 1 } },
    ]);
    const has = (key: string) => ({ field: `data.${key}`, operator: 'exists' });
    const trees: [tree: object, ...names: string[]][] = [
      [{ logic: 'AND', groups: [{ filters: [has('a')] }, { filters: [has('b')] }] }, 'ab'],
      [{ logic: 'OR', groups: [{ filters: [has('a')] }, { filters: [has('b')] }] }, 'a', 'b', 'ab'],
      [{ logic: 'OR', groups: [{ filters: [has('a'), has('b')] }, { filters: [has('c')] }] }, 'ab', 'c'],
      [
        {
          logic: 'AND',
          groups: [
            {
              filters: [has('a')],
              conditions: { logic: 'OR', groups: [{ filters: [has('b')] }, { filters: [has('c')] }] },
            },
          ],
        },
        'ab',
      ],
      [{ logic: 'AND', groups: [{ conditions: { logic: 'OR', groups: [{ filters: [has('c')] }] } }] }, 'c'],
    ];
    for (const [given, ...names] of trees) {
      const { bySql, inMemory } = await evaluateBoth(database.db, population, given);
      expect(bySql.map(nameOf)).to.deep.equal([...names].sort());
      expect(inMemory).to.deep.equal(bySql);
    }
  });
});
