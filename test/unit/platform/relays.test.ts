import { expect } from 'chai';
import { readSettings } from '../../../platform/settings.ts';
import { parseRelays } from '../../../platform/smtp/relay-settings.ts';
import { Relays, type RelaysOptions, type SharedRate } from '../../../platform/smtp/relays.ts';
import { startSmtp } from '../../support/smtp.ts';

/** Nothing listens on port 1. */
const DEAD = 'smtp://127.0.0.1:1';

describe('relays', () => {
  let clock = 0;
  const opened: Relays[] = [];
  const open = (url: string, options: RelaysOptions = {}): Relays => {
    const settings = readSettings({ SMTP_URL: url, SMTP_RELAY_PAUSE_MS: '2000000000' });
    const relays = Relays.fromSettings(settings, { clock: () => clock, ...options });
    opened.push(relays);
    return relays;
  };
  const named = (relays: Relays, name: string) => {
    const relay = relays.byName(name);
    if (!relay) throw new Error(`no relay ${name}`);
    return relay;
  };
  /** Lets the relays take mails in turns; in each turn all of them ask, in this order. Returns how many each took. */
  const take = (relays: Relays, count: number, asking = relays.all): number[] => {
    const taken = new Map(relays.all.map((relay) => [relay, 0]));
    for (let n = 0; n < count; n++) {
      const relay = asking.find((each) => relays.mayTake(each));
      if (!relay) throw new Error('no relay may take a mail');
      relays.took(relay);
      taken.set(relay, (taken.get(relay) ?? 0) + 1);
    }
    return [...taken.values()];
  };

  beforeEach(() => {
    clock = 1_000;
  });
  afterEach(() => {
    for (const relays of opened.splice(0)) relays.close(true);
  });

  it('takes limits from the URL, and SMTP_MAX_CONNECTIONS as default', () => {
    const settings = readSettings({
      SMTP_URL: 'smtp://me:secret@a.example:25?weight=3&ratePerSecond=12.5, smtps://b.example?maxConnections=40',
      SMTP_MAX_CONNECTIONS: '4',
    });
    const relays = Relays.fromSettings(settings);
    const [a, b] = relays.all;
    expect(a).to.include({ name: 'a.example:25', weight: 3, maxConnections: 4, ratePerSecond: 12.5 });
    expect(b).to.include({ name: 'b.example:465', weight: 1, maxConnections: 40, ratePerSecond: undefined });
    expect(relays.byName('b.example:465')).to.equal(b);
    expect(relays.byName('c.example:465')).to.equal(undefined);
  });

  it('lets a single relay take every mail', () => {
    expect(take(open('smtp://a.example'), 100)).to.deep.equal([100]);
  });

  for (const asking of ['first', 'last'])
    it(`divides mail by weight, also when the heaviest relay asks ${asking}`, () => {
      const relays = open('smtp://a.example?weight=3, smtp://b.example, smtp://c.example?weight=0.5');
      const order = asking === 'first' ? relays.all : [...relays.all].reverse();
      expect(take(relays, 900, order)).to.deep.equal([600, 200, 100]);
    });

  it('makes a relay wait that is ahead of its share, and names the wait', () => {
    const relays = open('smtp://a.example, smtp://b.example');
    const a = named(relays, 'a.example:587');
    relays.took(a);
    expect(relays.mayTake(a)).to.equal(false);
    expect(relays.delayOf(a)).to.equal(100);
    expect(relays.canTake(a)).to.equal(true);
    relays.took(named(relays, 'b.example:587'));
    expect(relays.mayTake(a)).to.equal(true);
  });

  it('does not wait for a relay that takes nothing, and does not let it catch up', () => {
    const relays = open('smtp://a.example?weight=4, smtp://b.example');
    const a = named(relays, 'a.example:587');
    const b = named(relays, 'b.example:587');
    for (let n = 0; n < 50; n++) {
      while (!relays.mayTake(b)) clock += relays.delayOf(b);
      relays.took(b);
    }
    // At most the mails of one share at once: four of A for one of B.
    expect(take(relays, 5, [a, b])).to.deep.equal([5, 0]);
    expect(take(relays, 400, [a, b])).to.deep.equal([320, 80]);
  });

  it('holds the others back again when the slow relay takes mail again', () => {
    const relays = open('smtp://a.example, smtp://b.example');
    const a = named(relays, 'a.example:587');
    const b = named(relays, 'b.example:587');
    relays.took(b);
    expect(relays.mayTake(b)).to.equal(false);
    clock += 100;
    expect(relays.mayTake(b)).to.equal(true);
    relays.took(b);
    relays.took(a);
    relays.took(b);
    expect(relays.mayTake(b)).to.equal(false);
  });

  it('gives the share of a relay that is left out to the others', async () => {
    const smtp = await startSmtp();
    const relays = open(`${DEAD}?weight=3, ${smtp.url}, smtp://c.example`);
    const [dead] = relays.all;
    expect(await dead?.connect()).to.have.property('kind', 'unreachable');
    expect(dead && relays.mayTake(dead)).to.equal(false);
    expect(dead && relays.canTake(dead)).to.equal(false);
    expect(take(relays, 100)).to.deep.equal([0, 50, 50]);
    await smtp.close();
  });

  it('gives the share of a relay at its rate to the others', () => {
    let places = 10;
    const rate: SharedRate = {
      delay: () => (places > 0 ? 0 : 250),
      estimate: () => (places > 0 ? 0 : 250),
      take: () => places--,
    };
    const relays = open('smtp://a.example?ratePerSecond=4, smtp://b.example', { limitOf: () => rate });
    expect(take(relays, 100)).to.deep.equal([10, 90]);
    expect(relays.delayOf(named(relays, 'a.example:587'))).to.equal(250);
  });

  it('reserves no place of a relay for the question of another', () => {
    let asked = 0;
    const rate: SharedRate = { delay: () => asked++, estimate: () => 0, take: () => {} };
    const relays = open('smtp://a.example?ratePerSecond=4, smtp://b.example', { limitOf: () => rate });
    relays.took(named(relays, 'b.example:587'));
    expect(relays.mayTake(named(relays, 'b.example:587'))).to.equal(false);
    expect(asked).to.equal(0);
  });
});

