import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../../dev/root.ts';
import { namedFiles, type PlannedFile, plan, readTimes, testFiles } from '../../dev/testing/files.ts';
import type { FileResult } from '../../dev/testing/messages.ts';
import { type PoolOptions, type PoolOutcome, TestPool } from '../../dev/testing/pool.ts';
import { summary } from '../../dev/testing/summary.ts';
import { eventually } from '../support/waiting.ts';

describe('the files of a test run', () => {
  it('are all *.test.ts, and with `all` those for CI too', () => {
    expect(testFiles(root)).to.include.members(['test/dev/test-runner.test.ts', 'test/api/accounts/billing.test.ts']);
    expect(testFiles(root)).not.to.include('test/browser/pages.ci.ts');
    expect(testFiles(root, { all: true })).to.include('test/browser/pages.ci.ts');
  });

  it('can be named, as files or as a folder', () => {
    expect(namedFiles(root, ['./test/dev/test-runner.test.ts'])).to.deep.equal(['test/dev/test-runner.test.ts']);
    expect(namedFiles(root, ['test/dev'])).to.include('test/dev/ports.test.ts');
    expect(namedFiles(root, ['test/api/schemathesis.slow.ts'])).to.have.length(1);
  });

  it('are refused when they do not exist, or are no tests', () => {
    expect(() => namedFiles(root, ['test/api/nothing.test.ts'])).to.throw(
      'There is no test file test/api/nothing.test.ts.',
    );
    expect(() => namedFiles(root, ['package.json'])).to.throw('package.json is not a test');
    expect(() => namedFiles(root, ['docs'])).to.throw('There is no test in docs.');
  });

  it('start with the longest, and with those that have no record yet', () => {
    const times = { 'a.test.ts': { seconds: 2, cpu: 2 }, 'b.test.ts': { seconds: 50, cpu: 5 } };
    expect(plan(['a.test.ts', 'b.test.ts', 'new.test.ts'], times)).to.deep.equal([
      { file: 'b.test.ts', seconds: 50, waits: true },
      { file: 'new.test.ts', seconds: 30, waits: false },
      { file: 'a.test.ts', seconds: 2, waits: false },
    ]);
  });

  it('have recorded times for existing files only', () => {
    expect(Object.keys(readTimes(root)).filter((file) => !existsSync(join(root, file)))).to.deep.equal([]);
  });
});

const result = (file: string, passed: number, failures: string[] = [], seconds = 1): FileResult => ({
  file,
  passed,
  failed: failures.length,
  failures,
  seconds,
  cpu: 0,
  output: '',
});

describe('the summary of a test run', () => {
  const sum = (outcome: Partial<PoolOutcome>, { allTimes = false, ranAllApiTests = false } = {}) =>
    summary({ results: [], leftovers: [], crashes: [], ...outcome }, { allTimes, ranAllApiTests });

  it('ends with the sum and names each failure', () => {
    const { lines, ...counts } = sum({ results: [result('a', 20, ['track > answers']), result('b', 3)] });
    expect(counts).to.deep.equal({ passed: 23, failed: 1 });
    expect(lines.slice(-2)).to.deep.equal(['FAILED: a: track > answers', '23 passed, 1 failed']);
  });

  it('lists the ten slowest files, or all on request', () => {
    const results = Array.from({ length: 12 }, (_, n) => result(`file-${n}`, 1, [], n));
    expect(sum({ results }).lines.filter((line) => line.includes('file-'))).to.have.length(10);
    expect(sum({ results }).lines[1]).to.match(/11\.0 s .* file-11$/);
    expect(sum({ results }, { allTimes: true }).lines.filter((line) => line.includes('file-'))).to.have.length(12);
  });

  it('counts a crash, and a run without any test, as a failure', () => {
    expect(sum({ results: [result('a', 2)], crashes: ['b: killed'] }).lines.slice(-2)).to.deep.equal([
      'FAILED: b: killed',
      '2 passed, 1 failed',
    ]);
    expect(sum({}).lines).to.deep.equal(['FAILED: No test ran at all.', '0 passed, 1 failed']);
  });

  it('fails for what no child has seen, once all API tests have run without a crash', () => {
    const leftovers = [
      { unusedStatements: ['one', 'both'], unseenAnswers: ['GET /a 200'] },
      { unusedStatements: ['both', 'two'], unseenAnswers: ['GET /b 200'] },
      { unusedStatements: undefined, unseenAnswers: undefined },
    ];
    const outcome = { results: [result('a', 1)], leftovers };
    expect(sum(outcome, { ranAllApiTests: true }).lines).to.deep.equal([
      'FAILED: No test uses this allowed statement: both',
      '1 passed, 1 failed',
    ]);
    expect(sum(outcome).failed).to.equal(0);
    expect(sum({ ...outcome, crashes: ['b: killed'] }, { ranAllApiTests: true }).failed).to.equal(1);
    const failed = { results: [result('a', 1, ['x > y'])], leftovers };
    expect(sum(failed, { ranAllApiTests: true }).failed).to.equal(2);
  });
});

