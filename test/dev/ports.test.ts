import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { accepts, freePort, portOrFree } from '../../dev/ports.ts';
import { sourceExtension } from '../../platform/process-flags.ts';
import { runDirectory } from '../support/cleanup.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));

describe('ports', () => {
  const servers: Server[] = [];
  const occupy = async (port: number, host: string): Promise<void> => {
    const server = createServer((socket) => socket.destroy()).listen(port, host);
    servers.push(server);
    await once(server, 'listening');
  };

  /** Free, and not locked by this process. */
  const unlockedPort = async (): Promise<number> => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return port;
  };

  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('returns the wanted port when it is free, and reports nothing', async () => {
    const reported: string[] = [];
    const port = await unlockedPort();
    expect(await portOrFree('the API', port, (line) => reported.push(line))).to.equal(port);
    expect(reported).to.deep.equal([]);
  });

  for (const host of ['127.0.0.1', '0.0.0.0', ...(hasIpv6 ? ['::1'] : [])]) {
    it(`returns and reports another port when ${host} is in use`, async () => {
      const reported: string[] = [];
      const port = await unlockedPort();
      await occupy(port, host);
      const returned = await portOrFree('the API', port, (line) => reported.push(line));
      expect(returned).to.not.equal(port);
      expect(reported).to.deep.equal([`Port ${port} is taken: the API listens on ${returned} instead.`]);
    });
  }

  it('never returns the same port twice', async () => {
    const port = await unlockedPort();
    const first = await portOrFree('one', port, () => {});
    const second = await portOrFree('two', port, () => {});
    expect([first, second === first]).to.deep.equal([port, false]);
  });

  it('gives every launcher another port when they choose at the same time, and the port again after their end', async () => {
    const wanted = await unlockedPort();
    const launchers: ChildProcess[] = [];
    // Killed launchers leave their locks behind.
    const env = { ...process.env, XDG_CACHE_HOME: mkdtempSync(join(runDirectory(), 'cache-')) };
    const child = join(import.meta.dirname, `../support/ports-child${sourceExtension}`);
    const chosen = async (): Promise<number> => {
      const launcher = fork(child, [String(wanted)], { env });
      launchers.push(launcher);
      return (await once(launcher, 'message'))[0];
    };
    const ends = async (launcher: ChildProcess, end: () => void): Promise<void> => {
      const exited = once(launcher, 'exit');
      end();
      await exited;
    };
    const ports = await Promise.all([chosen(), chosen(), chosen()]);
    expect(new Set(ports).size).to.equal(3);
    expect(ports).to.include(wanted);
    for (const launcher of launchers.splice(0)) await ends(launcher, () => launcher.kill('SIGKILL'));
    expect(await chosen(), 'after they were killed').to.equal(wanted);
    for (const launcher of launchers.splice(0)) await ends(launcher, () => launcher.disconnect());
    expect(await chosen(), 'after it has ended').to.equal(wanted);
    for (const launcher of launchers) await ends(launcher, () => launcher.disconnect());
  });

  it('chooses a port that no outgoing connection gets', async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()));
    expect(new Set(ports).size).to.equal(20);
    for (const port of ports) expect(port).to.be.within(20_000, 32_000);
  });

  it('waits until the port accepts connections, and times out', async () => {
    const port = await freePort();
    const late = accepts(port, 5_000);
    await occupy(port, '127.0.0.1');
    await late;
    const error = await accepts(await freePort(), 50).catch((reason: Error) => reason);
    expect(error).to.be.an('error').with.property('message').that.contains('Nothing listens');
  });
});
