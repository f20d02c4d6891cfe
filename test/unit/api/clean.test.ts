import { expect } from 'chai';
import fc from 'fast-check';
import { findRefusedParts, MAX_BODY_DEPTH } from '../../../api/http/clean.ts';

const json = () => fc.jsonValue({ maxDepth: 5 }).filter((value) => typeof value === 'object' && value !== null);
const clean = (text: string) => !text.includes('\0') && !/\p{Surrogate}/u.test(text);

/** Finds every text and key with a simple recursive walk. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [...(Array.isArray(value) ? [] : [key]), ...texts(item)]);
}

describe('uncleanParts', () => {
  it('finds violations exactly where a simple walk does', () => {
    fc.assert(
      fc.property(json(), (value) => {
        const all = texts(value);
        // Refused as a key and allowed as a value: for the examples below.
        fc.pre(!all.includes('__proto__'));
        expect(findRefusedParts(value as object).length > 0).to.equal(all.some((text) => !clean(text)));
      }),
    );
  });

  it('names the field by its dotted path', () => {
    const body = JSON.parse('{"a":[{"b":"\\u0000"}],"c":{"__proto__":1},"\\ud800":2,"ok":"fine"}');
    const found = findRefusedParts(body).map(({ field, code }) => `${field} ${code}`);
    expect(found).to.have.members(['a.0.b invalid_string', 'c.__proto__ custom', '\ufffd custom']);
  });

  it('counts levels from the body itself', () => {
    const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    expect(findRefusedParts(nested(MAX_BODY_DEPTH))).to.deep.equal([]);
    expect(findRefusedParts(nested(MAX_BODY_DEPTH + 1))).to.have.length(1);
  });

  it('skips texts that cannot be bad, and still finds forbidden keys', () => {
    const body = JSON.parse('{"a":"x","b":{"__proto__":1}}');
    expect(findRefusedParts(body, false).map(({ field }) => field)).to.deep.equal(['b.__proto__']);
  });

  it('finds numbers that are not finite', () => {
    const found = findRefusedParts(JSON.parse('{"a":1e999,"b":[1,-1e999],"c":1e308}'), false);
    expect(found.map(({ field, code }) => `${field} ${code}`)).to.have.members(['a too_big', 'b.1 too_big']);
  });

  it('lists at most twenty violations', () => {
    expect(findRefusedParts(Array.from({ length: 100 }, () => '\0'))).to.have.length(20);
  });

  it('truncates a path that is as long as the request', () => {
    const [fault] = findRefusedParts({ ['k'.repeat(10_000)]: '\0' });
    expect(fault?.field.length).to.be.below(300);
  });
});
