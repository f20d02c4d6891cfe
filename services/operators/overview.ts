import type { Db } from '../../db/connect.ts';
import { queues as outboxQueues } from '../../db/models/outbox-queue.ts';
import { statement } from '../../db/statement.ts';
import { type MailBacklog, mailBacklog } from '../emails/backlog.ts';
import { outboxDepth } from '../outbox/depth.ts';
import { listParkedMessages, type ParkedMessage } from '../outbox/parked.ts';
import { listProcesses, type SeenProcess } from './processes.ts';
import { listStuckWorkflows, type StuckWorkflow } from './stuck-workflows.ts';

export interface QueueState {
  name: string;
  depth: number;
  /** Age in seconds of the oldest entry; 0 when the queue is empty. */
  oldestSeconds: number;
}

/** A webhook endpoint whose deliveries fail. */
export interface FailingEndpoint {
  id: string;
  projectId: string;
  url: string;
  failingSince: Date;
  enabled: boolean;
}

export interface Overview {
  queues: QueueState[];
  /** The mail that has been due for longest; null when none is due. */
  oldestDueMail: { dueAt: Date; ageSeconds: number } | null;
  /** Mails of which it is not known whether the relay took them. */
  unknownOutcomes: number;
  parkedOutbox: { count: number; messages: ParkedMessage[] };
  /** Temporal workflows whose task fails again and again. */
  stuckWorkflows: { count: number; workflows: StuckWorkflow[] };
  failingEndpoints: FailingEndpoint[];
  processes: SeenProcess[];
}

/** At most this many parked messages and failing endpoints are listed. */
const MAX_LISTED = 100;

const countUnknown = statement<{ count: number }>(
  'operator-unknown',
  "select count(*)::integer as count from emails where status = 'UNKNOWN'",
);

// Queues in Postgres besides the outbox and the mail itself, each with the time of its entries.
const otherQueues = statement<{ name: string; depth: number; oldest: number }>(
  'operator-queues',
  [
    { name: 'events', table: 'event_queue', at: 'event_created_at' },
    { name: 'notices', table: 'email_notices', at: 'created_at' },
    { name: 'webhooks', table: 'webhook_queue', at: 'event_created_at' },
  ]
    .map(
      ({ name, table, at }) =>
        `select '${name}' as name, count(*)::integer as depth,
           coalesce(extract(epoch from now() - min(${at})), 0)::float8 as oldest from ${table}`,
    )
    .join(' union all '),
);

/** Returns the queues of the installation: the outbox by queue, mail, and what waits to be recorded. */
export async function listQueues(db: Db): Promise<QueueState[]> {
  return queuesOf(db, await mailBacklog(db));
}

async function queuesOf(db: Db, { due, oldest }: MailBacklog): Promise<QueueState[]> {
  const outbox = new Map((await outboxDepth(db)).map((depth) => [depth.queue, depth]));
  return [
    { name: 'mail', depth: due, oldestSeconds: due > 0 ? oldest : 0 },
    ...outboxQueues.map((queue) => {
      const { waiting = 0, oldest: age = 0 } = outbox.get(queue) ?? {};
      return { name: `outbox/${queue}`, depth: waiting, oldestSeconds: age };
    }),
    ...(await otherQueues(db, [])).map(({ name, depth, oldest: age }) => ({ name, depth, oldestSeconds: age })),
  ];
}

const failing = statement<FailingEndpoint>(
  'operator-failing-endpoints',
  `select id, project_id, url, failing_since, enabled
   from webhook_endpoints where failing_since is not null order by failing_since, id limit $1`,
);

const listFailingEndpoints = (db: Db): Promise<FailingEndpoint[]> => failing(db, [MAX_LISTED]);

/** Returns the state of the installation as its operators see it. */
export async function readOverview(db: Db): Promise<Overview> {
  const backlog = await mailBacklog(db);
  const [unknown] = await countUnknown(db, []);
  const parked = await listParkedMessages(db, MAX_LISTED);
  return {
    queues: await queuesOf(db, backlog),
    oldestDueMail:
      backlog.due > 0 ? { dueAt: new Date(Date.now() - backlog.oldest * 1_000), ageSeconds: backlog.oldest } : null,
    unknownOutcomes: unknown?.count ?? 0,
    parkedOutbox: parked,
    stuckWorkflows: await listStuckWorkflows(db, MAX_LISTED),
    failingEndpoints: await listFailingEndpoints(db),
    processes: await listProcesses(db),
  };
}
