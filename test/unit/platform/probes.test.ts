import { expect } from 'chai';
import { Counter, Registry } from 'prom-client';
import { type PartStatus, type Probes, readinessOf, startProbes } from '../../../platform/probes.ts';

describe('probes of a process without an API', () => {
  const parts: Record<string, PartStatus> = { database: 'ok', temporal: 'ok' };
  const registry = new Registry();
  new Counter({ name: 'probe_test_total', help: 'for this test', registers: [registry] }).inc(3);
  let probes: Probes;
  let address: string;

  before(async () => {
    const ready = async () => readinessOf(parts, ['temporal']);
    probes = await startProbes({ port: 0, host: '127.0.0.1', registry, ready });
    address = `http://127.0.0.1:${probes.port}`;
  });

  after(() => probes.stop());

  const get = async (path: string, method = 'GET') => {
    const response = await fetch(address + path, { method });
    return { status: response.status, text: await response.text() };
  };

  it('answers GET /health while the process is up', async () => {
    expect(await get('/health')).to.deep.equal({ status: 200, text: '{"status":"ok"}' });
  });

  it('answers GET /ready with every part', async () => {
    expect(await get('/ready')).to.deep.equal({
      status: 200,
      text: '{"status":"ok","parts":{"database":"ok","temporal":"ok"}}',
    });
  });

  it('answers 200 and degraded when an optional part is down', async () => {
    parts.temporal = 'down';
    const { status, text } = await get('/ready');
    parts.temporal = 'ok';
    expect(status).to.equal(200);
    expect(JSON.parse(text).status).to.equal('degraded');
  });

  it('answers 503 when a required part is down', async () => {
    parts.database = 'down';
    const { status, text } = await get('/ready');
    parts.database = 'ok';
    expect(status).to.equal(503);
    expect(JSON.parse(text).status).to.equal('down');
  });

  it('answers GET /metrics in the text format of Prometheus', async () => {
    const { status, text } = await get('/metrics');
    expect(status).to.equal(200);
    expect(text).to.contain('probe_test_total 3');
  });

  it('answers 404 to other paths and 405 to other methods', async () => {
    expect((await get('/')).status).to.equal(404);
    expect((await get('/ready', 'POST')).status).to.equal(405);
  });

  it('answers 500 when the check itself fails', async () => {
    const failing = await startProbes({
      port: 0,
      host: '127.0.0.1',
      registry,
      ready: () => Promise.reject(new Error('no')),
    });
    const response = await fetch(`http://127.0.0.1:${failing.port}/ready`);
    await response.text();
    await failing.stop();
    expect(response.status).to.equal(500);
  });
});
