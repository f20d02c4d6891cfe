import { expect } from 'chai';
import fc from 'fast-check';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import { openToken, signToken } from '../../../platform/crypto/signed-token.ts';

const keys: SigningKeys = ['a first key of our own', 'an older key of our own'];

describe('signed tokens', () => {
  it('open to the signed text or bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (content) => {
        expect(openToken(keys, 'page', signToken(keys, 'page', content))).to.deep.equal(Buffer.from(content));
      }),
    );
    expect(openToken(keys, 'page', signToken(keys, 'page', 'grüße'))?.toString()).to.equal('grüße');
  });

  it('need no escaping in a URL', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (content) => {
        expect(signToken(keys, 'page', content)).to.match(/^[A-Za-z0-9_-]+$/);
      }),
    );
  });

  it('are signed with the first key and open with all keys', () => {
    const old = signToken([keys[1] ?? ''], 'page', 'x');
    expect(openToken(keys, 'page', old)?.toString()).to.equal('x');
    expect(openToken([keys[0]], 'page', old)).to.equal(undefined);
    expect(openToken([keys[0]], 'page', signToken(keys, 'page', 'x'))?.toString()).to.equal('x');
  });

  it('do not open for another purpose', () => {
    const token = signToken(keys, 'page', 'x');
    expect(openToken(keys, 'click', token)).to.equal(undefined);
    expect(openToken(keys, 'pag', signToken(keys, 'page', 'x'))).to.equal(undefined);
  });

  it('are refused when a character is changed, added or removed', () => {
    const token = signToken(keys, 'page', 'some content');
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === 'A' ? 'B' : 'A';
      expect(openToken(keys, 'page', token.slice(0, at) + other + token.slice(at + 1)), `${at}`).to.equal(undefined);
      expect(openToken(keys, 'page', token.slice(0, at) + token.slice(at + 1)), `${at}`).to.equal(undefined);
    }
    for (const more of ['=', 'A', '.', ' ', '\n']) expect(openToken(keys, 'page', token + more)).to.equal(undefined);
  });

  it('return undefined for garbage without throwing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String()), (garbage) => {
        expect(openToken(keys, 'page', garbage)).to.equal(undefined);
      }),
    );
    expect(openToken(keys, 'page', 'A'.repeat(1_000_000))).to.equal(undefined);
  });
});
