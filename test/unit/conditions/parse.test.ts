import { expect } from 'chai';
import { ApiError } from '../../../platform/errors.ts';
import { type ParseOptions, parseCondition, requireCondition } from '../../../services/conditions/parse.ts';

const ID = '0199a000-0000-7000-8000-000000000001';

const tree = (...filters: unknown[]) => ({ logic: 'AND', groups: [{ filters }] });
const valid = { field: 'email', operator: 'contains', value: 'a' };

const violationsOf = (given: unknown, options?: ParseOptions) => parseCondition(given, options).faults ?? [];
const pathsOf = (given: unknown, options?: ParseOptions) =>
  violationsOf(given, options).map(({ field, code }) => `${field} ${code}`);

/** `levels` conditions, one inside the other. */
function nested(levels: number): object {
  let condition: object = tree(valid);
  for (let level = 1; level < levels; level++) condition = { logic: 'OR', groups: [{ conditions: condition }] };
  return condition;
}

describe('parsing a condition tree', () => {
  it('returns what the condition depends on', () => {
    const { parsed } = parseCondition({
      logic: 'OR',
      groups: [
        {
          filters: [
            valid,
            { field: 'data.plan.name', operator: 'exists' },
            { field: 'email.opened', operator: 'triggered', count: 5 },
            { field: 'event.signup', operator: 'notTriggered' },
            { field: 'renewal', operator: 'triggeredOlderThan', value: 1, unit: 'days' },
          ],
          conditions: tree({ field: `segment.${ID}`, operator: 'memberOfSegment' }),
        },
        { filters: [{ field: 'purchase', operator: 'triggered' }] },
      ],
    });
    expect(parsed?.uses).to.deep.equal({
      fields: new Set(['email']),
      keys: new Set(['plan']),
      events: new Set(['email.open', 'signup', 'renewal', 'purchase']),
      oldEvents: new Set(['renewal']),
      eventCount: 5,
      testedEvents: [],
      needsTimeZone: false,
      segments: new Map([[ID, ['groups.0.conditions.groups.0.filters.0.field']]]),
      topics: new Map(),
      emailSources: new Map(),
      emailQuestions: [],
      timeDependent: true,
      filterCount: 7,
    });
  });

  for (const operator of ['within', 'olderThan', 'triggeredWithin', 'notTriggeredWithin', 'triggeredOlderThan'])
    it(`marks ${operator} as time-dependent`, () => {
      const field = /triggered/i.test(operator) ? 'signup' : 'data.since';
      expect(requireCondition(tree({ field, operator, value: 1, unit: 'days' })).uses.timeDependent).to.equal(true);
    });

  it('ignores unknown keys and null for optional ones', () => {
    const { faults } = parseCondition({
      ...tree({ ...valid, id: 'x', unit: 'days' }),
      name: 'extra',
      groups: [{ filters: [valid], conditions: null, id: 7 }],
    });
    expect(faults).to.equal(undefined);
  });

  describe('rejects an invalid tree', () => {
    const cases: [what: string, given: unknown, ...paths: string[]][] = [
      ['text', 'email', ' invalid_type'],
      ['null', null, ' invalid_type'],
      ['a list', [], ' invalid_type'],
      ['no logic', { groups: [{ filters: [valid] }] }, 'logic invalid_enum'],
      ['logic in lower case', { logic: 'and', groups: [{ filters: [valid] }] }, 'logic invalid_enum'],
      ['no groups', { logic: 'AND' }, 'groups invalid_type'],
      ['an empty list of groups', { logic: 'AND', groups: [] }, 'groups too_small'],
      ['a group that is text', { logic: 'AND', groups: ['x'] }, 'groups.0 invalid_type'],
      ['a group with nothing in it', { logic: 'AND', groups: [{}] }, 'groups.0.filters too_small'],
      ['no filters', { logic: 'AND', groups: [{ filters: [] }] }, 'groups.0.filters too_small'],
      ['filters that are an object', { logic: 'AND', groups: [{ filters: {} }] }, 'groups.0.filters invalid_type'],
      ['a filter that is null', tree(null), 'groups.0.filters.0 invalid_type'],
      [
        'a nested tree that is text',
        { logic: 'AND', groups: [{ filters: [valid], conditions: 'x' }] },
        'groups.0.conditions invalid_type',
      ],
      [
        'a violation deep inside',
        { logic: 'AND', groups: [{ filters: [valid] }, { filters: [], conditions: tree(valid, { field: 'email' }) }] },
        'groups.1.conditions.groups.0.filters.1.operator required',
      ],
    ];
    const where = (...tests: unknown[]) => tree({ field: 'event.order', operator: 'triggered', where: tests });
    const test = { key: 'total', operator: 'greaterThan', value: 5 };
    const anniversary = (value: unknown, unit: unknown = 'days') =>
      tree({ field: 'data.born', operator: 'anniversaryWithin', value, unit });
    const at = 'groups.0.filters.0';
    cases.push(
      ['six tests of an event', where(test, test, test, test, test, test), `${at}.where too_big`],
      ['a test that is text', where('x'), `${at}.where.0 invalid_type`],
      ['a test without a key', where(test, { ...test, key: undefined }), `${at}.where.1.key invalid_type`],
      ['a test with a broken key', where({ ...test, key: 'a..b' }), `${at}.where.0.key invalid_string`],
      [
        'a test with an event operator',
        where({ ...test, operator: 'triggered' }),
        `${at}.where.0.operator invalid_enum`,
      ],
      ['a test with a wrong value', where({ ...test, value: [] }), `${at}.where.0.value invalid_type`],
      [
        'tests that are an object',
        tree({ field: 'order', operator: 'triggered', where: {} }),
        `${at}.where invalid_type`,
      ],
      ['an anniversary in half a day', anniversary(0.5), `${at}.value invalid_type`],
      ['an anniversary before today', anniversary(-1), `${at}.value too_small`],
      ['an anniversary in 367 days', anniversary(367), `${at}.value too_big`],
      ['an anniversary in weeks', anniversary(1, 'weeks'), `${at}.unit invalid_enum`],
      ['an anniversary without a unit', anniversary(1, null), `${at}.unit required`],
    );
    for (const [what, given, ...paths] of cases)
      it(what, () => {
        expect(pathsOf(given)).to.deep.equal(paths);
      });

    it('reports every violation with its path in the message', () => {
      const faults = violationsOf(tree({ field: 7, operator: 'equals' }, valid, { ...valid, operator: 'within' }), {
        at: 'condition',
      });
      expect(faults.map(({ message }) => message)).to.deep.equal([
        '"condition.groups.0.filters.0.field" must be the name of a field',
        '"condition.groups.0.filters.2.operator" must be one of equals, notEquals, contains, notContains, startsWith, endsWith, in, notIn for this field',
      ]);
    });

    it('accepts ten levels and rejects eleven', () => {
      expect(pathsOf(nested(10))).to.deep.equal([]);
      expect(pathsOf(nested(11))).to.deep.equal([`${'groups.0.conditions.'.repeat(10).slice(0, -1)} too_big`]);
    });

    it('accepts 200 filters over the whole tree and rejects more', () => {
      const many = (n: number) => Array.from({ length: n }, () => valid);
      const split = (n: number) => ({
        logic: 'OR',
        groups: [{ filters: many(100) }, { filters: many(n), conditions: tree(valid) }],
      });
      expect(pathsOf(split(99))).to.deep.equal([]);
      expect(pathsOf(split(100))).to.deep.equal(['groups too_big']);
      expect(pathsOf(split(100_000))).to.deep.equal(['groups too_big']);
    });

    it('reports at most 20 violations', () => {
      expect(violationsOf(tree(...Array.from({ length: 150 }, () => ({ field: 'email' }))))).to.have.lengthOf(20);
    });
  });

  describe('validates fields and operators', () => {
    const rejected: [field: unknown, operator: unknown, path: string][] = [
      [undefined, 'equals', 'field required'],
      ['', 'equals', 'field invalid_string'],
      ['', 'triggered', 'field invalid_string'],
      ['plan', 'equals', 'field invalid_string'],
      ['data', 'exists', 'field invalid_string'],
      ['data.', 'exists', 'field invalid_string'],
      ['data..a', 'exists', 'field invalid_string'],
      ['data.a.', 'exists', 'field invalid_string'],
      ['data[""]', 'exists', 'field invalid_string'],
      ['data["a', 'exists', 'field invalid_string'],
      ['data["a\\u12"]', 'exists', 'field invalid_string'],
      [`data${'.a'.repeat(31)}`, 'exists', 'field invalid_string'],
      [`data.${'a'.repeat(1000)}`, 'exists', 'field invalid_string'],
      ['data.a\0', 'exists', 'field invalid_string'],
      ['data.\ud83d', 'exists', 'field invalid_string'],
      ['event.', 'triggered', 'field invalid_string'],
      ['segment.vip', 'memberOfSegment', 'field invalid_string'],
      ['email.forwarded', 'equals', 'field invalid_string'],
      ['email', undefined, 'operator required'],
      ['email', 7, 'operator invalid_type'],
      ['email', 'constructor', 'operator invalid_enum'],
      ['email', 'exists', 'operator invalid_enum'],
      ['email', 'greaterThan', 'operator invalid_enum'],
      ['email', 'triggered', 'operator invalid_enum'],
      ['subscribed', 'contains', 'operator invalid_enum'],
      ['createdAt', 'contains', 'operator invalid_enum'],
      ['updatedAt', 'exists', 'operator invalid_enum'],
      ['data.a', 'triggered', 'operator invalid_enum'],
      ['data.a', 'memberOfSegment', 'operator invalid_enum'],
      ['event.a', 'equals', 'operator invalid_enum'],
      ['email.opened', 'equals', 'operator invalid_enum'],
      [`segment.${ID}`, 'equals', 'operator invalid_enum'],
      [`segment.${ID}`, 'triggered', 'operator invalid_enum'],
    ];
    for (const [field, operator, path] of rejected)
      it(`rejects ${JSON.stringify(field)?.slice(0, 40)} ${operator}`, () => {
        expect(pathsOf(tree({ field, operator, value: 'x' }))).to.deep.equal([`groups.0.filters.0.${path}`]);
      });

    it('reads event.<key> as a value only in an execution', () => {
      const given = tree({ field: 'event.amount', operator: 'greaterThan', value: 5 });
      expect(pathsOf(given, { inExecution: true })).to.deep.equal([]);
      expect(pathsOf(given)).to.deep.equal(['groups.0.filters.0.operator invalid_enum']);
      const asEvent = tree({ field: 'event.amount', operator: 'triggered' });
      expect(requireCondition(asEvent, { inExecution: true }).uses.events).to.deep.equal(new Set(['amount']));
    });
  });

  describe('validates operator arguments', () => {
    const day = { unit: 'days' };
    const rejected: [field: string, operator: string, rest: object, path: string][] = [
      ['email', 'equals', { value: 7 }, 'value invalid_type'],
      ['email', 'equals', {}, 'value invalid_type'],
      ['email', 'contains', { value: '' }, 'value too_small'],
      ['email', 'in', { value: 'a@example.com' }, 'value invalid_type'],
      ['email', 'in', { value: [] }, 'value too_small'],
      ['email', 'in', { value: [7] }, 'value invalid_type'],
      ['email', 'notIn', { value: Array.from({ length: 1001 }, () => 'a') }, 'value too_big'],
      ['subscribed', 'equals', { value: 'true' }, 'value invalid_type'],
      ['createdAt', 'equals', { value: 'yesterday' }, 'value invalid_string'],
      ['createdAt', 'equals', { value: '2026-02-30' }, 'value invalid_string'],
      ['createdAt', 'greaterThan', { value: 1_700_000_000 }, 'value invalid_string'],
      ['createdAt', 'within', { value: '7', ...day }, 'value invalid_type'],
      ['createdAt', 'within', { value: 0, ...day }, 'value too_small'],
      ['createdAt', 'within', { value: -1, ...day }, 'value too_small'],
      ['createdAt', 'within', { value: 7 }, 'unit required'],
      ['createdAt', 'within', { value: 7, unit: 'day' }, 'unit invalid_enum'],
      ['createdAt', 'within', { value: 7, unit: 'years' }, 'unit invalid_enum'],
      ['createdAt', 'olderThan', { value: 1e9, ...day }, 'value too_big'],
      ['createdAt', 'olderThan', { value: 1.5, unit: 'months' }, 'value invalid_type'],
      ['data.a', 'equals', { value: null }, 'value invalid_type'],
      ['data.a', 'equals', {}, 'value invalid_type'],
      ['data.a', 'equals', { value: { b: 1 } }, 'value invalid_type'],
      ['data.a', 'equals', { value: 'a\0' }, 'value invalid_string'],
      ['data.a', 'equals', { value: Number.POSITIVE_INFINITY }, 'value invalid_type'],
      ['data.a', 'in', { value: [[1]] }, 'value invalid_type'],
      ['data.a', 'contains', { value: 7 }, 'value invalid_type'],
      ['data.a', 'greaterThan', { value: true }, 'value invalid_type'],
      ['data.a', 'within', { value: Number.NaN, ...day }, 'value invalid_type'],
      ['signup', 'triggered', { count: 0 }, 'count too_small'],
      ['signup', 'triggered', { count: 1.5 }, 'count invalid_type'],
      ['signup', 'triggered', { count: '3' }, 'count invalid_type'],
      ['signup', 'triggered', { count: 1e9 }, 'count too_big'],
      ['signup', 'triggeredWithin', { value: 7 }, 'unit required'],
      ['signup', 'notTriggeredWithin', { ...day }, 'value invalid_type'],
    ];
    for (const [field, operator, rest, path] of rejected)
      it(`rejects ${field} ${operator} ${JSON.stringify(rest).slice(0, 40)}`, () => {
        expect(pathsOf(tree({ field, operator, ...rest }))).to.deep.equal([`groups.0.filters.0.${path}`]);
      });
  });

  it('throws a 400 that names the path of an invalid filter', () => {
    expect(() => requireCondition(tree({ field: 'email', operator: 'is' }), { at: 'condition' }))
      .to.throw(ApiError, 'condition.groups.0.filters.0.operator')
      .that.includes({ status: 400, code: 'BAD_REQUEST' });
  });
});
