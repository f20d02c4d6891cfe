import { Resolver } from 'node:dns/promises';
import { expect } from 'chai';
import { type DnsStandIn, startDns } from '../../support/dns.ts';

describe('the DNS stand-in', () => {
  let dns: DnsStandIn;
  let resolver: Resolver;

  beforeEach(async () => {
    dns = await startDns();
    resolver = asking(30_000);
  });

  afterEach(() => dns.stop());

  const asking = (timeout: number): Resolver => {
    const made = new Resolver({ timeout, tries: 1 });
    made.setServers([dns.address]);
    return made;
  };

  const codeOf = async (lookUp: Promise<unknown>): Promise<string | undefined> =>
    lookUp.then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code,
    );

  it('returns the configured records of every type', async () => {
    dns.set('Example.com', 'A', ['192.0.2.1']);
    dns.set('example.com', 'AAAA', ['2001:db8::1']);
    dns.set('example.com', 'MX', [{ preference: 10, exchange: 'mx.example.com' }]);
    dns.set('example.com', 'TXT', ['v=spf1 -all', ['two ', 'parts']]);
    expect(await resolver.resolve4('example.com')).to.deep.equal(['192.0.2.1']);
    expect(await resolver.resolve6('EXAMPLE.com')).to.deep.equal(['2001:db8::1']);
    // Node 26 adds `type` to each record.
    const exchanges = (await resolver.resolveMx('example.com')).map(({ priority, exchange }) => [priority, exchange]);
    expect(exchanges).to.deep.equal([[10, 'mx.example.com']]);
    expect(await resolver.resolveTxt('example.com')).to.deep.equal([['v=spf1 -all'], ['two ', 'parts']]);
    expect(dns.queries.map(({ type }) => type)).to.deep.equal(['A', 'AAAA', 'MX', 'TXT']);
  });

  it('follows a CNAME', async () => {
    dns.set('www.example.com', 'CNAME', ['example.com']);
    dns.set('example.com', 'A', ['192.0.2.1']);
    expect(await resolver.resolveCname('www.example.com')).to.deep.equal(['example.com']);
    expect(await resolver.resolve4('www.example.com')).to.deep.equal(['192.0.2.1']);
  });

  it('truncates a long UDP answer and sends it over TCP', async () => {
    const parts = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(250));
    dns.set('long.example.com', 'TXT', [parts]);
    expect(await resolver.resolveTxt('long.example.com')).to.deep.equal([parts]);
    expect(dns.queries.map(({ over }) => over)).to.deep.equal(['udp', 'tcp']);
  });

  it('distinguishes an unknown name (NXDOMAIN) from a missing record type (no data)', async () => {
    dns.set('example.com', 'A', ['192.0.2.1']);
    expect(await codeOf(resolver.resolveTxt('example.com'))).to.equal('ENODATA');
    expect(await codeOf(resolver.resolveTxt('nowhere.example'))).to.equal('ENOTFOUND');
    dns.remove('example.com');
    expect(await codeOf(resolver.resolve4('example.com'))).to.equal('ENOTFOUND');
  });

  it('fails or does not answer, for one name or for all', async () => {
    dns.set('a.example', 'A', ['192.0.2.1']);
    dns.fail('a.example', 'SERVFAIL');
    expect(await codeOf(resolver.resolve4('a.example'))).to.equal('ESERVFAIL');
    dns.fail('a.example', undefined);
    dns.fail('*', 'silence');
    expect(await codeOf(asking(200).resolve4('a.example'))).to.equal('ETIMEOUT');
    dns.fail('*', undefined);
    expect(await codeOf(resolver.resolve4('a.example'))).to.equal(undefined);
  });
});
