import { expect } from 'chai';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { type DnsStandIn, startDns } from '../support/dns.ts';

describe('POST /v1/verify', () => {
  let api: TestApi;
  let dns: DnsStandIn;
  let project: ApiProject;

  before(async () => {
    dns = await startDns();
    api = await startTestApi({ env: { DNS_SERVERS: dns.address, RATE_LIMIT_PER_MINUTE: '0' } });
    project = await api.project();
    for (const name of ['gmail.com', 'gmial.com', 'mailinator.com', 'x.mailinator.com', 'duck.com', 'good.example'])
      dns.set(name, 'MX', [{ preference: 10, exchange: `mx.${name}` }]);
  });
  after(async () => {
    await api.stop();
    await dns.stop();
  });

  const verify = async (email: unknown) => {
    const answer = await project.server.post('/v1/verify', { email });
    expect(answer).to.have.status(200);
    expect(answer.body.success).to.equal(true);
    return answer.body.data;
  };

  it('returns every field', async () => {
    expect(await verify(' Ann@Good.Example ')).to.deep.equal({
      email: 'ann@good.example',
      valid: true,
      isDisposable: false,
      isAlias: false,
      isTypo: false,
      isPlusAddressed: false,
      isPersonalEmail: false,
      domainExists: true,
      hasMxRecords: true,
      reasons: [],
    });
  });

  it('returns valid: false for a text that is not an address', async () => {
    const bad = ['', ' ', 'ann', 'ann@', '@good.example', 'a b@good.example', 'a@b@good.example', 'a@[127.0.0.1]'];
    for (const email of [...bad, `${'a'.repeat(70)}@good.example`, 'x'.repeat(100_000)]) {
      const said = await verify(email);
      expect(said, email.slice(0, 50)).to.include({ email, valid: false, domainExists: false });
      expect(said.reasons).to.have.length(1);
    }
  });

  it('answers 422 without an address', async () => {
    for (const body of [{}, { email: null }, { email: 5 }, { email: ['a@b.example'] }])
      expect(await project.server.post('/v1/verify', body)).to.be.envelope(422, 'VALIDATION_ERROR');
  });

  it('recognizes disposable, personal and forwarding domains', async () => {
    expect(await verify('a@mailinator.com')).to.include({ isDisposable: true, isPersonalEmail: false, valid: true });
    expect(await verify('a@x.mailinator.com')).to.include({ isDisposable: true });
    expect(await verify('a@gmail.com')).to.include({ isDisposable: false, isPersonalEmail: true, isAlias: false });
    expect(await verify('a@duck.com')).to.include({ isAlias: true });
    expect(await verify('a+b@gmail.com')).to.include({ isPlusAddressed: true, isTypo: false });
  });

  it('suggests a correction for a misspelled domain', async () => {
    const said = await verify('ann@gmial.com');
    expect(said).to.include({ isTypo: true, suggestedEmail: 'ann@gmail.com', valid: true });
    expect(said.reasons.join()).to.match(/typo of ann@gmail.com/);
    expect(await verify('ann@gmail.com'))
      .to.include({ isTypo: false })
      .and.not.have.property('suggestedEmail');
  });

  it('suggests nothing for short domains and other endings', async () => {
    for (const domain of ['acme.com', 'hp.com', 'ibm.com', 'meta.com', 'vk.com', 'joes.bar', 'example.org'])
      expect(await verify(`ann@${domain}`), domain).to.include({ isTypo: false });
    for (const [typo, meant] of [
      ['hotmal.com', 'hotmail.com'],
      ['gmail.co', 'gmail.com'],
      ['gmail.con', 'gmail.com'],
    ])
      expect(await verify(`ann@${typo}`)).to.include({ isTypo: true, suggestedEmail: `ann@${meant}` });
  });

  it('detects a domain that does not exist, and one that accepts no mail', async () => {
    expect(await verify('a@nowhere.example')).to.include({ valid: false, domainExists: false, hasMxRecords: false });
    dns.set('empty.example', 'TXT', ['nothing here']);
    expect(await verify('a@empty.example')).to.include({ valid: false, domainExists: true, hasMxRecords: false });
    dns.set('nomail.example', 'MX', [{ preference: 0, exchange: '.' }]);
    expect(await verify('a@nomail.example')).to.include({ valid: false, domainExists: true });
  });

  it('accepts a domain with an address record and no MX records', async () => {
    dns.set('plain.example', 'A', ['192.0.2.1']);
    const said = await verify('a@plain.example');
    expect(said).to.include({ valid: true, domainExists: true, hasMxRecords: false });
    dns.set('six.example', 'AAAA', ['2001:db8::1']);
    expect(await verify('a@six.example')).to.include({ valid: true, hasMxRecords: false });
  });

  it('reports a DNS outage as unknown, never as invalid, and looks it up again', async () => {
    dns.fail('ill.example', 'SERVFAIL');
    const said = await verify('a@ill.example');
    expect(said).to.include({ valid: true, domainExists: null, hasMxRecords: null });
    expect(said.reasons.join()).to.match(/unknown/);
    dns.fail('ill.example', undefined);
    expect(await verify('a@ill.example')).to.include({ valid: false, domainExists: false });
  });

  it('shares one DNS lookup between concurrent calls', async () => {
    dns.set('busy.example', 'MX', [{ preference: 10, exchange: 'mx.busy.example' }]);
    const emails = Array.from({ length: 20 }, (_, n) => `user${n}@busy.example`);
    const said = await Promise.all(emails.map(verify));
    expect(said.every(({ valid }) => valid)).to.equal(true);
    expect(dns.queries.filter(({ name }) => name === 'busy.example')).to.have.length(1);
  });

  it('looks up international domains in Punycode', async () => {
    dns.set('xn--bcher-kva.example', 'MX', [{ preference: 10, exchange: 'mx.example' }]);
    expect(await verify('a@bücher.example')).to.include({ valid: true, hasMxRecords: true });
  });

  it('accepts only the secret key', async () => {
    expect(await project.browser.post('/v1/verify', { email: 'a@b.example' })).to.be.envelope(401, 'INVALID_API_KEY');
  });
});
