// A TCP proxy in front of Postgres that breaks connections as networks do.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

interface Link {
  client: Socket;
  server: Socket;
  isSilent: boolean;
  /** Breaks the connection at the answer to the last statement. */
  breaksOnAnswer: boolean;
}

export interface PostgresProxy {
  url: string;
  /** Returns how many connections `breakOn` broke. */
  broken(): number;
  /** Open connections pass nothing on in either direction and stay open. New ones work. */
  silence(): void;
  /**
   * Breaks every connection on which a client sends `text`: as soon as it is passed on, or when the server answers
   * ReadyForQuery, which follows the commit. The answer never arrives.
   */
  breakOn(text: string, when: 'sent' | 'answered'): void;
  close(): Promise<void>;
}

/** ReadyForQuery outside of a transaction, the end of every answer. */
const READY_AND_IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const links = new Set<Link>();
  let broken = 0;
  let rule: { text: string; when: 'sent' | 'answered' } | undefined;

  const breakLink = ({ client }: Link) => {
    broken++;
    client.resetAndDestroy();
  };

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const link: Link = { client, server: upstream, isSilent: false, breaksOnAnswer: false };
    links.add(link);
    client.on('data', (chunk) => {
      if (link.isSilent) return;
      upstream.write(chunk);
      if (!rule || !chunk.includes(rule.text)) return;
      if (rule.when === 'sent') breakLink(link);
      else link.breaksOnAnswer = true;
    });
    upstream.on('data', (chunk) => {
      if (link.isSilent) return;
      if (!link.breaksOnAnswer) client.write(chunk);
      else if (chunk.subarray(-READY_AND_IDLE.length).equals(READY_AND_IDLE)) breakLink(link);
    });
    upstream.on('close', () => link.isSilent || client.destroy());
    client.on('close', () => {
      links.delete(link);
      // Ended, not destroyed: the server still reads what was sent before.
      upstream.end();
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);

  return {
    url: url.href,
    broken: () => broken,
    silence: () => {
      for (const link of links) link.isSilent = true;
    },
    breakOn: (text, when) => {
      rule = { text, when };
    },
    close: async () => {
      for (const link of links) link.client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
