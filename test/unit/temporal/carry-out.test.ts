import { ServiceError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { NamespaceNotFoundError, PayloadConverterError, WorkflowNotFoundError } from '@temporalio/common';
import { expect } from 'chai';
import { classifyError } from '../../../temporal/send.ts';

/** A gRPC error as the client wraps it. */
const grpcError = (code: number, details = 'details') =>
  new ServiceError('Failed to start Workflow', {
    cause: Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} }),
  });

describe('the result of an outbox message', () => {
  const start = { action: 'start' } as const;

  it('is done when the workflow was started before', () => {
    expect(classifyError(start, new WorkflowExecutionAlreadyStartedError('twice', 'id', 'type'))).to.deep.equal({
      done: true,
    });
  });

  it('is done when the workflow to signal or cancel has ended', () => {
    const gone = new WorkflowNotFoundError('gone', 'id', undefined);
    expect(classifyError({ action: 'signal' }, gone)).to.deep.equal({ done: true });
    expect(classifyError({ action: 'cancel' }, gone)).to.deep.equal({ done: true });
  });

  for (const [name, code] of [
    ['INVALID_ARGUMENT', 3],
    ['FAILED_PRECONDITION', 9],
    ['OUT_OF_RANGE', 11],
  ] as const) {
    it(`is a failure of the message on ${name}`, () => {
      expect(classifyError(start, grpcError(code))).to.include({
        done: false,
        cause: 'message',
        message: `${code}: details`,
      });
    });
  }

  it('is a failure of the message when it cannot be serialized or is too large', () => {
    expect(classifyError(start, new PayloadConverterError('a function'))).to.include({
      cause: 'message',
      message: 'a function',
    });
    const tooLarge = grpcError(8, 'Received message larger than max (5000000 vs 4194304)');
    expect(classifyError(start, tooLarge)).to.include({ cause: 'message' });
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
    it(`is a failure of Temporal on ${name}`, () => {
      expect(classifyError(start, grpcError(code))).to.include({ done: false, cause: 'temporal' });
    });
  }

  it('is a failure of Temporal when the namespace or a search attribute is missing', () => {
    expect(classifyError(start, new NamespaceNotFoundError('everpost'))).to.include({ cause: 'temporal' });
    expect(classifyError(start, new WorkflowNotFoundError('no namespace', 'id', undefined))).to.include({
      cause: 'temporal',
    });
    const attribute = grpcError(3, 'Namespace default has no mapping defined for search attribute ProjectId');
    expect(classifyError(start, attribute)).to.include({ cause: 'temporal' });
  });

  it('is a failure of Temporal when the call broke', () => {
    const broken = new ServiceError('Unexpected error while making gRPC request', { cause: new Error('closed') });
    expect(classifyError(start, broken)).to.include({ cause: 'temporal' });
  });
});
