import { expect } from 'chai';
import { newId, randomText } from '../../../platform/ids.ts';

describe('ids', () => {
  const ids = Array.from({ length: 20_000 }, newId);

  it('are UUIDv7 with the current time', () => {
    for (const id of ids.slice(0, 1000))
      expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const ms = Number.parseInt(newId().replaceAll('-', '').slice(0, 12), 16);
    expect(Math.abs(ms - Date.now())).to.be.lessThan(60_000);
  });

  it('are unique and sort by creation order', () => {
    expect(new Set(ids).size).to.equal(ids.length);
    expect([...ids].sort()).to.deep.equal(ids);
  });
});

describe('random text', () => {
  it('has the requested length and only letters and digits', () => {
    expect(randomText(48)).to.match(/^[A-Za-z0-9]{48}$/);
    expect(randomText(48)).not.to.equal(randomText(48));
  });
});
