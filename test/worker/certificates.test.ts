import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { expect } from 'chai';
import { createTemporal } from '../../temporal/connection.ts';
import { makeCertificate, type TestCertificate } from '../support/certificate.ts';
import { atEnd, runDirectory } from '../support/cleanup.ts';
import { type OwnNamespace, ownNamespace, temporalSettings } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

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

describe("the files of Temporal's certificates", function () {
  this.timeout(60_000);
  let own: OwnNamespace;

  before(async () => {
    own = await ownNamespace();
  });
  after(() => own.close());

  it('are read again when they have changed', async () => {
    const [first, second] = [makeCertificate(), makeCertificate()];
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
});
