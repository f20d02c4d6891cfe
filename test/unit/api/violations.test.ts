import { expect } from 'chai';
import joi from 'joi';
import { faultsOf } from '../../../api/http/violations.ts';

describe('faultsOf', () => {
  const codeOf = (schema: joi.Schema, value: unknown): string | undefined => {
    const { error } = joi.object({ x: schema }).validate({ x: value }, { convert: false });
    return error && faultsOf(error)[0]?.code;
  };

  const cases: [string, joi.Schema, unknown, string][] = [
    ['a missing field', joi.any().required(), undefined, 'required'],
    ['a number for text', joi.string(), 5, 'invalid_type'],
    ['text for a number', joi.number(), '5', 'invalid_type'],
    ['text for a boolean', joi.boolean(), 'true', 'invalid_type'],
    ['an array for an object', joi.object(), [], 'invalid_type'],
    ['an object for an array', joi.array(), {}, 'invalid_type'],
    ['null', joi.string(), null, 'invalid_type'],
    ['a fraction for a whole number', joi.number().integer(), 1.5, 'invalid_type'],
    ['none of several kinds', joi.alternatives(joi.string(), joi.number()), true, 'invalid_type'],
    ['an empty text', joi.string(), '', 'too_small'],
    ['a short text', joi.string().min(3), 'a', 'too_small'],
    ['a small number', joi.number().min(3), 1, 'too_small'],
    ['a short list', joi.array().min(1), [], 'too_small'],
    ['a long text', joi.string().max(1), 'ab', 'too_big'],
    ['a large number', joi.number().max(3), 5, 'too_big'],
    ['a number beyond exactness', joi.number(), 2 ** 60, 'too_big'],
    ['a long list', joi.array().max(1), [1, 2], 'too_big'],
    ['what is no address', joi.string().email(), 'no', 'invalid_string'],
    ['what is no UUID', joi.string().guid(), 'no', 'invalid_string'],
    ['a text of the wrong form', joi.string().pattern(/^a$/), 'b', 'invalid_string'],
    ['what is not on the list', joi.valid('A', 'B'), 'C', 'invalid_enum'],
    ['what is not to be sent', joi.forbidden(), 1, 'custom'],
  ];
  for (const [what, schema, value, code] of cases)
    it(`reports ${what} as ${code}`, () => {
      expect(codeOf(schema, value)).to.equal(code);
    });

  it('returns only short simple values as received', () => {
    const received = (value: unknown) => {
      const { error } = joi.object({ x: joi.valid('never') }).validate({ x: value });
      return error && faultsOf(error)[0]?.received;
    };
    expect(received('abc')).to.equal('abc');
    expect(received(5)).to.equal(5);
    expect(received(null)).to.equal(null);
    for (const value of ['x'.repeat(101), { a: 1 }, [1]]) expect(received(value)).to.equal(undefined);
  });

  it('joins the path with dots', () => {
    const schema = joi.object({ to: joi.array().items(joi.object({ email: joi.string() })) });
    const { error } = schema.validate({ to: [{ email: 'a' }, { email: 5 }] });
    expect(error && faultsOf(error)[0]?.field).to.equal('to.1.email');
  });
});
