import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { cacheDir, cached } from '../../dev/cache.ts';
import { lock, tryLock } from '../../dev/lock.ts';
import { identityOf, isRunning } from '../../dev/process-identity.ts';
import { eventually } from '../support/waiting.ts';

describe('the cache', () => {
  let home: string;
  let before: string | undefined;

  beforeEach(() => {
    before = process.env.XDG_CACHE_HOME;
    home = mkdtempSync(join(tmpdir(), 'everpost-cache-'));
    process.env.XDG_CACHE_HOME = home;
  });

  afterEach(() => {
    if (before === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = before;
    rmSync(home, { recursive: true, force: true });
  });

  const silent = () => {};

  it('is in XDG_CACHE_HOME, or in ~/.cache when that is relative', () => {
    expect(cacheDir()).to.equal(join(home, 'everpost'));
    process.env.XDG_CACHE_HOME = 'relative';
    expect(cacheDir()).to.match(/\/\.cache\/everpost$/);
  });

  it('builds an entry once and reuses it', async () => {
    let builds = 0;
    const build = async (dir: string) => {
      builds++;
      writeFileSync(join(dir, 'it'), 'made');
    };
    const first = await cached('thing/1', silent, build);
    const second = await cached('thing/1', silent, build);
    expect(second).to.equal(first);
    expect(readFileSync(join(first, 'it'), 'utf8')).to.equal('made');
    expect(builds).to.equal(1);
  });

  it('leaves no files when a build fails, and builds again at the next call', async () => {
    const failing = cached('thing', silent, async (dir) => {
      writeFileSync(join(dir, 'half'), 'half');
      throw new Error('no luck');
    });
    const error = await failing.then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.message).to.equal('no luck');
    expect(existsSync(join(cacheDir(), 'thing'))).to.equal(false);
    expect(readdirSync(join(cacheDir(), 'tmp'))).to.deep.equal([]);
    const dir = await cached('thing', silent, async () => {});
    expect(readdirSync(dir)).to.deep.equal([]);
  });

  it('shares one build between two concurrent calls and reports that the second waits', async () => {
    let builds = 0;
    const reported: string[] = [];
    const report = (line: string) => void reported.push(line);
    const build = async () => {
      builds++;
      await eventually(() => reported.some((line) => line.includes('waiting')), { what: 'a call that waits' });
    };
    await Promise.all([cached('slow', report, build), cached('slow', report, build)]);
    expect(builds).to.equal(1);
    expect(reported.join('\n')).to.contain(`waiting for another run (pid ${process.pid})`);
  });
});

describe('a lock file', () => {
  let dir: string;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'everpost-lock-'));
  });

  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('has one owner at a time and names it', () => {
    const file = join(dir, 'a.lock');
    const acquired = tryLock(file);
    const refused = tryLock(file);
    expect(refused).to.have.nested.property('owner.pid', process.pid);
    if ('release' in acquired) acquired.release();
    expect(tryLock(file)).to.have.property('release');
  });

  it('is taken over from a process that died', async () => {
    const file = join(dir, 'b.lock');
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
    const identity = identityOf(child.pid ?? 0);
    if (!identity) throw new Error('the child did not start');
    writeFileSync(file, JSON.stringify({ ...identity, token: 'theirs' }));
    expect(tryLock(file)).to.have.nested.property('owner.token', 'theirs');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isRunning(identity)).to.equal(false);
    expect(tryLock(file)).to.have.property('release');
    expect(readdirSync(dir)).to.deep.equal(['b.lock']);
  });

  it('is taken over when its pid was reused by another process', () => {
    const file = join(dir, 'c.lock');
    writeFileSync(file, JSON.stringify({ pid: process.pid, startedAt: 'another time', token: 'old' }));
    expect(tryLock(file)).to.have.property('release');
  });

  it('is taken over when it cannot be read', () => {
    const file = join(dir, 'd.lock');
    writeFileSync(file, '{');
    expect(tryLock(file)).to.have.property('release');
  });

  it('is acquired by a waiting caller after its release', async () => {
    const file = join(dir, 'e.lock');
    const first = tryLock(file);
    let waits = 0;
    const second = lock(file, () => {
      waits++;
      if ('release' in first) first.release();
    });
    (await second).release();
    expect(waits).to.equal(1);
    expect(existsSync(file)).to.equal(false);
  });
});