describe('SMTP_URL', () => {
  const read = (SMTP_URL: string) => readSettings({ SMTP_URL }).relays;

  it('may be one relay or a list', () => {
    expect(read('smtp://a.example')).to.have.length(1);
    expect(read('smtp://a.example,smtps://b.example ,  smtp://[::1]:25,').map(({ name }) => name)).to.deep.equal([
      'a.example:587',
      'b.example:465',
      '[::1]:25',
    ]);
  });

  it('leaves other options and passwords with commas unchanged', () => {
    const [relay] = parseRelays('smtp://me:a,b%2Cc@a.example:25?tls.rejectUnauthorized=false&weight=2&requireTLS=true');
    expect(relay?.url).to.equal('smtp://me:a,b%2Cc@a.example:25?tls.rejectUnauthorized=false&requireTLS=true');
  });

  for (const [what, url, message] of [
    ['another scheme', 'smtp://a.example, http://me:secret@b.example', 'relay 2 of 2: must be smtp://'],
    ['an entry without scheme', 'smtp://me:secret@a.example, b.example', 'must be smtp://'],
    ['an entry without scheme or space', 'smtp://me:secret@a.example,b.example', 'must be smtp://'],
    ['no host', 'smtp://', 'must be smtp://'],
    ['a broken escape in the host', 'smtp://me:secret@%zz', 'must be smtp://'],
    ['a weight of 0', 'smtp://me:secret@a.example?weight=0', 'weight must be above 0'],
    ['an empty weight', 'smtp://me:secret@a.example?weight=', 'weight must be above 0'],
    [
      'a weight that is no number',
      'smtp://b.example, smtp://me:secret@a.example?weight=x',
      'relay 2 of 2: weight must',
    ],
    ['half a connection', 'smtp://me:secret@a.example?maxConnections=0.5', 'maxConnections must be a whole number'],
    ['a negative rate', 'smtp://me:secret@a.example?ratePerSecond=-1', 'ratePerSecond must be at least 0.01'],
    ['a host and port twice', 'smtp://a.example, smtp://me:secret@A.example:587', 'has the host and port of relay 1'],
  ] as const)
    it(`rejects ${what} without showing the password`, () => {
      expect(() => read(url))
        .to.throw(`"SMTP_URL"`)
        .with.property('message')
        .that.contains(message)
        .and.not.contains('secret');
    });

  it('rejects a 21st relay', () => {
    const urls = Array.from({ length: 21 }, (_, n) => `smtp://a${n}.example`);
    expect(read(urls.slice(0, 20).join(','))).to.have.length(20);
    expect(() => read(urls.join(','))).to.throw('has 21 relays; at most 20');
  });
});

describe('DOMAIN_RATES', () => {
  const read = (DOMAIN_RATES: string) => Object.fromEntries(readSettings({ DOMAIN_RATES }).domainRates);

  it('lists mails a second, minute or hour by domain', () => {
    expect(read('Gmail.com=20/s, example.org = 30/m,müller.example=36/h,')).to.deep.equal({
      'gmail.com': 20,
      'example.org': 0.5,
      'xn--mller-kva.example': 0.01,
    });
    expect(read('')).to.deep.equal({});
  });

  for (const [what, text, message] of [
    ['a rate without unit', 'gmail.com=20', 'entry 1 of 1: must be like gmail.com=20/s'],
    ['a missing rate', 'a.example=1/s,gmail.com', 'entry 2 of 2: must be like'],
    ['an address', 'ann@gmail.com=2/s', 'entry 1 of 1: must be like'],
    ['a rate of 0', 'gmail.com=0/s', 'entry 1 of 1: the rate must be above 0'],
    ['a domain twice', 'gmail.com=1/s,GMAIL.com=2/s', 'entry 2 of 2: names a domain twice'],
  ] as const)
    it(`rejects ${what}`, () => {
      expect(() => read(text))
        .to.throw('"DOMAIN_RATES"')
        .with.property('message')
        .that.contains(message);
    });
});
