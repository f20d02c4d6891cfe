import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { expect } from 'chai';
import { pino } from 'pino';
import { createTemporal } from '../../temporal/connection.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { TemporalWorkers } from '../../worker/temporal-workers.ts';
import { makeCertificate, type TestCertificate } from '../support/certificate.ts';
import { atEnd, runDirectory } from '../support/cleanup.ts';
import { type OwnNamespace, ownNamespace, temporalSettings, testBundle } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';
import { note, probe } from '../support/workflows.ts';

/** Of `EventType`. */
const WORKFLOW_TASK_COMPLETED = 7;

const contextOf = ({ pem, privateKey }: TestCertificate) => ({
  cert: pem,
  key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
});

/** TLS in front of Temporal, whose certificate can be replaced. */
async function startTls(target: string, certificate: TestCertificate) {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const server = createServer({ ...contextOf(certificate), ALPNProtocols: ['h2'] }, (socket) => {
    const forward = connect({ host, port: Number(port) });
    for (const one of [socket, forward]) {
      sockets.add(one);
      one.on('error', () => one.destroy());
      one.once('close', () => {
        socket.destroy();
        forward.destroy();
      });
    }
    socket.pipe(forward).pipe(socket);
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  atEnd(stop);
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    replace: (next: TestCertificate) => {
      server.setSecureContext(contextOf(next));
      for (const socket of sockets) socket.destroy();
    },
    stop,
  };
}

describe("the files of Temporal's certificates", () => {
  let own: OwnNamespace;

  before(async () => {
    own = await ownNamespace();
  });
  after(() => own.close());

  it('are read again when they have changed', async () => {
    const first = makeCertificate();
    const second = makeCertificate();
    const proxy = await startTls(own.address, first);
    const ca = join(mkdtempSync(join(runDirectory(), 'certificates-')), 'ca.pem');
    writeFileSync(ca, first.pem);
    const tls = { ca, serverName: 'test' };
    const temporal = createTemporal({ ...temporalSettings(proxy.address, own.namespace), tls }, { renewMs: 50 });
    let renewed = 0;
    temporal.onRenewed(() => renewed++);
    await eventually(() => temporal.check(), { what: 'a connection' });

    proxy.replace(second);
    expect(await temporal.check(), 'with the old file').to.equal(false);
    expect(renewed).to.equal(0);
    writeFileSync(ca, second.pem);
    await eventually(() => temporal.check(), { what: 'a connection with the new certificate' });
    expect(renewed).to.equal(1);
    await temporal.close();
    await proxy.stop();
  });

  it('are read again by a worker, whose running workflows go on over the new connection', async () => {
    const first = makeCertificate();
    const second = makeCertificate();
    const proxy = await startTls(own.address, first);
    const ca = join(mkdtempSync(join(runDirectory(), 'certificates-')), 'ca.pem');
    writeFileSync(ca, first.pem);
    const settings = { ...temporalSettings(proxy.address, own.namespace), tls: { ca, serverName: 'test' } };
    const temporal = createTemporal(settings, { renewMs: 50 });
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
    const duty = { taskQueue: taskQueues.workflows, workflowBundle: await testBundle() };
    const workers = new TemporalWorkers({ settings, temporal, duties: [duty], log });
    const start = (workflowId: string) =>
      own.client.workflow.start(probe, { workflowId, taskQueue: taskQueues.workflows, args: ['begin'] });
    const before = await start('before');
    const begun = async () =>
      (await before.fetchHistory()).events?.some(({ eventType }) => Number(eventType) === WORKFLOW_TASK_COMPLETED);
    await eventually(begun, { what: 'a workflow on the first connection' });
    const polled = workers.isPolling;

    // From here on the proxy refuses clients that trust the old certificate.
    proxy.replace(second);
    writeFileSync(ca, second.pem);
    const renewed = () => lines.some((line) => line.includes('certificates were read again'));
    await eventually(renewed, { what: 'the new connection' });
    await before.signal(note, 'end');
    expect(await before.result()).to.deep.equal(['begin', 'end']);
    const after = await start('after');
    await after.signal(note, 'end');
    expect(await after.result()).to.deep.equal(['begin', 'end']);
    expect([polled, workers.isPolling], 'polling').to.deep.equal([true, true]);
    expect(
      lines.filter((line) => line.includes('polling Temporal')),
      'the same worker',
    ).to.have.lengthOf(1);
    await workers.stop();
    await temporal.close();
    await proxy.stop();
  });
});
