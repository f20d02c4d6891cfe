import { expect } from 'chai';
import { DBError } from 'objection';
import {
  isDatabaseUnavailable,
  isDeadlock,
  isDiskFull,
  isOutcomeUnknown,
  isStatementRefused,
  isStatementTimeout,
} from '../../../platform/database-errors.ts';

const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });
const wrapped = (nativeError: Error) => new DBError({ nativeError, client: 'postgres' } as never);

describe('database errors', () => {
  const notSent = [
    coded('ECONNREFUSED'),
    coded('57P03', 'the database system is starting up'),
    coded('53300', 'sorry, too many clients already'),
    coded('53100', 'could not extend file "base/1/2": No space left on device'),
    coded('XX000', 'could not extend file "base/1/2": Disk quota exceeded'),
    coded('25006', 'cannot execute INSERT in a read-only transaction'),
    new Error('timeout expired'),
    new Error('ROLLBACK - Client has encountered a connection error and is not queryable'),
    Object.assign(new Error('Knex: Timeout acquiring a connection.'), { name: 'KnexTimeoutError' }),
    new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')]),
  ];
  const interrupted = [
    coded('57P01', 'terminating connection due to administrator command'),
    coded('ECONNRESET'),
    coded('EPIPE'),
    new Error('Connection terminated unexpectedly'),
    new Error('insert into "contacts" values ($1) - Connection terminated unexpectedly'),
    wrapped(coded('57P01', 'insert - terminating connection')),
    wrapped(new Error('select 1 - Connection terminated unexpectedly')),
    new Error('the work failed', { cause: coded('08006') }),
  ];
  const refused = [coded('23505'), coded('22P05'), coded('40P01'), wrapped(coded('23514'))];

  for (const error of notSent)
    it(`classifies as unavailable with a known outcome: ${error.message || error.name}`, () => {
      expect(isDatabaseUnavailable(error)).to.equal(true);
      expect(isOutcomeUnknown(error)).to.equal(false);
      expect(isStatementRefused(error)).to.equal(false);
    });

  for (const error of interrupted)
    it(`classifies as unavailable with an unknown outcome: ${error.message}`, () => {
      expect(isDatabaseUnavailable(error)).to.equal(true);
      expect(isOutcomeUnknown(error)).to.equal(true);
      expect(isStatementRefused(error)).to.equal(false);
    });

  for (const error of refused)
    it(`classifies as a refused statement: ${(error as { code?: string }).code ?? error.message}`, () => {
      expect(isDatabaseUnavailable(error)).to.equal(false);
      expect(isStatementRefused(error)).to.equal(true);
    });

  it('does not classify a customer text that resembles an outage as unavailable', () => {
    const text = 'Connection terminated unexpectedly';
    expect(isDatabaseUnavailable(coded('22023', `bad value: ${text}`))).to.equal(false);
    expect(isDatabaseUnavailable(new Error(`${text}: said the subject`))).to.equal(false);
  });

  it('recognises a full disk, and not full shared memory', () => {
    expect(isDiskFull(wrapped(coded('53100', 'insert - could not extend file: No space left on device')))).to.equal(
      true,
    );
    expect(isDiskFull(coded('XX000', 'could not write to file "x": Disk quota exceeded'))).to.equal(true);
    expect(isDiskFull(coded('XX000', 'could not extend file "x": File too large'))).to.equal(true);
    expect(isDiskFull(coded('53100', 'could not resize shared memory segment "/x": No space left'))).to.equal(false);
    expect(isDiskFull(coded('22023', 'Disk quota exceeded'))).to.equal(false);
  });

  it('recognises a statement timeout and a deadlock, also when wrapped by Objection', () => {
    expect(isStatementTimeout(wrapped(coded('57014')))).to.equal(true);
    expect(isDatabaseUnavailable(coded('57014'))).to.equal(false);
    expect(isStatementRefused(coded('57014'))).to.equal(false);
    expect(isDeadlock(wrapped(coded('40P01')))).to.equal(true);
  });
});
