import { expect } from 'chai';
import { pino } from 'pino';
import { logSerializers } from '../../../platform/logger.ts';
import { logFailure } from '../../../platform/outages.ts';
import { eventually } from '../../support/waiting.ts';

describe('the log of failures', () => {
  const recorded = () => {
    const lines: Record<string, unknown>[] = [];
    const write = (line: string) => void lines.push(JSON.parse(line));
    return { lines, log: pino({ serializers: logSerializers }, { write }) };
  };
  const refused = (statement: string) =>
    Object.assign(new Error(`${statement} - connect ECONNREFUSED 127.0.0.1:5432`), { code: 'ECONNREFUSED' });

  it('names the cause of an outage once, then counts', async () => {
    const { lines, log } = recorded();
    for (let n = 0; n < 5; n++)
      logFailure(log, { err: refused(`select ${n}`), loop: `loop ${n}` }, 'loop round failed; retrying');
    expect(lines).to.have.length(1);
    const cause = 'connect ECONNREFUSED 127.0.0.1:5432';
    expect(lines[0]).to.include({ msg: 'database is unavailable', cause, loop: 'loop 0' });
    expect(lines[0]).to.not.have.property('err');
    await eventually(() => lines.length > 1, { what: 'the count' });
    expect(lines[1]).to.include({ cause, failures: 4 });
  });

  it('has a line for each cause', () => {
    const { lines, log } = recorded();
    const shutdown = Object.assign(new Error('terminating connection'), { code: '57P01' });
    const deadline = (seconds: number) =>
      Object.assign(new Error('Failed to describe schedule'), {
        cause: Object.assign(new Error(`4 DEADLINE_EXCEEDED: after ${seconds}s`), { code: 4, details: '' }),
      });
    for (const err of [refused('a'), shutdown, deadline(1), refused('b'), shutdown, deadline(2)])
      logFailure(log, { err }, 'failed');
    expect(lines.map(({ msg, cause }) => `${msg}: ${cause}`)).to.deep.equal([
      'database is unavailable: connect ECONNREFUSED 127.0.0.1:5432',
      'database is unavailable: terminating connection',
      'Temporal is unavailable: 4 DEADLINE_EXCEEDED: after 1s',
    ]);
  });

  it('has every other error with its stack', () => {
    const { lines, log } = recorded();
    for (let n = 0; n < 2; n++) logFailure(log, { err: new TypeError('x is undefined'), loop: 'a' }, 'failed');
    expect(lines).to.have.length(2);
    for (const { err, msg, loop } of lines) {
      expect({ msg, loop }).to.deep.equal({ msg: 'failed', loop: 'a' });
      expect((err as Error).stack).to.contain('outages.test');
    }
  });
});
