import { expect } from 'chai';
import { retryAfter } from '../../../services/emails/delivery-retry.ts';
import { type MailInFlight, resultKind, settle } from '../../../services/emails/delivery-settlement.ts';

const mail = (change: Partial<MailInFlight> = {}): MailInFlight => ({
  id: 'a',
  sourceType: 'TRANSACTIONAL',
  attempts: 1,
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
  it('is SENT with the relay’s id when the relay accepted the mail', () => {
    const settlement = settle(mail(), { kind: 'sent', providerMessageId: 'abc' });
    expect(settlement).to.deep.equal({ status: 'SENT', reason: null, providerMessageId: 'abc' });
    expect(resultKind(settlement)).to.equal('sent');
  });

  it('is FAILED with the relay’s reply when the mail was refused', () => {
    const settlement = settle(mail(), { kind: 'refused', reason: '550 no such user' });
    expect(settlement).to.deep.equal({ status: 'FAILED', reason: '550 no such user' });
    expect(resultKind(settlement)).to.equal('failed');
  });

  it('is PENDING with a delay when the mail was deferred', () => {
    const settlement = settle(mail({ attempts: 2 }), { kind: 'deferred', reason: '451 later', concerns: 'recipient' });
    expect(settlement).to.deep.include({ status: 'PENDING', reason: '451 later' });
    expect(settlement.retryAfterSeconds).to.be.within(240, 360);
    expect(resultKind(settlement)).to.equal('deferred');
  });

  it('is FAILED when the mail was deferred for a day', () => {
    const settlement = settle(mail({ attempts: 13 }), { kind: 'deferred', reason: '451 later', concerns: 'recipient' });
    const reason = 'gave up after 13 attempts: 451 later';
    expect(settlement).to.deep.equal({ status: 'FAILED', reason, gaveUp: true });
  });

  it('counts no attempt when the relay was unreachable', () => {
    const settlement = settle(mail(), { kind: 'unreachable', reason: 'ECONNREFUSED' });
    expect(settlement).to.deep.equal({ status: 'PENDING', reason: 'ECONNREFUSED', attemptNotCounted: true });
    expect(resultKind(settlement)).to.equal(undefined);
  });

  for (const sourceType of ['TRANSACTIONAL', 'WORKFLOW'] as const) {
    it(`is PENDING after a first unknown outcome and UNKNOWN after a second (${sourceType})`, () => {
      const outcome = { kind: 'unknown', reason: 'no answer' } as const;
      const first = settle(mail({ sourceType }), outcome);
      expect(first).to.include({ status: 'PENDING', unknown: true }).and.not.have.property('retryAfterSeconds');
      const second = settle(mail({ sourceType, attempts: 2, unknownOutcomes: 1 }), outcome);
      expect(second).to.include({ status: 'UNKNOWN', unknown: true });
      expect(second.reason).to.equal('the outcome of attempt 2 is unknown: no answer');
      expect(resultKind(second)).to.equal('unknown');
    });
  }

  it('is UNKNOWN after the first unknown outcome of campaign mail', () => {
    const settlement = settle(mail({ sourceType: 'CAMPAIGN' }), { kind: 'unknown', reason: 'no answer' });
    expect(settlement).to.include({ status: 'UNKNOWN', unknown: true });
  });
});
