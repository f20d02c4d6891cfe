// The servers that the mocha children of a run share: Postgres, where each test has its own database, and a Temporal dev
// server, where each test has its own namespace. Each is started when the first child asks for it.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../ports.ts';
import { startPostgres } from '../postgres.ts';
import { findTemporalCli, startDevServer } from '../temporal-server.ts';
import type { SharedServer } from './messages.ts';

// The data need not survive a crash of the machine, so nothing is flushed to disk.
export const TEST_POSTGRES = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'on',
  max_connections: '600',
};

interface RunningServer {
  address: string;
  stop(): Promise<void>;
}

export class SharedServers {
  private readonly directory = mkdtempSync(join(tmpdir(), 'everpost-test-servers-'));
  private readonly servers = new Map<SharedServer, Promise<RunningServer>>();

  constructor() {
    // As root, Postgres runs under another account, which must be able to enter.
    chmodSync(this.directory, 0o755);
  }

  async addressOf(server: SharedServer): Promise<string> {
    const known = this.servers.get(server);
    const starting = known ?? (server === 'postgres' ? this.startPostgres() : this.startTemporal());
    this.servers.set(server, starting);
    return (await starting).address;
  }

  private async startPostgres(): Promise<RunningServer> {
    const dataDir = join(this.directory, 'postgres');
    const port = await freePort();
    const { url, stop } = await startPostgres({ dataDir, port, settings: TEST_POSTGRES, logFile: `${dataDir}.log` });
    return { address: url, stop };
  }

  private async startTemporal(): Promise<RunningServer> {
    const logFile = join(this.directory, 'temporal.log');
    const { address, stop } = await startDevServer({
      cli: await findTemporalCli(() => {}),
      port: await freePort(),
      logFile,
    });
    return { address, stop };
  }

  async stop(): Promise<void> {
    await Promise.allSettled([...this.servers.values()].map(async (server) => (await server).stop()));
    this.servers.clear();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10 });
  }
}
