import { Assertion, expect } from 'chai';
import type { ErrorCode } from '../../platform/errors.ts';

/** An HTTP answer with its complete body. */
export interface ApiAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the assertions of a test determine the shape of the body
  body: any;
}

declare global {
  namespace Chai {
    interface Assertion {
      status(status: number): Assertion;
      /** The complete error envelope of the contract, with this status and code. */
      envelope(status: number, code: ErrorCode): Assertion;
      /** `{ error: "<text>" }` and nothing else. */
      plainError(status: number): Assertion;
      /** 422 with a validation error of this code on this field. */
      validationError(field: string, code: string): Assertion;
    }
  }
}

Assertion.addMethod('status', function (this: Chai.AssertionStatic, status: number) {
  const answer = this._obj as ApiAnswer;
  expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
});

Assertion.addMethod('envelope', function (this: Chai.AssertionStatic, status: number, code: ErrorCode) {
  const { body, headers, ...answer } = this._obj as ApiAnswer;
  expect(answer.status, JSON.stringify(body)).to.equal(status);
  expect(headers.get('content-type')).to.match(/^application\/json/);
  expect(body).to.have.all.keys('success', 'error', 'timestamp');
  expect(body.success).to.equal(false);
  expect(body.error).to.include({ code, statusCode: status, requestId: headers.get('x-request-id') });
  expect(body.error.message).to.be.a('string').and.not.equal('');
  expect(body.error).to.have.any.keys('code', 'message', 'statusCode', 'requestId', 'errors', 'details', 'suggestion');
  expect(new Date(body.timestamp).toISOString()).to.equal(body.timestamp);
});

Assertion.addMethod('plainError', function (this: Chai.AssertionStatic, status: number) {
  const { body, ...answer } = this._obj as ApiAnswer;
  expect(answer.status, JSON.stringify(body)).to.equal(status);
  expect(body).to.have.all.keys('error');
  expect(body.error).to.be.a('string').and.not.equal('');
});

Assertion.addMethod('validationError', function (this: Chai.AssertionStatic, field: string, code: string) {
  expect(this._obj).to.be.envelope(422, 'VALIDATION_ERROR');
  const { errors } = (this._obj as ApiAnswer).body.error;
  const found = errors.map((error: { field: string; code: string }) => `${error.field}: ${error.code}`);
  expect(found).to.include(`${field}: ${code}`);
  for (const error of errors) expect(error.message).to.be.a('string').and.not.equal('');
});
