// Sends due mail without Temporal, with the sender of the product and real SMTP servers.
import { connectDb, type Db } from '../../db/connect.ts';
import { newId } from '../../platform/ids.ts';
import { createLogger } from '../../platform/logger.ts';
import { Relay } from '../../platform/smtp/relay.ts';
import { parseRelays } from '../../platform/smtp/relay-settings.ts';
import { Relays } from '../../platform/smtp/relays.ts';
import { processTimings, type Timings } from '../../platform/timings.ts';
import { DomainPace } from '../../services/sending/domain-pace.ts';
import { noResults, type ResultCounts, resultKinds } from '../../services/sending/outcome.ts';
import { Preparation, type PreparationDeps } from '../../services/sending/prepare.ts';
import { RateLimit } from '../../services/sending/rate-limit.ts';
import { Sender, type SenderDeps, type SendingTime } from '../../services/sending/sender.ts';
import { testComposer } from './composer.ts';
import { testLinkSettings } from './links.ts';
import { testRenderer } from './renderer.ts';

export const testLimits = { campaignMaxBounceRate: 0.1, campaignMaxComplaintRate: 0.005 };

export interface TestSenderOptions
  extends Partial<Omit<SenderDeps, 'db'>>,
    Partial<Pick<PreparationDeps, 'signerFor' | 'composer' | 'renderer'>> {
  /** Like `SMTP_URL`: several relays with commas between them. */
  url: string;
  /** Of each relay. */
  connections?: number;
  timeouts?: { connectMs?: number; greetingMs?: number; silenceMs?: number };
  /** The clock of the shares of relays and of the pace of domains, for tests that decide how much time has passed. */
  clock?: () => number;
  /** Like `SMTP_RELAY_PAUSE_MS`. */
  pauseMs?: number;
  /** Like `DOMAIN_RATES`. */
  ceilings?: Map<string, number>;
}

export interface TestSender {
  sender: Sender;
  relays: Relays;
  pace: DomainPace;
  /** Runs until no mail is due, and returns the results. With `stop` or `durationMs`, runs once. */
  send(time?: Partial<SendingTime>): Promise<ResultCounts>;
  close(): Promise<void>;
}

export const counts = (change: Partial<ResultCounts>): ResultCounts => ({ ...noResults(), ...change });

const log = createLogger('test', 'silent');

const HOUR_MS = 3_600_000;
/** No sender in the process of a test dies, so a slow machine must not end its lease. `endLeases` does. */
export const longLease: Timings['senderLease'] = { ...processTimings.senderLease, lease: HOUR_MS, trust: HOUR_MS };
const timings: Timings = { ...processTimings, senderLease: longLease };

/** Creates a sender with a connection pool of its own, like a process with the role `mail`. */
export function testSender(databaseUrl: string, options: TestSenderOptions): TestSender {
  const { url, connections = 5, timeouts = {}, pauseMs = 600, ceilings = new Map(), clock, ...more } = options;
  const { signerFor, composer = testComposer(), renderer = testRenderer(), ...deps } = more;
  const db = connectDb({ databaseUrl, poolSize: 6, name: 'everpost-sender', onlyLookups: true });
  const limitOf = (key: string, perSecond: number) => new RateLimit(db, key, perSecond);
  const relays = new Relays(
    parseRelays(url).map(
      ({ maxConnections = connections, ...relay }) => new Relay({ ...relay, maxConnections, pauseMs, timeouts }),
    ),
    { limitOf, clock },
  );
  const all = relays.all.reduce((sum, { maxConnections }) => sum + maxConnections, 0);
  // A slow machine must not look like a slow recipient domain, whose mail is slowed.
  const connectionClock = clock ?? (() => 0);
  const pace = new DomainPace({ ceilings, limitOf, connections: all, clock, connectionClock });
  const preparation = new Preparation({ db, renderer, composer, links: testLinkSettings, log, signerFor });
  const sender = new Sender({
    db,
    relays,
    pace,
    preparation,
    limits: testLimits,
    campaignInFlight: 2,
    billing: false,
    log,
    timings,
    ...deps,
  });
  return {
    sender,
    relays,
    pace,
    send: async (time = {}) => {
      const total = noResults();
      const isLimited = time.stop !== undefined || time.durationMs !== undefined;
      do {
        const run = await sender.run({
          durationMs: 120_000,
          stop: new AbortController().signal,
          untilIdle: true,
          ...time,
        });
        for (const kind of resultKinds) total[kind] += run[kind];
      } while (!isLimited && (await hasDueMail(db)));
      return total;
    },
    close: async () => {
      relays.close(true);
      await db.destroy();
    },
  };
}

async function hasDueMail(db: Db): Promise<boolean> {
  const { rows } = await db.raw(
    `select 1 from emails e left join campaigns c on c.id = e.campaign_id
     where e.status = 'PENDING' and e.due_at <= now()
       and (e.campaign_id is null or (c.status = 'SENDING' and not c.paused and c.frozen_at is not null))
       and not exists (select 1 from outgoing_mails o where o.email_id = e.id) limit 1`,
  );
  return rows.length > 0;
}

/** Writes a row of `outgoing_mails` as a sender leaves it that has begun the mail. `senderId`: unset for one that died. */
export async function putInFlight(
  db: Db,
  emailId: string,
  { senderId = newId(), relay = null }: { senderId?: string; relay?: string | null } = {},
): Promise<void> {
  // Recovery removes the row of a sender with its last mail.
  await db('senders')
    .insert({ id: senderId, leaseUntil: new Date(0) })
    .onConflict('id')
    .ignore();
  await db.raw(
    `insert into outgoing_mails (email_id, sender_id, project_id, contact_id, campaign_id, number, recipient, relay, started_at)
     select id, ?, project_id, contact_id, campaign_id, attempts + 1, 'someone@example.com', ?, now() from emails where id = ?`,
    [senderId, relay, emailId],
  );
}

/** Writes a row of `outgoing_mails` as a sender leaves it that has leased the mail. */
export const putLeased = (db: Db, emailId: string, senderId: string) =>
  db.raw(
    `insert into outgoing_mails (email_id, sender_id, project_id, contact_id)
     select id, ?, project_id, contact_id from emails where id = ?`,
    [senderId, emailId],
  );

/** The mails that senders have begun and whose result is not stored: those with an unknown outcome after a crash. */
export const inDoubt = (db: Db): Promise<{ emailId: string; campaignId: string | null; senderId: string }[]> =>
  db('outgoing_mails').whereNotNull('startedAt').whereNull('endedAt').select('emailId', 'campaignId', 'senderId');

/** Ends the leases of all senders, as if they had been stopped for longer than a lease. */
export const endLeases = (db: Db) => db('senders').update({ leaseUntil: new Date(0) });
