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
  it('waits a minute, five, fifteen and forty at first', () => {
    expect([1, 2, 3, 4].map((attempts) => retryAfter(attempts, 0.5))).to.deep.equal([60, 300, 900, 2400]);
  });

  it('never gets more frequent, goes on for about a day and then ends', () => {
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

  it('leaves a fifth of every wait to chance', () => {
    expect([0, 1].map((chance) => retryAfter(1, chance))).to.deep.equal([48, 72]);
  });
});

describe('what becomes of a mail', () => {
  it('is SENT with the provider’s id when the server took it', () => {
    const settlement = settle(mail(), { kind: 'sent', providerMessageId: 'abc' });
    expect(settlement).to.deep.equal({ status: 'SENT', reason: null, providerMessageId: 'abc' });
    expect(resultKind(settlement)).to.equal('sent');
  });

  it('is FAILED with the server’s words when it was refused', () => {
    const settlement = settle(mail(), { kind: 'refused', reason: '550 no such user' });
    expect(settlement).to.deep.equal({ status: 'FAILED', reason: '550 no such user' });
    expect(resultKind(settlement)).to.equal('failed');
  });

  it('is tried again later when it was put off', () => {
    const settlement = settle(mail({ attempts: 2 }), { kind: 'deferred', reason: '451 later' });
    expect(settlement).to.deep.include({ status: 'PENDING', reason: '451 later' });
    expect(settlement.againAfter).to.be.within(240, 360);
    expect(resultKind(settlement)).to.equal('deferred');
  });

  it('is FAILED when it was put off for a day', () => {
    const settlement = settle(mail({ attempts: 13 }), { kind: 'deferred', reason: '451 later' });
    const reason = 'gave up after 13 attempts: 451 later';
    expect(settlement).to.deep.equal({ status: 'FAILED', reason, gaveUp: true });
  });

  it('keeps its attempt when nobody was there to take it', () => {
    const settlement = settle(mail(), { kind: 'unreachable', reason: 'ECONNREFUSED' });
    expect(settlement).to.deep.equal({ status: 'PENDING', reason: 'ECONNREFUSED', unburnt: true });
    expect(resultKind(settlement)).to.equal(undefined);
  });

  for (const sourceType of ['TRANSACTIONAL', 'WORKFLOW'] as const) {
    it(`is tried once more after a first unknown outcome, and UNKNOWN after a second (${sourceType})`, () => {
      const outcome = { kind: 'unknown', reason: 'no answer' } as const;
      const first = settle(mail({ sourceType }), outcome);
      expect(first).to.include({ status: 'PENDING', unknown: true }).and.not.have.property('againAfter');
      const second = settle(mail({ sourceType, attempts: 2, unknownOutcomes: 1 }), outcome);
      expect(second).to.include({ status: 'UNKNOWN', unknown: true });
      expect(second.reason).to.equal('the outcome of attempt 2 is unknown: no answer');
      expect(resultKind(second)).to.equal('unknown');
    });
  }

  it('is UNKNOWN at the first unknown outcome when it belongs to a campaign', () => {
    const settlement = settle(mail({ sourceType: 'CAMPAIGN' }), { kind: 'unknown', reason: 'no answer' });
    expect(settlement).to.include({ status: 'UNKNOWN', unknown: true });
  });
});
