import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { ciFiles, inTwoParts, summary, type TestPartOutcome, testFiles } from '../../dev/test-parts.ts';

const success = { code: 0, signal: null };
const part = (name: string, passed: number, failures: string[] = []): TestPartOutcome => ({
  name,
  exit: { code: failures.length, signal: null },
  counts: { passed, failed: failures.length, failures },
});

describe('the two parts of the tests', () => {
  it('contain every test file once', () => {
    const files = testFiles(resolve(import.meta.dirname, '../..'), { all: true });
    expect(files).to.include.members(['test/dev/test-parts.test.ts', 'test/api/accounts/billing.test.ts']);
    const [first, second] = inTwoParts(files);
    expect([...first.files, ...second.files])
      .to.have.members(files)
      .and.to.have.length(files.length);
  });

  it('contain the matrix of pages only on request', () => {
    const root = resolve(import.meta.dirname, '../..');
    expect(testFiles(root)).not.to.include('test/browser/pages.matrix.ts');
    expect(testFiles(root, { all: true })).to.include('test/browser/pages.matrix.ts');
  });

  it('leave the files that CI runs afterwards to CI, and those exist', () => {
    const root = resolve(import.meta.dirname, '../..');
    for (const file of ciFiles) {
      expect(existsSync(resolve(root, file)), file).to.equal(true);
      expect(testFiles(root, { all: true })).not.to.include(file);
    }
  });

  it('are named after their folders', () => {
    const parts = inTwoParts([
      'test/api/a.test.ts',
      'test/api/b/c.test.ts',
      'test/e2e/d.test.ts',
      'test/new/e.test.ts',
    ]);
    expect(parts).to.deep.equal([
      { name: 'test/{api,new}', files: ['test/api/a.test.ts', 'test/api/b/c.test.ts', 'test/new/e.test.ts'] },
      { name: 'test/{e2e}', files: ['test/e2e/d.test.ts'] },
    ]);
  });

  it('are summed up in the last line', () => {
    const { lines, ...sum } = summary([part('api', 20), part('e2e', 3)]);
    expect(sum).to.deep.equal({ passed: 23, failed: 0 });
    expect(lines).to.deep.equal(['api: 20 passed, 0 failed', 'e2e: 3 passed, 0 failed', '23 passed, 0 failed']);
  });

  it('list the failures of both', () => {
    const { lines, ...sum } = summary([
      part('api', 20, ['track > answers']),
      part('e2e', 3, ['killing > loses nothing']),
    ]);
    expect(sum).to.deep.equal({ passed: 23, failed: 2 });
    expect(lines).to.include.members(['  FAILED: track > answers', '  FAILED: killing > loses nothing']);
    expect(lines.at(-1)).to.equal('23 passed, 2 failed');
  });

  describe('count one more failure, and name its cause, when a part', () => {
    const cases: [string, Omit<TestPartOutcome, 'name'>, RegExp][] = [
      ['crashes', { exit: { code: 7, signal: null } }, /ended before its tests did \(exit code 7\)/],
      ['is killed', { exit: { code: null, signal: 'SIGKILL' } }, /ended before its tests did \(killed by SIGKILL\)/],
      ['exits with 0 but without a result', { exit: success }, /ended before its tests did \(exit code 0\)/],
      ['runs no test', { exit: success, counts: { passed: 0, failed: 0, failures: [] } }, /no test at all/],
      [
        'leaves something open',
        { exit: { code: 1, signal: null }, counts: { passed: 5, failed: 0, failures: [] } },
        /did not end well \(exit code 1\)/,
      ],
    ];
    for (const [what, outcome, words] of cases) {
      it(what, () => {
        const { lines, passed, failed } = summary([part('api', 20), { name: 'e2e', ...outcome }]);
        expect({ passed, failed }).to.deep.equal({ passed: 20 + (outcome.counts?.passed ?? 0), failed: 1 });
        expect(lines.at(-1)).to.equal(`${passed} passed, 1 failed`);
        expect(lines.join('\n')).to.match(words);
      });
    }
  });
});
