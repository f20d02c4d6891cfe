import { expect } from 'chai';
import { SmtpFailure } from '../../../platform/smtp/conversation.ts';
import { outcomeOfFailure, providerIdOf } from '../../../platform/smtp/outcome.ts';

const answer = (responseCode: number, text = 'reply') =>
  new SmtpFailure('answer', text, { code: responseCode, text: `${responseCode} ${text}` });

describe('outcomeOfFailure', () => {
  for (const [code, kind] of [
    [421, 'deferred'],
    [450, 'deferred'],
    [452, 'deferred'],
    [503, 'deferred'],
    [550, 'refused'],
    [552, 'refused'],
    [554, 'refused'],
  ] as const) {
    it(`returns ${kind} for ${code}, before and after the hand-over`, () => {
      const expected = { kind, reason: `${code} reply` };
      expect(outcomeOfFailure(answer(code), false)).to.deep.equal(expected);
      expect(outcomeOfFailure(answer(code), true)).to.deep.equal(expected);
    });
  }

  for (const code of [530, 534, 535, 538]) {
    it(`returns unreachable for ${code}`, () => {
      expect(outcomeOfFailure(answer(code), false).kind).to.equal('unreachable');
    });
  }

  it('returns deferred for a connection lost before the hand-over, and unknown after', () => {
    const lost = new SmtpFailure('lost', 'Connection closed');
    expect(outcomeOfFailure(lost, false)).to.deep.equal({ kind: 'deferred', reason: 'Connection closed' });
    expect(outcomeOfFailure(lost, true)).to.deep.equal({ kind: 'unknown', reason: 'Connection closed' });
  });

  it('returns unknown for an intermediate reply after the hand-over', () => {
    expect(outcomeOfFailure(answer(354), true).kind).to.equal('unknown');
  });

  it('returns refused for a mail that cannot be offered', () => {
    const tooLarge = new SmtpFailure('permanent', 'too large');
    expect(outcomeOfFailure(tooLarge, false).kind).to.equal('refused');
  });

  it('removes NUL from a reason and cuts it at 500 characters', () => {
    const reason = outcomeOfFailure(answer(550, `\0${'x'.repeat(5_000)}`), false);
    expect(reason).to.have.property('reason').with.length(500).and.not.match(/\0/);
  });
});

describe('providerIdOf', () => {
  for (const [response, id] of [
    ['250 2.0.0 Ok: queued as 4VzQk12mXnz9s', '4VzQk12mXnz9s'],
    ['250 OK id=1rX2ab-0003Ck-1A', '1rX2ab-0003Ck-1A'],
    ['250 Ok 0100018b5c3c0a4f-a1b2c3-000000', '0100018b5c3c0a4f-a1b2c3-000000'],
    ['250 2.0.0 OK  1700000000 d9-20020a05 - gsmtp', '1700000000 d9-20020a05'],
    ['250 2.0.0 OK <x@y.prod.outlook.com> [Hostname=y]', '<x@y.prod.outlook.com>'],
    ['250 thank you', undefined],
  ] as const) {
    it(`returns ${id} for "${response}"`, () => {
      expect(providerIdOf(response)).to.equal(id);
    });
  }
});
