import { resolve } from 'node:path';
import { expect } from 'chai';
import { register } from 'tsx/esm/api';
import { root } from '../../../dev/root.ts';
import { type Violation, validationError } from '../../../platform/errors.ts';

interface ProblemModule {
  SEE_VIOLATIONS: string;
  ApiProblem: { of(status: number, body: unknown): Error };
}

const source = resolve(root, 'web/app/src');

describe('the message of an error of the API', () => {
  let problem: ProblemModule | undefined;
  const browser = globalThis as { document?: unknown; navigator?: unknown };
  const hasNavigator = browser.navigator !== undefined;

  before(async () => {
    // Formats follow the language of the document.
    browser.document = { documentElement: { lang: 'en' } };
    // Node has one from 21 on.
    if (!hasNavigator) browser.navigator = { languages: ['en'] };
    // Read as files: they belong to a program with the types of a browser.
    const modules = register({ namespace: 'web-app' });
    await (await modules.import(`${source}/texts/index.ts`, import.meta.url)).loadTexts('en');
    problem = (await modules.import(`${source}/api/problem.ts`, import.meta.url)) as ProblemModule;
    await modules.unregister();
  });
  after(() => {
    delete browser.document;
    if (!hasNavigator) delete browser.navigator;
  });

  const textOf = (message: string, errors: Partial<Violation>[]): string =>
    problem?.ApiProblem.of(422, { error: { code: 'VALIDATION_ERROR', message, errors } }).message ?? '';
  const generic = validationError([]).message;

  it('is that of the violations instead of the general sentence', () => {
    expect(problem?.SEE_VIOLATIONS).to.equal(generic);
    const errors = [{ message: '"name" is required' }, { message: '"from" must be an address' }];
    expect(textOf(generic, errors)).to.equal('"name" is required. "from" must be an address.');
    expect(textOf(generic, [])).to.equal(generic);
  });

  it('names the position and the value of an entry of a list', () => {
    expect(textOf(generic, [{ message: '"emails[2]" must be a valid email', received: 'cat' }])).to.equal(
      'Entry 3 of emails (“cat”) must be a valid email.',
    );
    expect(textOf(generic, [{ message: '"ips[0]" is not allowed' }])).to.equal('Entry 1 of ips is not allowed.');
  });

  it('keeps a message of its own, and does not repeat what it says', () => {
    const message = 'The template is invalid. Line 1: unknown tag.';
    expect(textOf(message, [{ message: 'Line 1: unknown tag' }])).to.equal(message);
  });
});
