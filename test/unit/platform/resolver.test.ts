import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import { expect } from 'chai';
import { createResolver, type Resolver } from '../../../platform/http/resolver.ts';
import { type DnsStandIn, startDns } from '../../support/dns.ts';
import { eventually } from '../../support/waiting.ts';

/** Longer than a busy machine takes for an answer. */
const patience = { timeoutMs: 30_000, deadlineMs: 60_000 };

describe('resolver', () => {
  let dns: DnsStandIn;
  let resolver: Resolver;

  before(async () => {
    dns = await startDns();
    resolver = createResolver({ servers: [dns.address], ...patience });
  });
  after(async () => {
    resolver.close();
    await dns.stop();
  });

  it('joins the strings of a TXT record', async () => {
    dns.set('long.example', 'TXT', [['v=DKIM1; p=', 'abc', 'def'], 'other']);
    expect(await resolver.txt('long.example', 'p')).to.deep.equal({
      kind: 'found',
      values: ['v=DKIM1; p=abcdef', 'other'],
    });
  });

  it('distinguishes a missing name, a missing record type and no answer', async () => {
    dns.set('bare.example', 'A', ['192.0.2.1']);
    expect(await resolver.txt('nowhere.example', 'p')).to.deep.equal({ kind: 'absent', nameExists: false });
    expect(await resolver.txt('bare.example', 'p')).to.deep.equal({ kind: 'absent', nameExists: true });
    dns.fail('mute.example', 'silence');
    dns.fail('ill.example', 'SERVFAIL');
    const hurried = createResolver({ servers: [dns.address], timeoutMs: 100, deadlineMs: 1_000 });
    expect(await hurried.txt('mute.example', 'p')).to.include({ kind: 'unknown' });
    hurried.close();
    expect(await resolver.txt('ill.example', 'p')).to.deep.equal({ kind: 'unknown', reason: 'ESERVFAIL' });
  });

  it('retries over TCP when an answer is truncated', async () => {
    const text = 'x'.repeat(250);
    dns.set(
      'huge.example',
      'TXT',
      Array.from({ length: 150 }, () => [text]),
    );
    const answer = await resolver.txt('huge.example', 'p');
    expect(answer).to.deep.equal({ kind: 'found', values: Array.from({ length: 150 }, () => text) });
    const asked = dns.queries.filter(({ name }) => name === 'huge.example').map(({ over }) => over);
    expect(asked).to.deep.equal(['udp', 'tcp']);
  });

  it('keeps at most 200 records of an answer', async () => {
    dns.set(
      'flood.example',
      'TXT',
      Array.from({ length: 1_000 }, (_, n) => `record ${n}`),
    );
    const answer = await resolver.txt('flood.example', 'p');
    expect(answer.kind === 'found' && answer.values).to.have.length(200);
  });

  it('follows an alias that the server resolved', async () => {
    dns.set('alias.example', 'CNAME', ['target.example']);
    dns.set('target.example', 'TXT', ['here']);
    expect(await resolver.txt('alias.example', 'p')).to.deep.equal({ kind: 'found', values: ['here'] });
  });

  it('follows aliases that the server left unresolved', async () => {
    // The stand-in follows only eight aliases.
    for (let n = 0; n < 12; n++) dns.set(`hop${n}.example`, 'CNAME', [`hop${n + 1}.example`]);
    dns.set('hop12.example', 'TXT', ['at last']);
    expect(await resolver.txt('hop0.example', 'p')).to.deep.equal({ kind: 'found', values: ['at last'] });
  });

  it('stops following aliases of a slow server after the deadline', async () => {
    const slow = await startDns();
    const hurried = createResolver({ servers: [slow.address], timeoutMs: 1_000, deadlineMs: 300 });
    for (let n = 0; n < 12; n++) slow.set(`hop${n}.example`, 'CNAME', [`hop${n + 1}.example`]);
    slow.set('hop12.example', 'TXT', ['at last']);
    slow.slow(120);
    expect(await hurried.txt('hop0.example', 'p')).to.deep.equal({ kind: 'unknown', reason: 'no response in time' });
    hurried.close();
    await slow.stop();
  });

  it('returns unknown for an alias loop', async () => {
    dns.set('here.example', 'CNAME', ['there.example']);
    dns.set('there.example', 'CNAME', ['here.example']);
    expect(await resolver.txt('here.example', 'p')).to.include({ kind: 'unknown' });
  });

  it('looks up both address families, literal addresses and missing names', async () => {
    dns.set('host.example', 'A', ['192.0.2.1']);
    dns.set('host.example', 'AAAA', ['2001:db8::1']);
    expect(await resolver.lookup('host.example', 'p')).to.deep.equal({
      kind: 'found',
      values: ['192.0.2.1', '2001:db8::1'],
    });
    expect(await resolver.lookup('192.0.2.7', 'p')).to.deep.equal({ kind: 'found', values: ['192.0.2.7'] });
    expect(await resolver.lookup('nobody.example', 'p')).to.deep.equal({ kind: 'absent', nameExists: false });
  });

  it('resolves localhost without a query', async () => {
    for (const host of ['localhost', 'app.localhost'])
      expect(await resolver.lookup(host, 'p')).to.deep.equal({ kind: 'found', values: ['127.0.0.1', '::1'] });
    expect(dns.queries.filter(({ name }) => name.endsWith('localhost'))).to.deep.equal([]);
  });

  it('returns MX records', async () => {
    dns.set('mail.example', 'MX', [{ preference: 10, exchange: 'mx.mail.example' }]);
    expect(await resolver.mx('mail.example', 'p')).to.deep.equal({
      kind: 'found',
      values: [{ exchange: 'mx.mail.example', priority: 10 }],
    });
  });

  it('returns absent for an invalid name', async () => {
    expect(await resolver.txt(`${'a'.repeat(70)}.example`, 'p')).to.deep.equal({ kind: 'absent', nameExists: false });
  });

  it('queries the next server when one is down', async () => {
    const gone = await startDns();
    await gone.stop();
    const two = createResolver({ servers: [gone.address, dns.address], ...patience });
    dns.set('second.example', 'TXT', ['yes']);
    expect(await two.txt('second.example', 'p')).to.deep.equal({ kind: 'found', values: ['yes'] });
    two.close();
  });

  it('limits the lookups of one project, and lets another one pass', async () => {
    const patient = createResolver({ servers: [dns.address], ...patience });
    const names = Array.from({ length: 40 }, (_, n) => `hung${n}.example`);
    for (const name of names) dns.fail(name, 'silence');
    dns.set('free.example', 'A', ['192.0.2.3']);
    const asked = () => names.filter((name) => dns.queries.some((query) => query.name === name)).length;
    const hung = names.map((name) => patient.lookup(name, 'many'));
    await eventually(() => asked() === 20);
    expect(await patient.lookup('free.example', 'other')).to.deep.equal({ kind: 'found', values: ['192.0.2.3'] });
    expect(asked()).to.equal(20);
    patient.close();
    await eventually(() => asked() === 40);
    patient.close();
    for (const answer of await Promise.all(hung)) expect(answer).to.include({ kind: 'unknown' });
  });

  it('does not look up a name again for a moment after a failure', async () => {
    const patient = createResolver({ servers: [dns.address], ...patience, failureMs: 3_600_000 });
    const forgetful = createResolver({ servers: [dns.address], ...patience, failureMs: 1 });
    dns.fail('failing.example', 'SERVFAIL');
    for (const one of [patient, forgetful])
      expect(await one.lookup('failing.example', 'p')).to.include({ kind: 'unknown' });
    dns.fail('failing.example', undefined);
    dns.set('failing.example', 'A', ['192.0.2.4']);
    expect(await patient.lookup('failing.example', 'other')).to.include({ kind: 'unknown' });
    await eventually(async () => (await forgetful.lookup('failing.example', 'p')).kind === 'found');
    patient.close();
    forgetful.close();
  });

  it('resolves a name of the operator with the hosts file when no servers are given', async () => {
    const system = createResolver({ servers: [] });
    const answer = await system.lookupOperatorHost(hostname());
    expect(answer).to.deep.equal({
      kind: 'found',
      values: (await lookup(hostname(), { all: true })).map(({ address }) => address),
    });
    system.close();
  });
});
