import { expect } from 'chai';
import { DomainPace } from '../../../services/sending/domain-pace.ts';

describe('the pace of recipient domains', () => {
  let clock: number;
  let pace: DomainPace;
  /** The places that the ceiling of `limited.example` has left. */
  let places: number;

  beforeEach(() => {
    clock = 1_000_000;
    places = 0;
    const limit = {
      delay: () => (places > 0 ? 0 : 250),
      estimate: () => (places > 0 ? 0 : 250),
      take: () => places--,
    };
    pace = new DomainPace({
      ceilings: new Map([['limited.example', 4]]),
      limitOf: (key, perSecond) => {
        expect([key, perSecond]).to.deep.equal(['domain/limited.example', 4]);
        return limit;
      },
      connections: 20,
      clock: () => clock,
    });
  });

  /** Sends as much as the pace allows for some seconds. Mail above `capacity` per second is deferred. */
  const run = (domain: string, seconds: number, { capacity = Number.POSITIVE_INFINITY, most = 200 } = {}) => {
    const total = { sent: 0, deferred: 0 };
    for (let second = 0; second < seconds; second++) {
      let offered = 0;
      let accepted = 0;
      for (const end = clock + 1_000; clock < end; clock += 5) {
        if (offered >= most || pace.take(domain) > 0) continue;
        offered++;
        if (accepted < capacity) {
          accepted++;
          pace.onAccepted(domain);
        } else {
          total.deferred++;
          pace.onDeferred(domain, clock);
        }
      }
      total.sent += accepted;
    }
    return total;
  };
  const rateOf = (domain: string) => pace.slowed().find((each) => each.domain === domain)?.perSecond;

  it('limits no domain that defers nothing', () => {
    for (let n = 0; n < 1_000; n++) expect(pace.take('fast.example')).to.equal(0);
    expect(pace.delayOf('fast.example')).to.equal(0);
    expect(pace.perSecondOf('fast.example')).to.equal(undefined);
    expect(pace.slowed()).to.deep.equal([]);
  });

  it('halves the rate of a domain that defers, and of no other', () => {
    run('busy.example', 2, { most: 40 });
    pace.onDeferred('busy.example');
    expect(pace.slowed()).to.deep.equal([{ domain: 'busy.example', perSecond: 20 }]);
    expect(pace.take('busy.example')).to.equal(50);
    expect(pace.delayOf('busy.example')).to.equal(50);
    expect(pace.perSecondOf('busy.example')).to.equal(20);
    expect(pace.take('other.example')).to.equal(0);
    clock += 50;
    expect(pace.take('busy.example')).to.equal(0);
  });

  it('counts deferrals of mail that had left before as one', () => {
    run('busy.example', 2, { most: 40 });
    const startedAt = clock;
    for (let n = 0; n < 10; n++) pace.onDeferred('busy.example', startedAt);
    expect(rateOf('busy.example')).to.equal(20);
    clock += 5_000;
    pace.onDeferred('busy.example', startedAt);
    expect(rateOf('busy.example')).to.equal(20);
    pace.onDeferred('busy.example', clock - 100);
    expect(rateOf('busy.example')).to.equal(10);
  });

  it('raises the rate step by step while mail is accepted, and then limits it no longer', () => {
    run('busy.example', 2, { most: 40 });
    pace.onDeferred('busy.example');
    run('busy.example', 15);
    expect(rateOf('busy.example')).to.be.within(28, 32);
    run('busy.example', 20);
    expect(pace.slowed()).to.deep.equal([]);
    expect(run('busy.example', 1, { most: 200 }).sent).to.equal(200);
  });

  it('does not raise the rate without accepted mail', () => {
    run('busy.example', 2, { most: 40 });
    pace.onDeferred('busy.example');
    clock += 600_000;
    expect(rateOf('busy.example')).to.equal(20);
    // A single mail counts for a second, not for the whole silence.
    pace.onAccepted('busy.example');
    expect(rateOf('busy.example')).to.be.within(20, 21);
  });

  it('finds the rate that a domain takes, with few deferrals', () => {
    run('busy.example', 30, { capacity: 20 });
    const { sent, deferred } = run('busy.example', 300, { capacity: 20 });
    expect(sent / 300).to.be.within(12, 20);
    expect(deferred / sent).to.be.below(0.05);
  });

  it('never stops a domain altogether, and lets it recover', () => {
    for (let n = 0; n < 50; n++, clock += 2_000) pace.onDeferred('down.example', clock);
    expect(rateOf('down.example')).to.equal(0.1);
    run('down.example', 600);
    expect(pace.slowed()).to.deep.equal([]);
  });

  it('forgets a deferral after an hour', () => {
    pace.onDeferred('busy.example');
    clock += 3_600_000;
    expect(pace.slowed()).to.deep.equal([]);
    expect(pace.take('busy.example')).to.equal(0);
    expect(pace.take('busy.example')).to.equal(0);
  });

  it('lists the slowest domains first', () => {
    run('fast.example', 2, { most: 100 });
    pace.onDeferred('fast.example');
    pace.onDeferred('slow.example');
    expect(pace.slowed().map(({ domain }) => domain)).to.deep.equal(['slow.example', 'fast.example']);
  });

  it('takes places of a ceiling, and none for an estimate', () => {
    expect(pace.take('limited.example')).to.equal(250);
    places = 2;
    expect(pace.delayOf('limited.example')).to.equal(0);
    expect([1, 2, 3].map(() => pace.take('limited.example'))).to.deep.equal([0, 0, 250]);
    expect(pace.delayOf('limited.example')).to.equal(250);
    expect(pace.perSecondOf('limited.example')).to.equal(4);
  });

  it('uses the lower one of ceiling and pace', () => {
    places = 100;
    pace.onDeferred('limited.example');
    expect(pace.perSecondOf('limited.example')).to.equal(1);
    expect(pace.take('limited.example')).to.equal(1_000);
    expect(places).to.equal(100);
  });

  describe('with connections in use', () => {
    const enter = (domain: string, count: number) => {
      for (let n = 0; n < count; n++) pace.enter(domain);
    };
    /** Makes one domain fast, because domains are slow only in comparison. */
    const useFast = () => {
      pace.enter('fast.example');
      pace.leave('fast.example');
    };

    it('leaves a fifth of the connections to other domains', () => {
      enter('large.example', 16);
      expect(pace.take('large.example')).to.be.above(0);
      expect(pace.take('other.example')).to.equal(0);
      pace.leave('large.example');
      expect(pace.take('large.example')).to.equal(0);
    });

    it('gives all connections to a fast domain while no mail to another one waits', () => {
      enter('large.example', 1);
      clock += 100;
      pace.leave('large.example');
      enter('large.example', 19);
      expect(pace.take('large.example')).to.be.above(0);
      expect(pace.take('large.example', { isAlone: true })).to.equal(0);
      clock += 1_500;
      expect(pace.take('large.example', { isAlone: true })).to.be.above(0);
    });

    it('leaves a fifth of the connections to other domains while a domain has not answered yet', () => {
      enter('new.example', 16);
      expect(pace.take('new.example', { isAlone: true })).to.be.above(0);
    });

    it('leaves a quarter of the connections to a domain whose answers take seconds', () => {
      useFast();
      enter('slow.example', 5);
      expect(pace.take('slow.example')).to.equal(0);
      clock += 4_000;
      expect(pace.take('slow.example')).to.be.above(0);
      expect(pace.delayOf('slow.example')).to.be.at.least(3_000);
      expect(pace.take('other.example')).to.equal(0);
    });

    it('does not limit a domain while all are slow', () => {
      enter('slow.example', 5);
      clock += 4_000;
      expect(pace.take('slow.example')).to.equal(0);
      expect(pace.delayOf('slow.example')).to.equal(0);
    });

    it('does not divide three connections', () => {
      const few = new DomainPace({ ceilings: new Map(), limitOf: expect.fail, connections: 3, clock: () => clock });
      for (let n = 0; n < 2; n++) few.enter('large.example');
      expect(few.take('large.example')).to.equal(0);
    });
  });
});
