import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { hmacHex } from '../../../platform/crypto/hmac.ts';

const expected = (key: string, label: string, content: Uint8Array): string =>
  createHmac('sha256', key).update(label).update(content).digest('hex');

describe('hmacHex', () => {
  it('equals createHmac for content of any length and alternating keys', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 });
    const content = fc.oneof(fc.uint8Array({ maxLength: 100 }), fc.uint8Array({ maxLength: 1500, size: 'max' }));
    fc.assert(
      fc.property(text, text, text, content, content, (one, other, label, first, second) => {
        for (const [key, bytes] of [
          [one, first],
          [other, second],
          [one, second],
          [other, first],
        ] as const)
          expect(hmacHex(key, label, bytes)).to.equal(expected(key, label, bytes));
      }),
    );
  });

  it('equals createHmac for keys around the block size and content around the fast limit', () => {
    for (const length of [0, 1, 63, 64, 65, 1000])
      for (const bytes of [0, 1, 55, 56, 64, 959, 960, 961, 5000]) {
        const key = 'k'.repeat(length);
        const content = Buffer.alloc(bytes, 7);
        for (const label of ['', 'label\0', 'ä'])
          expect(hmacHex(key, label, content), `${length} ${bytes}`).to.equal(expected(key, label, content));
      }
  });
});
