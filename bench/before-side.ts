// One side of `before.ts`: runs in a checkout of its revision, imports its modules and executes orders.
import { connectDb } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { endAll } from '../test/support/cleanup.ts';
import { startWorker } from '../test/support/processes.ts';
import { acceptingApi, type Targets } from './accept.ts';
import { audience, CONNECTIONS, DOMAIN, ours, RECIPIENTS } from './campaigns.ts';
import { startSink } from './sink.ts';

export type SideOrder =
  | { kind: 'api'; databaseUrl: string }
  | { kind: 'worker'; databaseUrl: string; temporal: { address: string; namespace: string } }
  | { kind: 'campaign' };

export interface SideAnswer {
  targets?: Targets;
  rate?: number;
}

let sendCampaign: () => Promise<number>;

async function execute(order: SideOrder): Promise<SideAnswer> {
  if (order.kind === 'api') return { targets: (await acceptingApi(order.databaseUrl)).targets };
  if (order.kind === 'campaign') return { rate: await sendCampaign() };
  const { databaseUrl, temporal } = order;
  await migrate(databaseUrl);
  const db = connectDb({ databaseUrl, poolSize: 4 });
  const project = await audience(db, RECIPIENTS, DOMAIN);
  await db.raw('vacuum analyze contacts');
  const sink = await startSink();
  const worker = await startWorker({
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SMTP_URL: sink.url,
    SMTP_MAX_CONNECTIONS: String(CONNECTIONS),
    DKIM_SIGNING: 'false',
    LOG_LEVEL: 'warn',
  });
  sendCampaign = async () => (await ours({ db, sink, worker }, project, RECIPIENTS)).rate;
  return {};
}

process.on('message', (order: SideOrder) => {
  execute(order).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      console.error(error);
      void end(1);
    },
  );
});
// A signal reaches the whole group; the parent disconnects when this process and its children are to end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
process.on('disconnect', () => void end(0));
if (!process.connected) void end(0);

async function end(code: number): Promise<void> {
  await endAll().catch(() => {});
  process.exit(code);
}
