// A child of the test runner: runs test files one after the other, each as a mocha of its own in this process.
import './test-timings.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Mocha from 'mocha';
import { processorSeconds } from '../../bench/processor-time.ts';
import { root } from '../../dev/root.ts';
import type { FileResult, ToChild } from '../../dev/testing/messages.ts';
import { endFile } from './cleanup.ts';
import { unseenAnswers } from './declared-answers.ts';
import { mochaGlobalTeardown, mochaHooks } from './hooks.ts';
import { sendToRunner } from './runner.ts';
import { unusedStatements } from './statement-watcher.ts';

const compiled = join(import.meta.dirname, '../..');
const { timeout } = JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8')) as { timeout: number };

async function runFile(file: string, grep: string | undefined): Promise<FileResult> {
  const startedAt = performance.now();
  const cpuBefore = processorSeconds(process.pid);
  const output = captureOutput();
  const failures: string[] = [];
  const fail = (failure: string) => {
    failures.push(failure);
    sendToRunner({ kind: 'failure', file, failure });
  };
  const mocha = new Mocha({ timeout, reporter: 'spec', color: process.env.EVERPOST_TEST_COLOR !== undefined });
  if (grep) mocha.grep(new RegExp(grep));
  mocha.rootHooks(mochaHooks);
  mocha.addFile(join(compiled, file.replace(/\.ts$/, '.js')));
  let passed = 0;
  try {
    await mocha.loadFilesAsync();
    await new Promise<void>((done) => {
      const runner = mocha.run(() => done());
      runner.on('pass', () => passed++);
      runner.on('fail', (test, error) => fail(`${test.titlePath().join(' > ')}: ${reasonOf(error)}`));
    });
  } catch (error) {
    fail(`it cannot be loaded: ${reasonOf(error)}`);
    console.log(error);
  } finally {
    output.end();
    mocha.dispose();
  }
  await endFile().catch((error: unknown) => fail(`it left something open: ${reasonOf(error)}`));
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = processorSeconds(process.pid) - cpuBefore;
  return { file, passed, failed: failures.length, failures, seconds, cpu, output: output.text() };
}

/** Keeps what is printed, so that the runner can print it file by file. */
function captureOutput(): { text(): string; end(): void } {
  const printed: string[] = [];
  const streams = [process.stdout, process.stderr];
  const originals = streams.map((stream) => stream.write);
  for (const stream of streams)
    stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      printed.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
      const callback = rest.find((one) => typeof one === 'function') as (() => void) | undefined;
      callback?.();
      return true;
    }) as typeof stream.write;
  return {
    text: () => printed.join(''),
    end: () => {
      streams.forEach((stream, n) => {
        stream.write = originals[n] as typeof stream.write;
      });
    },
  };
}

/** CI may show the last lines only, so they say why a test failed: with where, and what differed. */
function reasonOf(error: unknown): string {
  const {
    message = String(error),
    stack = '',
    actual,
    expected,
  } = (error ?? {}) as Partial<Error & { actual: unknown; expected: unknown }>;
  const place = /\(?([^\s(]*\btest\/[^\s)]+:\d+:\d+)\)?/.exec(stack)?.[1] ?? 'an unknown place';
  const difference =
    actual === undefined && expected === undefined
      ? ''
      : ` [${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}]`;
  return `${message}${difference}, at ${place}`.replace(/\s+/g, ' ').slice(0, 1_000);
}

async function end(): Promise<void> {
  sendToRunner({
    kind: 'leftovers',
    leftovers: { unusedStatements: unusedStatements(), unseenAnswers: unseenAnswers() },
  });
  await mochaGlobalTeardown();
  process.off('disconnect', exit);
  process.disconnect();
}

process.on('message', (message: ToChild) => {
  if (message.kind === 'run')
    void runFile(message.file, message.grep).then((result) => sendToRunner({ kind: 'result', result }));
  if (message.kind === 'end')
    void end().catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
});
const exit = () => process.exit(1);
// The runner has died.
process.on('disconnect', exit);
sendToRunner({ kind: 'ready' });
