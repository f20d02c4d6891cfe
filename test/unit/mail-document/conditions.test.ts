import { expect } from 'chai';
import fc from 'fast-check';
import { readTest } from '../../../platform/mail-document/condition.ts';
import { type ConditionTest, renderDocument } from '../../../platform/mail-document/index.ts';
import { checkTemplate } from '../../../platform/templates/index.ts';
import { renderMail } from '../../../platform/templates/mail.ts';
import { decides } from '../../../services/conditions/evaluate.ts';
import { parseCondition } from '../../../services/conditions/parse.ts';
import type { Data } from '../../../services/contacts/data.ts';
import { documentOf, paragraph, parsed, text } from './documents.ts';

const NOW = new Date('2026-03-31T12:00:00Z');

const words = fc.constantFrom(
  'pro',
  'PRO',
  'pro plan',
  '',
  '1',
  'true',
  "it's",
  '"q"',
  'back\\slash',
  '%} {{ x }}',
  '<b>',
  'é',
  'e\u0301',
  '\uff5e',
  '\u{1f600}',
  '2026-03-31',
  '2026-03-31T12:00:00Z',
  '2026-03-31T23:59:59.999+02:00',
  '2026-02-30',
  '2026-03-30T22:00:00-02:00',
  'line\nbreak',
  'a\tb',
);
const scalar = fc.oneof(words, fc.constantFrom(0, 1, -1, 2.5, 1e21, -1e-7, 10), fc.boolean());
const value = fc.oneof(
  scalar,
  fc.constant(null),
  fc.array(scalar, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('b', 'length', '0'), scalar),
);
const data: fc.Arbitrary<Data> = fc.dictionary(
  fc.constantFrom('a', 'a b', "it's", 'length', 'email', 'x.y', '0', '__proto__'),
  value,
);
const email = fc.constantFrom('ann@example.com', 'bob@test.example', 'pro@example.com');

const path = fc.constantFrom(
  'data.a',
  'data["a b"]',
  "data['a b']",
  'data["it\'s"]',
  'data.length',
  'data.a.b',
  'data.a.length',
  'data.a.0',
  'data.email',
  'data["x.y"]',
  'data.0',
  'data.__proto__',
  'data.constructor',
  'data.missing',
);
const filter = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      field: path,
      operator: fc.constantFrom(
        'equals',
        'notEquals',
        'contains',
        'notContains',
        'startsWith',
        'endsWith',
        'greaterThan',
        'lessThan',
        'greaterThanOrEqual',
        'lessThanOrEqual',
        'exists',
        'notExists',
      ),
      value: scalar,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      field: path,
      operator: fc.constantFrom('in', 'notIn'),
      value: fc.array(scalar, { maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      field: fc.constant('email'),
      operator: fc.constantFrom('equals', 'notEquals', 'contains', 'notContains', 'startsWith', 'endsWith'),
      value: fc.oneof(email, fc.constantFrom('@Example.com', ' Ann@Example.com ', 'ann')),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      field: fc.constant('email'),
      operator: fc.constantFrom('in', 'notIn'),
      value: fc.array(email, { maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      field: fc.constant('subscribed'),
      operator: fc.constantFrom('equals', 'notEquals'),
      value: fc.boolean(),
    }),
  },
);
const logic = fc.constantFrom('AND', 'OR');
const filters = fc.array(filter, { minLength: 1, maxLength: 12 });
const flat = fc.record({ logic, groups: fc.array(fc.record({ filters }), { minLength: 1, maxLength: 3 }) });
const tree = fc.oneof(
  flat,
  fc.record({
    logic,
    groups: fc.array(fc.record({ filters: fc.array(filter, { maxLength: 2 }), conditions: flat }), {
      minLength: 1,
      maxLength: 2,
    }),
  }),
);

const inBoth = (test: ConditionTest) => {
  const then = paragraph(text('YES'));
  const otherwise = { type: 'otherwise', content: [paragraph(text('NO'))] };
  return renderDocument(parsed(documentOf({ type: 'condition', attrs: { test }, content: [then, otherwise] })));
};

describe('the condition of a block', () => {
  it('decides as conditions of workflows do', () => {
    fc.assert(
      fc.property(tree, data, email, fc.boolean(), (test, ownData, address, subscribed) => {
        const { parsed: condition } = parseCondition(test);
        const reading = readTest(test, 'test');
        expect('test' in reading, JSON.stringify(reading)).to.equal(condition !== undefined);
        if (!condition || !('test' in reading)) return;
        const body = inBoth(reading.test);
        expect(checkTemplate(body), body).to.deep.equal([]);
        const contact = { email: address, subscribed, data: ownData, createdAt: NOW, updatedAt: NOW };
        const nothing = {
          events: [],
          staticSegments: new Set<string>(),
          topics: new Map(),
          emails: new Map(),
          segments: new Map(),
          context: {},
          timeZone: 'UTC',
          now: NOW,
        };
        const wanted = decides(condition.condition, { contact, ...nothing });
        const variables = Object.assign(
          Object.create(null),
          ownData,
          { email: address, subscribed },
          { data: ownData },
        );
        const { html } = renderMail({ subject: '', html: body }, '', variables);
        expect([html.includes('>YES<'), html.includes('>NO<')], body).to.deep.equal([wanted, !wanted]);
      }),
      { numRuns: 500 },
    );
  });

  it('can have as many filters as conditions of workflows', () => {
    const equals = { field: 'data.a', operator: 'equals', value: 'x' };
    const body = inBoth({ logic: 'OR', groups: [{ filters: Array.from({ length: 200 }, () => equals) }] });
    expect(checkTemplate(body)).to.deep.equal([]);
  });
});
