import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { expect } from 'chai';
import { processTimings } from '../../platform/timings.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import '../support/temporal-work.ts';
import {
  currentVersion,
  historyNames,
  readHistory,
  recordedVersions,
  taggedVersions,
  versionsOfTags,
  withoutHistories,
} from './histories.ts';

const files = historyNames(currentVersion);
const read = (file: string) => readHistory(file);
const typeOf = (text: string): string =>
  JSON.parse(text).events[0].workflowExecutionStartedEventAttributes.workflowType.name;

const replay = async (text: string, bundle?: { code: string }) =>
  Worker.runReplayHistory({ workflowBundle: bundle ?? (await workflowBundle()) }, JSON.parse(text));

/** Swaps the last two commands before a webhook is called: the search attribute is written after the activity begins. */
async function swapCommands(): Promise<{ code: string }> {
  const { code } = await workflowBundle();
  const commands = /showStepType\('WEBHOOK'\);\s*await (callExecutionWebhook\(ref, next\.visit\));/;
  expect(code).to.match(commands);
  return { code: code.replace(commands, "const call = $1; showStepType('WEBHOOK'); await call;") };
}

describe('replaying golden histories', () => {
  it('has histories of the current version and of every tagged one', () => {
    expect(withoutHistories([currentVersion, ...taggedVersions()], recordedVersions())).to.deep.equal([]);
    for (const version of recordedVersions()) expect(historyNames(version), version).not.to.deep.equal([]);
  });

  it('names a tagged version without histories', () => {
    const tagged = versionsOfTags(['v0.1.0', 'v99.0.0', 'v2.0.0-beta.1', 'vendor', 'v1', '']);
    expect(tagged).to.deep.equal(['0.1.0', '99.0.0', '2.0.0-beta.1']);
    expect(withoutHistories(tagged, ['0.1.0', '2.0.0-beta.1'])).to.deep.equal(['99.0.0']);
  });

  it('has at least one of every workflow type', async () => {
    // As in front of the bundle.
    globalThis.activityTimings = processTimings.activity;
    const workflows = await import('../../workflows/index.ts');
    expect(new Set(files.map((file) => typeOf(read(file))))).to.deep.equal(new Set(Object.keys(workflows)));
  });

  it('has a history that continues as new, and one that was continued', () => {
    const attributes = files.flatMap((file) => JSON.parse(read(file)).events as Record<string, object>[]);
    expect(attributes.some((event) => 'workflowExecutionContinuedAsNewEventAttributes' in event)).to.equal(true);
    const starts = attributes.flatMap(({ workflowExecutionStartedEventAttributes: start }) => start ?? []);
    expect(starts.some((start) => 'continuedExecutionRunId' in start)).to.equal(true);
  });

  it('has executions that take SPLIT, segment steps and START_WORKFLOW, and rest in a TIME_WINDOW', () => {
    const texts = files.map((file) =>
      [...read(file).matchAll(/"data": ?"([^"]*)"/g)].map(([, data = '']) => Buffer.from(data, 'base64').toString()),
    );
    for (const type of ['SPLIT', 'ADD_TO_SEGMENT', 'REMOVE_FROM_SEGMENT', 'START_WORKFLOW', 'TIME_WINDOW'])
      expect(
        texts.flat().some((text) => text.includes(`${type} \``)),
        type,
      ).to.equal(true);
    expect(texts.flat()).to.include('"TIME_WINDOW"');
  });

  for (const version of recordedVersions())
    for (const file of historyNames(version))
      it(`${file} of ${version} replays with the current workflow code`, () => replay(readHistory(file, version)));

  it('contains no path of the machine that recorded it', () => {
    for (const version of recordedVersions())
      for (const file of historyNames(version))
        expect(readHistory(file, version), file).not.to.match(/\/(?:node_modules|activities|services)\//);
  });

  it('fails for workflow code with two commands swapped', async () => {
    const mutated = await swapCommands();
    const called = files.filter((file) => read(file).includes('"callExecutionWebhook"'));
    expect(called).to.include('execution-1.json');
    for (const file of called) {
      const error = await replay(read(file), mutated).catch((reason: unknown) => reason);
      expect(error, file).to.be.instanceOf(DeterminismViolationError);
    }
    // A history without the swapped commands still matches.
    await replay(read('sender-1.json'), mutated);
  });

  it('fails for a history that does not match the code', async () => {
    const other = read('sender-1.json').replaceAll('"sendMail"', '"somethingElse"');
    const error = await replay(other).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(DeterminismViolationError);
  });
});
