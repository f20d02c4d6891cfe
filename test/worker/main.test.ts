import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../dev/ports.ts';
import { compiledProgram } from '../../dev/program.ts';
import { root } from '../../dev/root.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { type Env, withoutSettings } from '../support/processes.ts';

/** Runs a worker that is expected to exit. */
async function start(args: string[], env: Env): Promise<{ code: unknown; output: string }> {
  const file = join(await compiledProgram(), 'worker/main.js');
  return new Promise((done) => {
    const options = { cwd: root, env: { ...withoutSettings(process.env), NODE_ENV: 'test', ...env }, timeout: 240_000 };
    execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) =>
      done({ code: error ? error.code : 0, output: stdout + stderr }),
    );
  });
}

describe('the worker refuses to start', () => {
  let empty: TestDatabase;

  before(async () => {
    empty = await createEmptyDatabase();
  });
  after(() => empty.drop());

  it('with an unknown role', async () => {
    const { code, output } = await start(['--roles', 'mail,post'], {});
    expect(code).to.equal(1);
    expect(output.trim()).to.equal('There is no role "post". The roles are workflows, mail, bulk, relay.');
  });

  it('without the settings of its roles, all named in one message', async () => {
    const all = await start([], {});
    expect(all.code).to.equal(1);
    for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'SMTP_URL']) expect(all.output).to.include(`"${name}"`);
    const relay = await start(['--roles', 'relay'], {});
    expect(relay.output).to.include('"TEMPORAL_ADDRESS"').and.not.include('"SMTP_URL"');
  });

  it('on a database with pending migrations', async () => {
    const env = {
      DATABASE_URL: empty.url,
      TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
      SMTP_URL: 'smtp://127.0.0.1:1',
    };
    const { code, output } = await start([], env);
    expect(code).to.equal(1);
    expect(output).to.match(
      /^The database lacks the migrations 001-baseline.*: run npm run migrate, then start again\.$/m,
    );
  });
});
