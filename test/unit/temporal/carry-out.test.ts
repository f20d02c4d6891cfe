import { ServiceError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { NamespaceNotFoundError, PayloadConverterError, WorkflowNotFoundError } from '@temporalio/common';
import { expect } from 'chai';
import { judge } from '../../../temporal/carry-out.ts';

/** As the client wraps what gRPC says. */
const answered = (code: number, details = 'as told') =>
  new ServiceError('Failed to start Workflow', {
    cause: Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} }),
  });

describe('whose fault a failure is', () => {
  const start = { action: 'start' } as const;

  it('nobody’s, when the workflow was started before', () => {
    expect(judge(start, new WorkflowExecutionAlreadyStartedError('twice', 'id', 'type'))).to.deep.equal({ done: true });
  });

  it('nobody’s, when the workflow to be signalled or cancelled is over', () => {
    const gone = new WorkflowNotFoundError('gone', 'id', undefined);
    expect(judge({ action: 'signal' }, gone)).to.deep.equal({ done: true });
    expect(judge({ action: 'cancel' }, gone)).to.deep.equal({ done: true });
  });

  for (const [name, code] of [
    ['INVALID_ARGUMENT', 3],
    ['FAILED_PRECONDITION', 9],
    ['OUT_OF_RANGE', 11],
  ] as const) {
    it(`the order’s, on ${name}`, () => {
      expect(judge(start, answered(code))).to.include({ done: false, fault: 'order', message: `${code}: as told` });
    });
  }

  it('the order’s, when it cannot be put into words or is too long', () => {
    expect(judge(start, new PayloadConverterError('a function'))).to.include({ fault: 'order', message: 'a function' });
    const tooLong = answered(8, 'Received message larger than max (5000000 vs 4194304)');
    expect(judge(start, tooLong)).to.include({ fault: 'order' });
  });

  for (const [name, code] of [
    ['CANCELLED', 1],
    ['UNKNOWN', 2],
    ['DEADLINE_EXCEEDED', 4],
    ['PERMISSION_DENIED', 7],
    ['RESOURCE_EXHAUSTED', 8],
    ['ABORTED', 10],
    ['UNIMPLEMENTED', 12],
    ['INTERNAL', 13],
    ['UNAVAILABLE', 14],
    ['UNAUTHENTICATED', 16],
  ] as const) {
    it(`Temporal’s, on ${name}`, () => {
      expect(judge(start, answered(code))).to.include({ done: false, fault: 'temporal' });
    });
  }

  it('Temporal’s, when the namespace or a search attribute is missing', () => {
    expect(judge(start, new NamespaceNotFoundError('everpost'))).to.include({ fault: 'temporal' });
    expect(judge(start, new WorkflowNotFoundError('no namespace', 'id', undefined))).to.include({ fault: 'temporal' });
    const attribute = answered(3, 'Namespace default has no mapping defined for search attribute ProjectId');
    expect(judge(start, attribute)).to.include({ fault: 'temporal' });
  });

  it('Temporal’s, when the call itself broke', () => {
    const broken = new ServiceError('Unexpected error while making gRPC request', { cause: new Error('closed') });
    expect(judge(start, broken)).to.include({ fault: 'temporal' });
  });
});
