import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Program, runSideBySide } from '../../dev/side-by-side.ts';
import { eventually } from '../support/waiting.ts';

const never = new Promise<NodeJS.Signals>(() => {});

describe('runSideBySide', () => {
  let dir: string;
  let output: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'everpost-beside-'));
    output = '';
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const program = (script: string): Program => ({ args: ['-e', script], env: process.env, cwd: dir });
  const run = (first: string, second: string, stopSignal = never) =>
    runSideBySide(program(first), program(second), {
      file: join(dir, 'output'),
      stopSignal,
      write: (text) => {
        output += Buffer.from(text).toString();
      },
    });
  const until = (name: string) =>
    `while (!fs.existsSync('${name}')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);`;
  const mark = (name: string) => `fs.writeFileSync('${name}', '');`;

  it('runs both at once and prints the output of the second after the first, complete and in order', async () => {
    // Each waits for the other: run one after the other, they would never end.
    const first = `${mark('one')} ${until('two')}`;
    const second = `${until('one')} console.log('out ü'); console.error('err'); ${mark('two')} console.log('x'.repeat(200_000) + 'end');`;
    const { exits, endedBy } = await run(first, second);
    expect(exits).to.deep.equal([0, 0].map((code) => ({ code, signal: null })));
    expect(endedBy).to.equal(undefined);
    expect(output).to.equal(`out ü\nerr\n${'x'.repeat(200_000)}end\n`);
  });

  it('continues when one program crashes, and returns both exits', async () => {
    const crash = 'process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000);';
    const { exits: one } = await run(crash, 'console.log("second"); process.exitCode = 3;');
    expect(one).to.deep.equal([
      { code: null, signal: 'SIGKILL' },
      { code: 3, signal: null },
    ]);
    expect(output).to.equal('second\n');
    const { exits: other } = await run(mark('done'), crash);
    expect(other).to.deep.equal([
      { code: 0, signal: null },
      { code: null, signal: 'SIGKILL' },
    ]);
    expect(existsSync(join(dir, 'done'))).to.equal(true);
  });

  it('passes the stop signal on to both', async () => {
    const stay = (name: string) => `${mark(name)} setInterval(() => {}, 1000);`;
    const bothRun = eventually(() => ['one', 'two'].every((name) => existsSync(join(dir, name))));
    const { exits, endedBy } = await run(
      stay('one'),
      stay('two'),
      bothRun.then(() => 'SIGTERM' as const),
    );
    expect(exits).to.deep.equal(['SIGTERM', 'SIGTERM'].map((signal) => ({ code: null, signal })));
    expect(endedBy).to.equal('SIGTERM');
  });
});
