import { ServiceError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { NamespaceNotFoundError, PayloadConverterError, WorkflowNotFoundError } from '@temporalio/common';
import { expect } from 'chai';
import { classifyError } from '../../../temporal/carry-out.ts';

/** As the client wraps what gRPC says. */
const answered = (code: number, details = 'as told') =>
  new ServiceError('Failed to start Workflow', {
    cause: Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} }),
  });

describe('whose fault a failure is', () => {
  const start = { action: 'start' } as const;

  it('nobody’s, when the workflow was started before', () => {
    expect(classifyError(start, new WorkflowExecutionAlreadyStartedError('twice', 'id', 'type'))).to.deep.equal({
      done: true,
    });
  });

  it('nobody’s, when the workflow to be signalled or cancelled is over', () => {
    const gone = new WorkflowNotFoundError('gone', 'id', undefined);
    expect(classifyError({ action: 'signal' }, gone)).to.deep.equal({ done: true });
    expect(classifyError({ action: 'cancel' }, gone)).to.deep.equal({ done: true });
  });

  for (const [name, code] of [
    ['INVALID_ARGUMENT', 3],
    ['FAILED_PRECONDITION', 9],
    ['OUT_OF_RANGE', 11],
  ] as const) {
    it(`the order’s, on ${name}`, () => {
      expect(classifyError(start, answered(code))).to.include({
        done: false,
        cause: 'message',
        message: `${code}: as told`,
      });
    });
  }

  it('the order’s, when it cannot be put into words or is too long', () => {
    expect(classifyError(start, new PayloadConverterError('a function'))).to.include({
      cause: 'message',
      message: 'a function',
    });
    const tooLong = answered(8, 'Received message larger than max (5000000 vs 4194304)');
    expect(classifyError(start, tooLong)).to.include({ cause: 'message' });
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
      expect(classifyError(start, answered(code))).to.include({ done: false, cause: 'temporal' });
    });
  }

  it('Temporal’s, when the namespace or a search attribute is missing', () => {
    expect(classifyError(start, new NamespaceNotFoundError('everpost'))).to.include({ cause: 'temporal' });
    expect(classifyError(start, new WorkflowNotFoundError('no namespace', 'id', undefined))).to.include({
      cause: 'temporal',
    });
    const attribute = answered(3, 'Namespace default has no mapping defined for search attribute ProjectId');
    expect(classifyError(start, attribute)).to.include({ cause: 'temporal' });
  });

  it('Temporal’s, when the call itself broke', () => {
    const broken = new ServiceError('Unexpected error while making gRPC request', { cause: new Error('closed') });
    expect(classifyError(start, broken)).to.include({ cause: 'temporal' });
  });
});
