import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { firstWorkingStrategy } from '../../dev/strategies.ts';
import { findTemporalCli, findTestServer } from '../../dev/temporal-server.ts';

describe('finding the Temporal servers', () => {
  const names = ['PATH', 'TEMPORAL_CLI_PATH', 'TEMPORAL_TEST_SERVER_PATH'] as const;
  const before = names.map((name) => [name, process.env[name]] as const);
  let dir: string;
  let reported: string[];
  const report = (line: string) => reported.push(line);

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'everpost-strategies-'));
    reported = [];
    for (const name of names) if (name !== 'PATH') delete process.env[name];
  });

  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(dir, { recursive: true, force: true });
  });

  const program = (name: string): string => {
    const file = join(dir, name);
    writeFileSync(file, '#!/bin/sh\n');
    chmodSync(file, 0o755);
    return file;
  };

  it('prefers the binary of the setting to the PATH', async () => {
    const file = program('my-temporal');
    program('temporal');
    process.env.PATH = dir;
    process.env.TEMPORAL_CLI_PATH = file;
    expect(await findTemporalCli(report)).to.equal(file);
    expect(reported.join()).to.contain('TEMPORAL_CLI_PATH');
  });

  it('fails when the setting names no executable, instead of looking elsewhere', async () => {
    process.env.TEMPORAL_CLI_PATH = join(dir, 'nothing');
    process.env.TEMPORAL_TEST_SERVER_PATH = dir;
    expect(await errorOf(findTemporalCli(report))).to.contain('TEMPORAL_CLI_PATH names');
    expect(await errorOf(findTestServer(report))).to.contain('TEMPORAL_TEST_SERVER_PATH names');
  });

  it('uses `temporal` on the PATH and reports it', async () => {
    const file = program('temporal');
    process.env.PATH = `/nowhere:${dir}`;
    expect(await findTemporalCli(report)).to.equal(file);
    expect(reported.join()).to.contain('found on the PATH');
  });

  it('tries the strategies in order and stops at the first that works', async () => {
    const tried: string[] = [];
    const strategy = (name: string, works: boolean) => ({
      name,
      run: async () => {
        tried.push(name);
        if (!works) throw new Error(`${name} is closed`);
      },
    });
    await firstWorkingStrategy([strategy('a', false), strategy('b', true), strategy('c', true)], report, 'help');
    expect(tried).to.deep.equal(['a', 'b']);
    expect(reported).to.deep.equal(['  a: no (a is closed)']);
    const error = await errorOf(
      firstWorkingStrategy([strategy('a', false), strategy('b', false)], report, 'Do this or that.'),
    );
    expect(error).to.match(/^Do this or that\./);
    expect(error).to.contain('a: a is closed').and.to.contain('b: b is closed');
  });
});

async function errorOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('expected an error');
}
