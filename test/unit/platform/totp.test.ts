import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { newTotpSecret, totpCode, totpStepOf, totpUri } from '../../../platform/crypto/totp.ts';

/** The secret of the test vectors in RFC 6238, appendix B: "12345678901234567890" in base32. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('TOTP', () => {
  it('computes the codes of RFC 6238, cut to six digits', () => {
    const vectors: [number, string][] = [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [1_111_111_111, '050471'],
      [1_234_567_890, '005924'],
      [2_000_000_000, '279037'],
    ];
    for (const [seconds, code] of vectors)
      expect(totpCode(RFC_SECRET, seconds * 1_000), String(seconds)).to.equal(code);
  });

  it('accepts a code from the start of the step before to the last millisecond of the step after', () => {
    const step = 37_037_036;
    const start = step * 30_000;
    const code = totpCode(RFC_SECRET, start);
    const accepted = [start - 30_000, start - 1, start, start + 29_999, start + 30_000, start + 59_999];
    for (const at of accepted) expect(totpStepOf(RFC_SECRET, code, at), `at ${at - start} ms`).to.equal(step);
    for (const at of [start - 30_001, start + 60_000])
      expect(totpStepOf(RFC_SECRET, code, at), `at ${at - start} ms`).to.equal(undefined);
  });

  it('rejects codes of another length, with other characters and of another secret', () => {
    const at = 1_111_111_111_000;
    const code = totpCode(RFC_SECRET, at);
    for (const given of ['', code.slice(1), `0${code}`, 'abcdef', '1e5   ', totpCode(newTotpSecret(), at)])
      expect(totpStepOf(RFC_SECRET, given, at), given).to.equal(undefined);
  });

  it('makes secrets of 160 bits and addresses that name issuer, account and secret', () => {
    const secret = newTotpSecret();
    expect(secret).to.match(/^[A-Z2-7]{32}$/);
    expect(newTotpSecret()).not.to.equal(secret);
    const uri = new URL(totpUri(secret, { issuer: 'Everpost', label: 'ann+x@b.co' }));
    expect(uri.protocol).to.equal('otpauth:');
    expect(decodeURIComponent(uri.pathname)).to.contain('Everpost:ann+x@b.co');
    expect(Object.fromEntries(uri.searchParams)).to.include({ secret, issuer: 'Everpost', digits: '6', period: '30' });
  });

  it('agrees with an implementation of HOTP (RFC 4226) written here', () => {
    const hotp = (counter: number) => {
      const text = Buffer.alloc(8);
      text.writeBigUInt64BE(BigInt(counter));
      const hash = createHmac('sha1', '12345678901234567890').update(text).digest();
      const offset = (hash[19] ?? 0) & 15;
      return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
    };
    for (const step of [0, 1, 99, 59_000_000]) expect(totpCode(RFC_SECRET, step * 30_000)).to.equal(hotp(step));
  });
});
