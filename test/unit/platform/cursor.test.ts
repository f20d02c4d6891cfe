import { expect } from 'chai';
import { openCursor, signCursor } from '../../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../../platform/crypto/signed-token.ts';
import { ApiError } from '../../../platform/errors.ts';

const keys: SigningKeys = ['a key of the service'];
const boundTo = ['project', 'contacts', 'createdAt', 'desc'];
const position = { by: '2026-01-01T00:00:00.000001Z', id: 'ä', few: true };

const expectRefused = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    expect(error).to.be.instanceOf(ApiError).and.to.include({ status: 400, code: 'BAD_REQUEST' });
    return;
  }
  throw new Error('it was accepted');
};

describe('cursor', () => {
  const cursor = signCursor(keys, boundTo, position);

  it('opens to the position that was signed', () => {
    expect(openCursor(keys, boundTo, cursor)).to.deep.equal(position);
  });

  it('needs no escaping in a query string', () => {
    expect(encodeURIComponent(cursor)).to.equal(cursor);
  });

  it('is refused with 400 when any character is changed', () => {
    for (let n = 0; n < cursor.length; n++) {
      const other = cursor[n] === 'A' ? 'B' : 'A';
      const changed = cursor.slice(0, n) + other + cursor.slice(n + 1);
      // The last base64 character has unused bits.
      if (
        Buffer.from(changed.split('.')[1] ?? '', 'base64url').equals(
          Buffer.from(cursor.split('.')[1] ?? '', 'base64url'),
        )
      )
        if (changed.split('.')[0] === cursor.split('.')[0]) continue;
      expectRefused(() => openCursor(keys, boundTo, changed));
    }
  });

  it('is refused with 400 in another project, list, order or direction', () => {
    for (const [n] of boundTo.entries()) expectRefused(() => openCursor(keys, boundTo.with(n, 'other'), cursor));
    expectRefused(() => openCursor(keys, ['project', 'contactscreatedAt', 'desc'], cursor));
  });

  for (const garbage of [
    '',
    '.',
    'x',
    'eyJhIjoxfQ',
    'eyJhIjoxfQ.',
    `${'a'.repeat(5_000)}.b`,
    'a.b.c',
    `${'.'.repeat(50)}`,
  ])
    it(`is refused with 400 when it is ${JSON.stringify(garbage.slice(0, 20))}`, () => {
      expectRefused(() => openCursor(keys, boundTo, garbage));
    });

  it('opens after a key rotation while the old key is listed', () => {
    expect(openCursor(['a newer key', ...keys], boundTo, cursor)).to.deep.equal(position);
    expectRefused(() => openCursor(['a newer key'], boundTo, cursor));
  });
});
