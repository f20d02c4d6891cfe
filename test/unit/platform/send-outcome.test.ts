import { expect } from 'chai';
import { SmtpFailure } from '../../../platform/smtp/conversation.ts';
import { outcomeOfFailure, providerIdOf, type SmtpStep } from '../../../platform/smtp/outcome.ts';

const answer = (responseCode: number, text = 'reply') =>
  new SmtpFailure('answer', text, { code: responseCode, text: `${responseCode} ${text}` });

const steps: SmtpStep[] = ['MAIL', 'RCPT', 'DATA', 'text'];
const atText = { step: 'text', handedOver: true } as const;
const at = (step: SmtpStep) => (step === 'text' ? atText : ({ step, handedOver: false } as const));

describe('outcomeOfFailure', () => {
  for (const code of [550, 552, 554])
    it(`returns refused for ${code} at every step`, () => {
      for (const step of steps)
        expect(outcomeOfFailure(answer(code), at(step))).to.deep.equal({ kind: 'refused', reason: `${code} reply` });
    });

  for (const text of [
    '550 5.1.1 User unknown',
    '550-5.1.1 The account does not exist',
    '553 5.1.2 Bad system',
    '501 5.1.3 Syntax',
    '551 5.1.6 Moved',
    '556 5.1.10 Null MX',
    '550 5.2.1 Mailbox disabled',
    '554 5.4.4 No route',
    '550 No such user here',
    '550 User unknown',
    '553 <x@y.example>: mailbox does not exist',
    '550 Unknown user',
    '550 Domain not found',
    '550 sorry, no mailbox here by that name. (#5.1.1)',
    "550 Recipient address doesn't exist",
  ])
    it(`returns a bounce for "${text}" from RCPT on`, () => {
      const failure = new SmtpFailure('answer', text, { code: Number(text.slice(0, 3)), text });
      for (const step of ['RCPT', 'DATA', 'text'] as const)
        expect(outcomeOfFailure(failure, at(step))).to.deep.equal({ kind: 'refused', reason: text, isBounce: true });
      expect(outcomeOfFailure(failure, at('MAIL'))).to.deep.equal({ kind: 'refused', reason: text });
    });

  for (const text of [
    '550 5.7.1 User unknown to our policy',
    '552 5.6.0 Content',
    '552 5.3.4 Too large',
    '552 5.2.2 Mailbox full',
    '550 5.1.8 Sender address rejected: Domain not found',
    '550 Sender address rejected: Domain not found',
    '550 Relaying denied: unknown user',
    '554 No such user here',
    '550 Blocked',
    '550 mailbox unavailable',
  ])
    it(`returns a refusal and no bounce for "${text}"`, () => {
      const failure = new SmtpFailure('answer', text, { code: Number(text.slice(0, 3)), text });
      for (const step of steps)
        expect(outcomeOfFailure(failure, at(step))).to.deep.equal({ kind: 'refused', reason: text });
    });

  for (const code of [530, 534, 535, 538])
    it(`returns unreachable for ${code}`, () => {
      for (const step of steps) expect(outcomeOfFailure(answer(code), at(step)).kind).to.equal('unreachable');
    });

  it('returns unreachable for 421 at MAIL, and deferred for the domain from RCPT on', () => {
    const closing = answer(421);
    expect(outcomeOfFailure(closing, at('MAIL'))).to.deep.equal({ kind: 'unreachable', reason: '421 reply' });
    for (const step of ['RCPT', 'DATA', 'text'] as const)
      expect(outcomeOfFailure(closing, at(step))).to.deep.equal({
        kind: 'deferred',
        reason: '421 reply',
        concerns: 'domain',
      });
  });

  for (const [code, text, concerns] of [
    [450, 'mailbox busy', 'domain'],
    [451, '4.7.1 Too many messages from this network', 'domain'],
    [451, '4.7.500 Server busy: the sending rate is exceeded', 'domain'],
    [452, '4.5.3 too many recipients', 'domain'],
    [454, 'Throttling failure', 'domain'],
    [451, 'local error', 'recipient'],
    [451, 'please separate and generate', 'recipient'],
    [452, '4.2.2 mailbox full', 'recipient'],
    [503, 'too many commands', 'recipient'],
  ] as const)
    it(`returns deferred for the ${concerns} for "${code} ${text}"`, () => {
      for (const step of ['RCPT', 'DATA', 'text'] as const)
        expect(outcomeOfFailure(answer(code, text), at(step))).to.deep.equal({
          kind: 'deferred',
          reason: `${code} ${text}`,
          concerns,
        });
    });

  it('returns deferred for the recipient for a 4xx at MAIL, which concerns the sender', () => {
    for (const code of [450, 451, 452])
      expect(outcomeOfFailure(answer(code, 'too many'), at('MAIL'))).to.include({
        kind: 'deferred',
        concerns: 'recipient',
      });
  });

  it('returns deferred for a connection lost before the hand-over, and unknown after', () => {
    const lost = new SmtpFailure('lost', 'Connection closed');
    const reason = 'Connection closed';
    expect(outcomeOfFailure(lost, at('RCPT'))).to.deep.equal({ kind: 'deferred', reason, concerns: 'recipient' });
    expect(outcomeOfFailure(lost, atText)).to.deep.equal({ kind: 'unknown', reason });
  });

  it('returns unknown for an intermediate reply after the hand-over', () => {
    expect(outcomeOfFailure(answer(354), atText).kind).to.equal('unknown');
  });

  it('returns refused for a mail that cannot be offered', () => {
    const tooLarge = new SmtpFailure('permanent', 'too large');
    expect(outcomeOfFailure(tooLarge, at('MAIL')).kind).to.equal('refused');
  });

  it('removes NUL from a reason and cuts it at 500 characters', () => {
    const reason = outcomeOfFailure(answer(550, `\0${'x'.repeat(5_000)}`), at('RCPT'));
    expect(reason).to.have.property('reason').with.length(500).and.not.match(/\0/);
  });

  it('leaves no half of a character at the end of a reason', () => {
    const text = `${'x'.repeat(495)}\u{1f600}`;
    expect(outcomeOfFailure(answer(550, text), at('RCPT'))).to.have.property('reason', `550 ${'x'.repeat(495)}`);
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

  it('removes NUL, and half a character at the end of a long id', () => {
    expect(providerIdOf('250 queued as a\0b')).to.equal('ab');
    expect(providerIdOf(`250 queued as ${'x'.repeat(199)}\u{1f600}`)).to.equal('x'.repeat(199));
  });
});
