import { expect } from 'chai';
import { AnswerChecker, type SentAnswer } from '../../support/declared-answers.ts';

const contact = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' }, data: { type: 'object' }, tags: { type: 'array', items: { type: 'string' } } },
};

const document = {
  openapi: '3.1.0',
  paths: {
    '/contacts/{id}': {
      get: {
        responses: {
          200: {
            headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } },
            content: { 'application/json': { schema: contact } },
          },
          404: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
        },
      },
    },
    '/contacts/fields': { get: { responses: { 204: {} } } },
  },
  components: {
    schemas: { Error: { type: 'object', required: ['error'], properties: { error: { type: 'string' } } } },
    headers: { RequestId: { required: true, schema: { type: 'string' } } },
  },
};

const answer = (body: unknown, more: Partial<SentAnswer> = {}): SentAnswer => ({
  method: 'GET',
  path: '/contacts/1',
  status: 200,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'x' },
  ...more,
});

describe('the check of answers against the OpenAPI document', () => {
  const differencesOf = (sent: SentAnswer): string[] => {
    const checker = new AnswerChecker(document);
    checker.check(sent, 'a test');
    return [...checker.differences.keys()];
  };

  it('accepts an answer as declared, with any fields in an object that declares none', () => {
    expect(differencesOf(answer({ id: '1', data: { any: [1] }, tags: ['a'] }))).to.deep.equal([]);
    expect(differencesOf(answer({ error: 'x' }, { status: 404 }))).to.deep.equal([]);
  });

  it('names operation, status and path for each kind of difference', () => {
    const of = 'GET /contacts/{id} answered';
    expect(differencesOf(answer({ id: 1 }))).to.deep.equal([`${of} 200: /id must be string`]);
    expect(differencesOf(answer({ id: '1', name: 'x' }))).to.deep.equal([`${of} 200: /name is not declared`]);
    expect(differencesOf(answer({ id: '1', tags: ['a', 1] }))).to.deep.equal([`${of} 200: /tags/* must be string`]);
    expect(differencesOf(answer({ error: 'x', code: 1 }, { status: 404 }))).to.deep.equal([
      `${of} 404: /code is not declared`,
    ]);
    expect(differencesOf(answer({}, { status: 410 }))).to.deep.equal([`${of} 410: the status is not declared`]);
    expect(differencesOf(answer({ id: '1' }, { headers: { 'content-type': 'application/json' } }))).to.deep.equal([
      `${of} 200: the header X-Request-Id is missing`,
    ]);
    const html = { 'content-type': 'text/html', 'x-request-id': 'x' };
    expect(differencesOf(answer({ id: '1' }, { headers: html }))).to.deep.equal([
      `${of} 200: text/html is not declared, but application/json`,
    ]);
  });

  it('finds the operation with the literal path first, and requires that an answer without content is empty', () => {
    expect(differencesOf(answer('x', { path: '/contacts/fields', status: 204 }))).to.deep.equal([
      'GET /contacts/fields answered 204: a body of application/json is not declared',
    ]);
  });

  it('lists the declared answers that were not seen', () => {
    const checker = new AnswerChecker(document);
    checker.check(answer({ id: '1' }), 'a test');
    expect(checker.unseen()).to.deep.equal(['GET /contacts/{id} 404', 'GET /contacts/fields 204']);
  });
});
