// The short form of `form-flood.slow.ts`.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { checkFlood } from '../support/flooded-forms.ts';
import { solveFast } from '../support/proof-of-work.ts';

describe('a flood of a form', function () {
  this.timeout(600_000);

  it('is made of valid proofs', () => {
    for (const email of ['ann@example.com', `${'a'.repeat(60)}@example.com`]) {
      const nonce = solveFast('token', 12, 'form', email);
      const hash = createHash('sha256').update(`token:form:${email}:${nonce}`).digest();
      expect(hash.readUInt32BE() >>> 20).to.equal(0);
    }
  });

  it('costs no address more than three emails, and Temporal nothing', async () => {
    await checkFlood({ addresses: 40, times: 2, bare: 60 });
  });
});
