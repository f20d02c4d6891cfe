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
  let said: string[];
  const report = (line: string) => said.push(line);

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'everpost-ways-'));
    said = [];
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

  it('takes the binary that the setting names, before the PATH', async () => {
    const file = program('my-temporal');
    program('temporal');
    process.env.PATH = dir;
    process.env.TEMPORAL_CLI_PATH = file;
    expect(await findTemporalCli(report)).to.equal(file);
    expect(said.join()).to.contain('TEMPORAL_CLI_PATH');
  });

  it('refuses a setting that names nothing that can be run, instead of looking elsewhere', async () => {
    process.env.TEMPORAL_CLI_PATH = join(dir, 'nothing');
    process.env.TEMPORAL_TEST_SERVER_PATH = dir;
    expect(await refusal(findTemporalCli(report))).to.contain('TEMPORAL_CLI_PATH names');
    expect(await refusal(findTestServer(report))).to.contain('TEMPORAL_TEST_SERVER_PATH names');
  });

  it('takes `temporal` from the PATH and says so', async () => {
    const file = program('temporal');
    process.env.PATH = `/nowhere:${dir}`;
    expect(await findTemporalCli(report)).to.equal(file);
    expect(said.join()).to.contain('found on the PATH');
  });

  it('goes through the ways in order and stops at the first that works', async () => {
    const taken: string[] = [];
    const way = (name: string, works: boolean) => ({
      name,
      take: async () => {
        taken.push(name);
        if (!works) throw new Error(`${name} is closed`);
      },
    });
    await firstWorkingStrategy([way('a', false), way('b', true), way('c', true)], report, 'help');
    expect(taken).to.deep.equal(['a', 'b']);
    expect(said).to.deep.equal(['  a: no (a is closed)']);
    const error = await refusal(firstWorkingStrategy([way('a', false), way('b', false)], report, 'Do this or that.'));
    expect(error).to.match(/^Do this or that\./);
    expect(error).to.contain('a: a is closed').and.to.contain('b: b is closed');
  });
});

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('expected a refusal');
}
