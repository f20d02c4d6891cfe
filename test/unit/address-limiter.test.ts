import { expect } from 'chai';
import { AddressLimiter } from '../../services/access/address-limiter.ts';

describe('AddressLimiter', () => {
  it('counts an IPv4-mapped address as the IPv4 address', () => {
    const limiter = new AddressLimiter(1);
    expect(limiter.take('::ffff:203.0.113.1').allowed).to.equal(true);
    expect(limiter.take('203.0.113.1').allowed).to.equal(false);
  });

  it('keeps a bounded number of networks under a flood of distinct addresses', () => {
    const limiter = new AddressLimiter(1, 100);
    for (let n = 0; n < 10_000; n++) expect(limiter.take(`10.0.${n >> 8}.${n & 255}`).allowed).to.equal(true);
    expect(limiter.size).to.equal(100);
    expect(limiter.take('10.0.39.15').allowed, 'the newest is still known').to.equal(false);
  });
});