/** A child that runs "files" whose names are what it does. */
const CHILD = `
process.on('message', ({ kind, file, address }) => {
  const passed = (output = '') => process.send({ kind: 'result', result: { file, passed: 1, failed: 0, failures: [], seconds: 0, cpu: 0, output } });
  if (kind === 'end') return process.disconnect();
  if (kind === 'server') return process.send({ kind: 'result', result: { file: 'asked', passed: 1, failed: 0, failures: [], seconds: 0, cpu: 0, output: address } });
  if (file === 'crashes') { console.error('out of luck'); process.exit(7); }
  if (file === 'hangs') return setInterval(() => {}, 1000);
  if (file === 'asks') return process.send({ kind: 'server', server: 'postgres' });
  if (file === 'fails') process.send({ kind: 'failure', file, failure: 'a > b: wrong' });
  passed(String(process.pid));
});
process.send({ kind: 'ready' });
`;

describe('the pool of mocha children', () => {
  let dir: string;
  let printed: string[];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'everpost-pool-'));
    writeFileSync(join(dir, 'child.cjs'), CHILD);
    printed = [];
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const pool = (more: Partial<PoolOptions> = {}) =>
    new TestPool({
      entry: join(dir, 'child.cjs'),
      env: process.env,
      cwd: dir,
      busy: 1,
      waiting: 1,
      grep: undefined,
      addressOf: async () => 'postgres://here',
      onFailure: (file, failure) => void printed.push(`failure of ${file}: ${failure}`),
      onResult: ({ file }) => void printed.push(`result of ${file}`),
      ...more,
    });
  const files = (...names: string[]): PlannedFile[] =>
    names.map((name) => ({ file: name, seconds: 1, waits: name.startsWith('waits') }));

  it('runs files that keep a core busy in one child, and those that wait in another', async () => {
    const { results, crashes } = await pool().run(files('busy 1', 'busy 2', 'waits 1'));
    expect(crashes).to.deep.equal([]);
    const pidOf = (name: string) => results.find(({ file }) => file === name)?.output;
    expect(pidOf('busy 1')).to.equal(pidOf('busy 2')).and.not.to.equal(pidOf('waits 1'));
  });

  it('shows a failure at once, before the result of its file', async () => {
    await pool().run(files('fails'));
    expect(printed).to.deep.equal(['failure of fails: a > b: wrong', 'result of fails']);
  });

  it('replaces a child that crashed, and gives its last words', async () => {
    const { results, crashes } = await pool({ waiting: 0 }).run(files('crashes', 'next'));
    expect(results.map(({ file }) => file)).to.deep.equal(['next']);
    expect(crashes).to.have.length(1);
    expect(crashes[0]).to.equal('crashes: its process ended before its tests did (exit code 7):\nout of luck');
  });

  it('answers children that ask for a shared server', async () => {
    const { results } = await pool().run(files('asks'));
    expect(results[0]?.output).to.equal('postgres://here');
  });

  it('ends all children when it is stopped', async () => {
    const stopped = pool({ env: { ...process.env } });
    const run = stopped.run(files('hangs', 'waits and hangs'));
    await eventually(() => printed.includes('result of waits and hangs'));
    stopped.stop('SIGTERM');
    expect((await run).crashes).to.deep.equal([]);
  });
});
