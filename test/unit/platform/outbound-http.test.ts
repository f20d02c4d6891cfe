import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type OutboundRequest, type OutboundRules, outboundHttp } from '../../../platform/http/outbound-http.ts';
import { pinTarget } from '../../../platform/http/pinned-target.ts';
import { createResolver, type Resolver } from '../../../platform/http/resolver.ts';
import { type DnsStandIn, startDns } from '../../support/dns.ts';
import { type HttpReceiver, startHttpReceiver } from '../../support/http-receiver.ts';

describe('outbound HTTP', () => {
  let here: HttpReceiver;
  let there: HttpReceiver;
  let dns: DnsStandIn;
  let resolver: Resolver;

  beforeEach(async () => {
    [here, there, dns] = await Promise.all([startHttpReceiver(), startHttpReceiver(), startDns()]);
    resolver = createResolver({ servers: [dns.address], timeoutMs: 30_000, deadlineMs: 60_000 });
  });
  afterEach(async () => {
    resolver.close();
    await Promise.all([here.stop(), there.stop(), dns.stop()]);
  });

  const portOf = (receiver: HttpReceiver): string => receiver.host.split(':')[1] ?? '';
  const call = (request: Partial<OutboundRequest> & { url: string }, rules: Partial<OutboundRules> = {}) =>
    outboundHttp({ resolver, allowedHosts: [here.host, there.host], timeoutMs: 60_000, ...rules })({
      project: 'p',
      method: 'POST',
      headers: {},
      body: '{"a":1}',
      ...request,
    });

  it('sends method, headers and body, and returns the response', async () => {
    here.answer({ status: 201, body: { ok: true }, headers: { 'x-kind': 'test' } });
    const answer = await call({ url: `${here.url}/hook?a=b#part`, method: 'put', headers: { 'X-Key': 'k' } });
    expect(answer).to.deep.include({ kind: 'answered', status: 201, body: '{"ok":true}', cut: false });
    expect(answer).to.have.nested.property('headers.x-kind', 'test');
    const [got] = here.requests;
    expect(got).to.include({ method: 'PUT', path: '/hook?a=b', body: '{"a":1}' });
    expect(got?.headers).to.include({ 'x-key': 'k', host: here.host, 'content-length': '7' });
  });

  it('sends credentials of the URL as a header and drops transport headers', async () => {
    const url = `http://user:pa%20ss@${here.host}/`;
    await call({ url, headers: { Host: 'elsewhere', 'Transfer-Encoding': 'chunked', Connection: 'upgrade' } });
    const headers = here.requests[0]?.headers;
    expect(headers?.authorization).to.equal(`Basic ${Buffer.from('user:pa ss').toString('base64')}`);
    expect(headers).to.include({ host: here.host, 'content-length': '7' });
  });

  it('sends headers that are not ASCII as UTF-8', async () => {
    await call({ url: here.url, headers: { 'X-City': '東京, Köln' } });
    const received = String(here.requests[0]?.headers['x-city']);
    expect(Buffer.from(received, 'latin1').toString('utf8')).to.equal('東京, Köln');
  });

  describe('refuses without a connection', () => {
    const bad = [
      'ftp://example.com/',
      'file:///etc/passwd',
      'gopher://127.0.0.1/',
      'nonsense',
      'http://',
      'http://a b/',
    ];
    for (const url of bad)
      it(`the URL ${url}`, async () => {
        expect(await call({ url })).to.include({ kind: 'refused' });
      });

    it('a private address that is not an allowed host', async () => {
      expect(await call({ url: here.url }, { allowedHosts: [] })).to.include({ kind: 'refused' });
      expect(await call({ url: here.url }, { allowedHosts: [`127.0.0.1:1`] })).to.include({ kind: 'refused' });
      expect(here.requests).to.have.length(0);
    });

    it('a name that resolves to a private address, with a reason that hides it', async () => {
      dns.set('inside.example', 'A', ['127.0.0.1']);
      const answer = await call({ url: `http://inside.example:${portOf(here)}/` });
      expect(answer).to.have.property('kind', 'refused');
      expect(answer).to.have.property('reason', 'inside.example resolves to an address that is not public');
      expect(here.requests).to.have.length(0);
    });

    it('a name with one private address among several, over IPv4, IPv6 or an alias', async () => {
      dns.set('mixed.example', 'A', ['8.8.8.8', '10.0.0.1']);
      dns.set('six.example', 'AAAA', ['2a00::1', '::ffff:169.254.169.254']);
      dns.set('alias.example', 'CNAME', ['six.example']);
      for (const host of ['mixed.example', 'six.example', 'alias.example', 'mixed.example.'])
        expect(await call({ url: `http://${host}/` }), host).to.include({ kind: 'refused' });
    });

    it('an invalid header', async () => {
      expect(await call({ url: here.url, headers: { 'x-a': 'b\r\nX-Evil: 1' } })).to.include({ kind: 'refused' });
      expect(here.requests).to.have.length(0);
    });
  });

  it('connects to the checked address when the name resolves differently later', async () => {
    const name = 'rebinding.example';
    let lookups = 0;
    // Returns another address after the first lookup, which is the checked one.
    const rebinding = async () => ({
      kind: 'found' as const,
      values: lookups++ === 0 ? ['127.0.0.1'] : ['127.0.0.2'],
    });
    const rules = {
      resolver: { lookup: rebinding, lookupOperatorHost: rebinding },
      allowedHosts: [`${name}:${portOf(here)}`],
    };
    expect(await call({ url: `http://${name}:${portOf(here)}/` }, rules)).to.include({ kind: 'answered' });
    expect(lookups).to.equal(1);
    expect(here.requests[0]?.headers.host).to.equal(`${name}:${portOf(here)}`);
  });

  it('returns unreachable for a missing name and for a failing DNS server', async () => {
    dns.fail('broken.example', 'SERVFAIL');
    for (const host of ['gone.example', 'broken.example'])
      expect(await call({ url: `http://${host}/` }), host).to.include({ kind: 'unreachable' });
  });

  it('returns unreachable when nothing listens and when the connection is cut', async () => {
    here.answer({ instead: 'drop' });
    expect(await call({ url: here.url })).to.include({ kind: 'unreachable' });
    await here.stop();
    expect(await call({ url: here.url })).to.include({ kind: 'unreachable' });
  });

  it('gives reasons without addresses, DNS answers and socket messages', async () => {
    dns.set('allowed.example', 'A', ['127.0.0.1']);
    dns.set('both.example', 'A', ['127.0.0.1']);
    dns.set('both.example', 'AAAA', ['::1']);
    dns.fail('broken.example', 'SERVFAIL');
    await here.stop();
    const port = portOf(here);
    const allowedHosts = [`allowed.example:${port}`, `both.example:${port}`];
    const reasonFor = async (host: string) => {
      const answer = await call({ url: `http://${host}:${port}/` }, { allowedHosts });
      return 'reason' in answer ? answer.reason : answer.kind;
    };
    expect(await reasonFor('allowed.example')).to.equal('the connection was refused');
    expect(await reasonFor('both.example')).to.equal('the connection was refused');
    expect(await reasonFor('broken.example')).to.equal('broken.example could not be resolved');
    expect(await reasonFor('absent.example')).to.equal('absent.example has no address');
  });

  it('applies one timeout to name resolution, redirects and the response', async () => {
    here.answer({ instead: 'hang' });
    const answer = await call({ url: here.url }, { timeoutMs: 100 });
    expect(answer).to.deep.equal({ kind: 'unreachable', reason: 'no response within 0.1 s' });
    dns.fail('silent.example', 'silence');
    expect(await call({ url: 'http://silent.example/' }, { timeoutMs: 100 })).to.include({ kind: 'unreachable' });
  });

  it('reads a response up to the limit, compressed or not', async () => {
    const rules = { maxBytes: 1000 };
    here.answer({ body: 'x'.repeat(1000) });
    expect(await call({ url: here.url }, rules)).to.include({ cut: false, body: 'x'.repeat(1000) });
    here.answer({ body: 'x'.repeat(5000) });
    expect(await call({ url: here.url }, rules)).to.include({ cut: true, body: 'x'.repeat(1000) });
    here.answer({ body: gzipSync('y'.repeat(5_000_000)), headers: { 'content-encoding': 'gzip' } });
    expect(await call({ url: here.url }, rules)).to.include({ cut: true, body: 'y'.repeat(1000) });
  });

  describe('a redirect', () => {
    it('is followed five times, and refused the sixth time', async () => {
      for (let n = 0; n < 5; n++) here.redirect(`/${n}`, `/${n + 1}`, 307);
      expect(await call({ url: `${here.url}/0` })).to.include({ kind: 'answered', status: 200 });
      here.redirect('/5', '/6', 307);
      expect(await call({ url: `${here.url}/0` })).to.deep.equal({ kind: 'refused', reason: 'more than 5 redirects' });
    });

    it('is refused when its target is private or not http', async () => {
      const only = { allowedHosts: [here.host] };
      dns.set('inside.example', 'A', ['127.0.0.1']);
      for (const target of [
        there.url,
        `http://inside.example:${portOf(there)}/`,
        'file:///etc/passwd',
        'http://[::1]/',
      ]) {
        here.redirect('/', target);
        expect(await call({ url: here.url }, only), target).to.include({ kind: 'refused' });
      }
      expect(there.requests).to.have.length(0);
    });

    it('repeats method and body on 307 and 308, and becomes a GET on 301, 302 and 303', async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        here.redirect('/', '/to', status);
        await call({ url: here.url, headers: { 'content-type': 'application/json' } });
        const [, second] = here.requests.splice(0);
        const repeated = status >= 307;
        expect(second, String(status)).to.include(
          repeated ? { method: 'POST', body: '{"a":1}' } : { method: 'GET', body: '' },
        );
        expect(second?.headers['content-type']).to.equal(repeated ? 'application/json' : undefined);
      }
    });

    it('keeps headers at the same origin and drops secret ones at another', async () => {
      const headers = { authorization: 'Bearer s', cookie: 'c=1', 'x-api-key': 'k', accept: 'x/y', 'webhook-id': '1' };
      const request = { headers, publicHeaders: ['webhook-id'] };
      here.redirect('/same', '/end', 307);
      await call({ url: `${here.url}/same`, ...request });
      expect(here.requests[1]?.headers).to.include(headers);
      here.redirect('/other', there.url, 307);
      await call({ url: `http://u:p@${here.host}/other`, ...request });
      const seen = there.requests[0]?.headers;
      expect(seen).to.include({ accept: 'x/y', 'webhook-id': '1' });
      expect(seen).to.not.have.any.keys('authorization', 'cookie', 'x-api-key');
    });
  });

  describe('a pinned target', () => {
    const pin = (url: string, options: Partial<OutboundRules> = {}) =>
      pinTarget(
        { resolver, allowedHosts: [here.host], project: 'p', connections: 2, timeoutMs: 60_000, ...options },
        url,
        {
          'X-All': 'all',
        },
      );
    const opened = async (url: string, options: Partial<OutboundRules> = {}) => {
      const target = await pin(url, options);
      if ('kind' in target) throw new Error(target.reason);
      return target;
    };

    it('keeps its connections for many requests, with the credentials of the URL', async () => {
      const target = await opened(`http://user:secret@${here.host}/hook?a=b`);
      const ports = new Set<string | undefined>();
      here.answer(({ headers }) => ({ body: { id: headers['x-id'] } }));
      for (let n = 0; n < 10; n++) {
        const answer = await target.post({ 'x-id': `${n}` }, `${n}`);
        expect(answer).to.include({ kind: 'answered', status: 200, body: JSON.stringify({ id: `${n}` }) });
        ports.add(here.requests[n]?.headers.connection);
      }
      expect(here.requests[0]).to.include({ path: '/hook?a=b', body: '0' });
      expect(here.requests[0]?.headers.authorization).to.match(/^Basic /);
      expect([...ports]).to.deep.equal(['keep-alive']);
      await target.close();
    });

    it('answers with a redirect instead of following it', async () => {
      here.redirect('/', there.url);
      const target = await opened(here.url);
      expect(await target.post({}, '')).to.include({
        kind: 'answered',
        status: 302,
      });
      expect(there.requests).to.deep.equal([]);
      await target.close();
    });

    it('refuses private addresses, literal and behind a name, and other schemes', async () => {
      dns.set('private.example', 'A', ['10.0.0.1']);
      dns.set('mixed.example', 'A', ['93.184.215.14', '127.0.0.1']);
      for (const url of [
        'http://127.0.0.1:1/',
        'http://[::ffff:10.0.0.1]/',
        'http://0x7f.1/',
        'http://private.example/',
        'http://mixed.example/',
        'ftp://example.com/',
      ])
        expect(await pin(url), url).to.have.property('kind', 'refused');
      expect(await pin('http://missing.example/')).to.have.property('kind', 'unreachable');
    });

    it('returns a failure when there is no answer', async () => {
      here.answer({ instead: 'drop' });
      const target = await opened(here.url);
      expect(await target.post({}, '')).to.have.property('kind', 'unreachable');
      await target.close();
    });

    it('returns a failure after the deadline, and continues with other requests', async () => {
      here.answer(({ body }) => (body === 'slow' ? { instead: 'hang' } : {}));
      const target = await opened(here.url, { timeoutMs: 3_000 });
      const slow = [target.post({}, 'slow'), target.post({}, 'slow'), target.post({}, 'slow')];
      for (const answer of await Promise.all(slow))
        expect(answer).to.deep.equal({ kind: 'unreachable', reason: 'no response within 3 s' });
      expect(await target.post({}, 'quick')).to.include({ kind: 'answered', status: 200 });
      await target.close();
    });

    it('breaks off what has not ended when it is closed', async () => {
      here.answer({ instead: 'hang' });
      const target = await opened(here.url);
      const post = target.post({}, '');
      await target.close();
      expect(await post).to.have.property('kind', 'unreachable');
    });

    it('cuts a long answer, and reads compressed ones', async () => {
      const target = await opened(here.url, { maxBytes: 100 });
      here.answer({ body: 'x'.repeat(1_000) });
      const long = await target.post({}, '');
      expect(long).to.include({ kind: 'answered', cut: true });
      expect(long).to.have.property('body').with.length(100);
      here.answer({ headers: { 'content-encoding': 'gzip' }, body: gzipSync('short') });
      expect(await target.post({}, '')).to.include({ body: 'short', cut: false });
      here.answer({ headers: { 'content-encoding': 'gzip' }, body: gzipSync('x'.repeat(1_000)) });
      expect(await target.post({}, '')).to.include({ body: 'x'.repeat(100), cut: true });
      here.answer({ headers: { 'content-encoding': 'gzip' }, body: Buffer.from('no gzip') });
      expect(await target.post({}, '')).to.have.property('kind', 'unreachable');
      await target.close();
    });

    it('refuses headers that cannot be sent', async () => {
      const target = await opened(here.url);
      expect(await target.post({ 'x-bad': 'a\nb' }, '')).to.have.property('kind', 'refused');
      await target.close();
    });
  });
});
