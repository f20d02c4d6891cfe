import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { VERSION } from '../../../platform/version.ts';

describe('the version', () => {
  it('is that of package.json', () => {
    const text = readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8');
    expect(VERSION).to.equal(JSON.parse(text).version);
  });
});
