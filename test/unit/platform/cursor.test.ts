import { expect } from 'chai';
import { openCursor, type SigningKeys, signCursor } from '../../../platform/cursor.ts';
import { ApiError } from '../../../platform/errors.ts';

const keys: SigningKeys = ['a key of the service'];
const boundTo = ['project', 'contacts', 'createdAt', 'desc'];
const place = { by: '2026-01-01T00:00:00.000001Z', id: 'ä', few: true };

const refused = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    expect(error).to.be.instanceOf(ApiError).and.to.include({ status: 400, code: 'BAD_REQUEST' });
    return;
  }
  throw new Error('it was accepted');
};

describe('a cursor', () => {
  const cursor = signCursor(keys, boundTo, place);

  it('gives back what it was made from', () => {
    expect(openCursor(keys, boundTo, cursor)).to.deep.equal(place);
  });

  it('needs no escaping in a query string', () => {
    expect(encodeURIComponent(cursor)).to.equal(cursor);
  });

  it('is refused when any character of it is changed', () => {
    for (let n = 0; n < cursor.length; n++) {
      const other = cursor[n] === 'A' ? 'B' : 'A';
      const changed = cursor.slice(0, n) + other + cursor.slice(n + 1);
      // The last character of base64 has bits that say nothing.
      if (
        Buffer.from(changed.split('.')[1] ?? '', 'base64url').equals(
          Buffer.from(cursor.split('.')[1] ?? '', 'base64url'),
        )
      )
        if (changed.split('.')[0] === cursor.split('.')[0]) continue;
      refused(() => openCursor(keys, boundTo, changed));
    }
  });

  it('is refused in another project, list, order or direction', () => {
    for (const [n] of boundTo.entries()) refused(() => openCursor(keys, boundTo.with(n, 'other'), cursor));
    refused(() => openCursor(keys, ['project', 'contactscreatedAt', 'desc'], cursor));
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
    it(`is refused when it is ${JSON.stringify(garbage.slice(0, 20))}`, () => {
      refused(() => openCursor(keys, boundTo, garbage));
    });

  it('outlives a rotation of the key for as long as the old one is listed', () => {
    expect(openCursor(['a newer key', ...keys], boundTo, cursor)).to.deep.equal(place);
    refused(() => openCursor(['a newer key'], boundTo, cursor));
  });
});
