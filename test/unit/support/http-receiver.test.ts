import { expect } from 'chai';
import { type HttpReceiver, startHttpReceiver } from '../../support/http-receiver.ts';

describe('the HTTP receiver', () => {
  let receiver: HttpReceiver;

  beforeEach(async () => {
    receiver = await startHttpReceiver();
  });

  afterEach(() => receiver.stop());

  it('records requests and answers 200', async () => {
    const answer = await fetch(`${receiver.url}/hook?x=1`, {
      method: 'PUT',
      headers: { 'x-mark': 'yes' },
      body: JSON.stringify({ a: 1 }),
    });
    expect(answer.status).to.equal(200);
    const [request] = await receiver.received(1);
    expect(request).to.include({ method: 'PUT', path: '/hook?x=1' });
    expect(request?.headers['x-mark']).to.equal('yes');
    expect(request?.json()).to.deep.equal({ a: 1 });
  });

  it('returns the configured answer for all paths or for one', async () => {
    receiver.answer({ status: 503, headers: { 'retry-after': '7' }, body: 'later' });
    receiver.answer(({ method }) => ({ status: 201, body: { method } }), '/made');
    const later = await fetch(receiver.url);
    expect([later.status, later.headers.get('retry-after'), await later.text()]).to.deep.equal([503, '7', 'later']);
    const made = await fetch(`${receiver.url}/made`, { method: 'POST' });
    expect([made.status, await made.json()]).to.deep.equal([201, { method: 'POST' }]);
  });

  it('redirects, delays, hangs and drops the connection', async () => {
    receiver.redirect('/old', '/new');
    expect((await fetch(`${receiver.url}/old`)).url).to.equal(`${receiver.url}/new`);
    receiver.answer({ delayMs: 100 });
    const started = Date.now();
    await fetch(receiver.url);
    expect(Date.now() - started).to.be.at.least(95);
    receiver.answer({ instead: 'drop' });
    expect(await fetch(receiver.url).catch(() => 'dropped')).to.equal('dropped');
    receiver.answer({ instead: 'hang' });
    const signal = AbortSignal.timeout(100);
    expect(await fetch(receiver.url, { signal }).catch((error: Error) => error.name)).to.equal('TimeoutError');
  });
});
