import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../../dev/root.ts';
import { readAudit } from '../../dev/supply-chain/audit.ts';
import { isAllowedLicence, licenceViolations, readLicences } from '../../dev/supply-chain/licences.ts';
import { scanForSecrets, secretsIn } from '../../dev/supply-chain/secrets.ts';

describe('the supply chain', () => {
  it('has packages with known licences only', () => {
    const packages = readLicences(root);
    expect(packages.length).to.be.greaterThan(300);
    expect(packages.find(({ name }) => name === 'koa')).to.include({ licence: 'MIT', isDevelopment: false });
    expect(licenceViolations(packages)).to.deep.equal([]);
  });

  it('reads licence expressions', () => {
    expect(isAllowedLicence('(MIT OR GPL-3.0-only)')).to.equal(true);
    expect(isAllowedLicence('MIT AND Zlib')).to.equal(true);
    expect(isAllowedLicence('MIT AND GPL-3.0-only')).to.equal(false);
    expect(isAllowedLicence('none')).to.equal(false);
  });

  it('finds no credential in the repository', () => {
    const { files, found } = scanForSecrets(root);
    expect(files).to.be.greaterThan(1_000);
    expect(found).to.deep.equal([]);
  });

  it('finds a credential in a copy without a repository, and skips what is installed', () => {
    const copy = mkdtempSync(join(tmpdir(), 'everpost-copy-'));
    const key = `key = ${'AKIA'}${'A1'.repeat(8)}`;
    for (const folder of ['api', 'node_modules']) mkdirSync(join(copy, folder));
    for (const file of ['api/a.ts', 'node_modules/b.js', '.env', 'c.log']) writeFileSync(join(copy, file), key);
    expect(scanForSecrets(copy)).to.deep.equal({
      files: 1,
      found: [{ file: 'api/a.ts', line: 1, form: 'AWS access key' }],
    });
    rmSync(copy, { recursive: true });
  });

  it('finds credentials by their form', () => {
    const key = ['-----BEGIN', 'PRIVATE KEY-----'].join(' ');
    expect(secretsIn(`a\nb\n${key}\n${'A'.repeat(120)}`)).to.deep.equal([{ form: 'private key', line: 3 }]);
    expect(secretsIn(`key = ${'AKIA'}${'A1'.repeat(8)}`)).to.have.length(1);
    expect(secretsIn('a private key, sk_live_..., ghp_xxx')).to.deep.equal([]);
  });

  it('lists advisories, and tells a registry that does not answer', () => {
    const via = [{ title: 'Bad', url: 'https://example.com/1' }, 'other'];
    const report = { vulnerabilities: { thing: { severity: 'high', via } } };
    expect(readAudit(JSON.stringify(report))).to.deep.equal({
      kind: 'checked',
      advisories: ['thing (high): Bad https://example.com/1'],
    });
    expect(readAudit('{"vulnerabilities":{}}')).to.deep.equal({ kind: 'checked', advisories: [] });
    expect(readAudit('{"message":"405"}')).to.deep.equal({ kind: 'unreachable', reason: '405' });
    expect(readAudit('', 'one\nno network')).to.deep.equal({ kind: 'unreachable', reason: 'no network' });
  });
});
