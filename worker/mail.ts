// The part of a worker that sends mail.
import { connectDb, type Db } from '../db/connect.ts';
import type { Listener } from '../db/listener.ts';
import { newId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Settings } from '../platform/settings.ts';
import { Relays } from '../platform/smtp/relays.ts';
import { createRenderer } from '../platform/templates/index.ts';
import { SignerCache } from '../services/domains/signing-key.ts';
import {
  registerMailProcess,
  startSenderWorkflow,
  unregisterMailProcess,
} from '../services/outbox/sender-workflows.ts';
import { DomainPace } from '../services/sending/domain-pace.ts';
import { Preparation } from '../services/sending/prepare.ts';
import { RateLimit } from '../services/sending/rate-limit.ts';
import { recoverMails } from '../services/sending/recovery.ts';
import { Sender } from '../services/sending/sender.ts';
import { IDLE_FACTOR, type IdleMode } from './idle-mode.ts';
import { Loop } from './loop.ts';
import type { MailLoad } from './mail-load.ts';
import type { WorkerMetrics } from './metrics.ts';
import { WAKE_CHANNEL } from './relay.ts';
import { registerSendingMetrics } from './sending-metrics.ts';
import { mailQueueOptions } from './task-queue-options.ts';

export interface MailDeps {
  settings: Settings;
  /** Past a pooler, for what needs a session. */
  directUrl: string;
  metrics: WorkerMetrics;
  /** How much mail this process sends. */
  mailLoad: MailLoad;
  idleMode: IdleMode;
  log: Logger;
}

/** Connections of a sender: leases, contents, the writes of mails, results. */
const SENDER_POOL_SIZE = 6;

/** Starts what sends mail: the sender, which the activity of the mail queue runs, and the recovery of mails. */
export function startMail(
  { settings, directUrl, metrics, mailLoad, idleMode, log }: MailDeps,
  listener: Listener,
  { stopping, cut }: { stopping: AbortSignal; cut: AbortSignal },
) {
  const db = connectDb({
    databaseUrl: directUrl,
    poolSize: SENDER_POOL_SIZE,
    name: 'everpost-sender',
    timeouts: settings.databaseTimeouts.worker,
    onlyLookups: true,
  });
  const limitOf = (key: string, perSecond: number) => new RateLimit(db, key, perSecond);
  const relays = Relays.fromSettings(settings, { limitOf });
  const pace = new DomainPace({
    ceilings: settings.domainRates,
    limitOf,
    connections: relays.all.reduce((sum, { maxConnections }) => sum + maxConnections, 0),
  });
  const signers = settings.dkimSigning ? new SignerCache(db, listener, settings.secretKeys, log) : undefined;
  const renderer = createRenderer({ log });
  const preparation = new Preparation({
    db,
    renderer,
    links: settings,
    log,
    signerFor: signers && ((projectId: string, domain: string) => signers.signerFor(projectId, domain)),
    onQuarantined: metrics.countQuarantined,
  });
  const sender = new Sender({
    db,
    relays,
    pace,
    preparation,
    limits: settings,
    campaignInFlight: settings.campaignEmailsInFlight,
    timings: settings.timings,
    log,
    sendRatePerSecond: settings.sendRatePerSecond,
    billing: settings.stripe !== undefined,
    onResult: (kind) => {
      metrics.countResult(kind);
      mailLoad.count();
    },
    pollFactor: () => (idleMode.isOn() ? IDLE_FACTOR : 1),
  });
  registerSendingMetrics(metrics.registry, relays, pace);
  listener.on(WAKE_CHANNEL, (payload) => {
    const woken = payload.split(',');
    if (woken.includes('mail')) sender.wake('mail');
    if (woken.includes('campaigns')) sender.wake('campaigns');
  });
  idleMode.onEnd(() => {
    sender.wake('mail');
    sender.wake('campaigns');
  });
  const loops = [recoveryLoop(db, settings, log), registrationLoop(db, settings, log)];
  return {
    queues: [mailQueueOptions({ sender, stopping, cut })],
    close: async () => {
      for (const loop of loops) await loop.stop();
      relays.close();
      await preparation.close();
      await renderer.close();
      await db.destroy();
    },
  };
}

/** Also while no sender runs: what senders left behind is recovered as long as there is a process that can send. */
const recoveryLoop = (db: Db, { timings }: Settings, log: Logger): Loop =>
  new Loop({
    name: 'mail recovery',
    idleMs: timings.sender.recovery,
    troubleMs: timings.sender.recovery,
    log,
    round: async () => {
      const recovered = await recoverMails(db);
      if (recovered > 0) log.info({ recovered }, 'recovered mail that a sender left behind');
      return 'idle';
    },
  });

/** Registers this process, and starts the sender workflows that are missing for it. */
function registrationLoop(db: Db, { timings }: Settings, log: Logger): { stop(): Promise<void> } {
  const processId = newId();
  let started = 0;
  const loop = new Loop({
    name: 'mail process',
    idleMs: timings.mailProcess.register,
    troubleMs: timings.mailProcess.register,
    log,
    round: async () => {
      const wanted = await registerMailProcess(db, processId);
      for (; started < wanted; started++) await startSenderWorkflow(db, started + 1);
      return 'idle';
    },
  });
  return {
    stop: async () => {
      await loop.stop();
      await unregisterMailProcess(db, processId).catch(() => {});
    },
  };
}
