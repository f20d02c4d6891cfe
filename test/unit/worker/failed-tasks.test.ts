import { expect } from 'chai';
import { pino } from 'pino';
import { bridge, type FailedTask } from '../../../worker/temporal-log.ts';

describe("the SDK's log", () => {
  it('reports a workflow task that failed, with its run and the message of the failure', () => {
    const failed: FailedTask[] = [];
    const log = bridge(pino({ level: 'silent' }), (task) => failed.push(task));
    const failure =
      'Failure { failure: Some(Failure { message: "[TMPRL1100] Nondeterminism error: \\"a\\"", source: "" }) }';
    log.log('WARN', 'Failing workflow task', { runId: 'r', failure });
    log.log('WARN', 'Something else', { runId: 'r', failure });
    expect(failed).to.deep.equal([{ runId: 'r', failure: '[TMPRL1100] Nondeterminism error: \\"a\\"' }]);
  });
});
