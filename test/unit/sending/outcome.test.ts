import { expect } from 'chai';
import { type Attempt, resultKind, resultOf, retryAfter } from '../../../services/sending/outcome.ts';
import { policies } from '../../../services/sending/policy.ts';

const attempt = (change: Partial<Attempt> = {}): Attempt => ({
  id: 'a',
  policy: policies.TRANSACTIONAL,
  number: 1,
  unknownOutcomes: 0,
  ...change,
});

describe('the retry schedule', () => {
  it('waits 1, 5, 15 and 40 minutes at first', () => {
    expect([1, 2, 3, 4].map((attempts) => retryAfter(attempts, 0.5))).to.deep.equal([60, 300, 900, 2400]);
  });

  it('never shortens its delays and ends after about a day', () => {
    const waits: number[] = [];
    for (let attempts = 1; ; attempts++) {
      const wait = retryAfter(attempts, 0.5);
      if (wait === undefined) break;
      waits.push(wait);
    }
    expect(waits).to.deep.equal([...waits].sort((a, b) => a - b));
    const days = waits.reduce((sum, wait) => sum + wait, 0) / 86_400;
    expect(days).to.be.within(1, 1.1);
  });

  it('adds a jitter of 20 percent to every delay', () => {
    expect([0, 1].map((chance) => retryAfter(1, chance))).to.deep.equal([48, 72]);
  });
});

describe('the result of an attempt', () => {
  it('is SENT with the relay’s id and answer when the relay accepted the mail', () => {
    const result = resultOf(attempt(), { kind: 'sent', providerMessageId: 'abc', answer: '250 queued as abc' });
    expect(result).to.deep.equal({
      status: 'SENT',
      reason: null,
      outcome: 'sent',
      providerMessageId: 'abc',
      answer: '250 queued as abc',
    });
    expect(resultKind(result)).to.equal('sent');
  });

  it('is FAILED with the relay’s reply when the mail was refused', () => {
    const result = resultOf(attempt(), { kind: 'refused', reason: '550 no such user' });
    expect(result).to.deep.equal({ status: 'FAILED', reason: '550 no such user', outcome: 'refused' });
    expect(resultKind(result)).to.equal('failed');
  });

  for (const concerns of ['recipient', 'domain'] as const)
    it(`is PENDING with a delay when the mail was deferred (${concerns})`, () => {
      const result = resultOf(attempt({ number: 2 }), { kind: 'deferred', reason: '451 later', concerns });
      expect(result).to.deep.include({ status: 'PENDING', reason: '451 later', outcome: 'deferred' });
      expect(result.retryAfterSeconds).to.be.within(240, 360);
      expect(resultKind(result)).to.equal('deferred');
    });

  it('is FAILED when the mail was deferred for a day', () => {
    const result = resultOf(attempt({ number: 13 }), { kind: 'deferred', reason: '451 later', concerns: 'recipient' });
    const reason = 'gave up after 13 attempts: 451 later';
    expect(result).to.deep.equal({ status: 'FAILED', reason, outcome: 'deferred', answer: '451 later' });
    expect(resultKind(result)).to.equal('failed');
  });

  it('is PENDING without an attempt when the relay was unreachable', () => {
    const result = resultOf(attempt(), { kind: 'unreachable', reason: 'ECONNREFUSED' });
    expect(result).to.deep.equal({ status: 'PENDING', reason: 'ECONNREFUSED', outcome: null });
    expect(resultKind(result)).to.equal(undefined);
  });

  for (const sourceType of ['TRANSACTIONAL', 'WORKFLOW'] as const) {
    it(`is PENDING after a first unknown outcome and UNKNOWN after a second (${sourceType})`, () => {
      const policy = policies[sourceType];
      const outcome = { kind: 'unknown', reason: 'no answer' } as const;
      const first = resultOf(attempt({ policy }), outcome);
      expect(first).to.include({ status: 'PENDING', outcome: 'unknown' }).and.not.have.property('retryAfterSeconds');
      const second = resultOf(attempt({ policy, number: 2, unknownOutcomes: 1 }), outcome);
      expect(second).to.include({ status: 'UNKNOWN', outcome: 'unknown' });
      expect(second.reason).to.equal('the outcome of attempt 2 is unknown: no answer');
      expect(resultKind(second)).to.equal('unknown');
    });
  }

  it('is UNKNOWN after the first unknown outcome of campaign mail', () => {
    const result = resultOf(attempt({ policy: policies.CAMPAIGN }), { kind: 'unknown', reason: 'no answer' });
    expect(result).to.include({ status: 'UNKNOWN', outcome: 'unknown' });
  });
});
