// Every interval after which a process polls, renews, gives something up or recovers, in milliseconds. Tests wait for them,
// so a test process uses shorter ones. Times that users are promised (retries, limits, retention) are not here.

/**
 * In production and in tests. What tests wait for after a crash takes about a tenth there, but long enough that a busy
 * machine, which stalls for a second, loses nothing. Polls are hardly shorter: dozens of idle workers would keep it busy.
 */
type Interval = readonly [production: number, test: number];

const intervals = {
  /** The right of a process to send mail, `senders.lease_until`. */
  senderLease: {
    lease: [15_000, 4_500],
    renew: [3_000, 700],
    /** Without a renewal for this long the lease counts as lost, well before the database lets others take its mail. */
    trust: [10_000, 3_500],
  },
  sender: {
    heartbeat: [3_000, 1_000],
    poll: [1_000, 1_000],
    retry: [1_000, 500],
    listCampaigns: [1_000, 500],
    checkCampaigns: [500, 400],
    databaseRetry: [500, 100],
    persistRetry: [1_000, 500],
    /** Takes back the mail of senders that died. */
    recovery: [5_000, 1_000],
  },
  /** Processes that render or compose end after this long without work. */
  limitedProcess: {
    keep: [60_000, 20_000],
  },
  /** Processes that can send, `mail_processes`. */
  mailProcess: {
    register: [10_000, 2_000],
    forgotten: [60_000, 20_000],
  },
  /** A claimed outbox message becomes due again after this time, in case its relay has died. */
  outboxClaim: {
    claim: [6_000, 2_000],
    renew: [2_000, 600],
    unreachable: [2_000, 400],
  },
  relay: {
    poll: [1_000, 1_000],
    trouble: [5_000, 2_000],
    /** Releases blocked mail whose release was missed. */
    sweep: [60_000, 6_000],
  },
  housekeeping: {
    aggregate: [2_000, 1_000],
    segments: [1_000, 1_000],
    accountMail: [1_000, 1_000],
    tidy: [10_000, 2_500],
    billing: [5_000, 2_000],
    security: [60_000, 6_000],
    sweep: [300_000, 30_000],
    hourly: [3_600_000, 360_000],
    trouble: [60_000, 6_000],
  },
  /** Loops of workers poll less often after this long without anything to do (worker/idle-mode.ts). */
  idleMode: {
    after: [60_000, 20_000],
    /** An API announces changes at most this often, which ends idle mode. */
    announce: [20_000, 5_000],
  },
  worker: {
    /** Restores schedules and search attributes of a namespace that was lost. */
    upkeep: [300_000, 30_000],
    firstReconnect: [500, 200],
    lastReconnect: [10_000, 1_000],
    deployment: [10_000, 1_000],
    deploymentSoon: [1_000, 500],
    stuckWorkflows: [5_000, 1_000],
    stuckWorkflowsTrouble: [30_000, 3_000],
    segmentSweep: [10_000, 2_000],
    segmentSweepRepeat: [300_000, 30_000],
  },
  /** Heartbeats of activities, and after which silence Temporal gives an activity to another worker. */
  activity: {
    heartbeat: [2_000, 1_000],
    /** The SDK sends no more than one in this time. */
    heartbeatThrottle: [60_000, 1_000],
    timeout: [20_000, 4_000],
    /** Also while Temporal is down: the SDK ends an activity 5 s after this, and a heartbeat that fails takes 10 s. */
    sendMailTimeout: [30_000, 8_000],
    reconcilerTimeout: [60_000, 10_000],
    /** Without heartbeats: a whole attempt. Longer than the calls that it makes. */
    advanceTimeout: [20_000, 6_000],
    webhookTimeout: [30_000, 15_000],
    domainCheckTimeout: [60_000, 20_000],
    /** After which a task of a workflow in a worker's cache goes to any worker. */
    stickyTask: [10_000, 2_000],
  },
  campaigns: {
    recheck: [1_000, 200],
    blockedRecheck: [15_000, 1_500],
    sendingRecheck: [60_000, 6_000],
  },
  webhooks: {
    poll: [500, 100],
    linger: [2_000, 400],
    slice: [25_000, 5_000],
    /** Longer than a slice with its last calls. */
    delivering: [90_000, 30_000],
    listenPoll: [500, 100],
    listenHeartbeat: [15_000, 1_500],
    /** A listener that was not seen for this long is removed. */
    listenerForgotten: [60_000, 20_000],
    firstReconnect: [1_000, 200],
    lastReconnect: [30_000, 3_000],
  },
  segments: {
    /**
     * Transactions that were open when a segment became tracked did not record their changes for it. After this time they
     * have ended, and all contacts are evaluated once.
     */
    reconcileAfter: [60_000, 20_000],
    retry: [60_000, 6_000],
  },
  /** How long a Temporal workflow may be missing, or not needed, before the reconciler acts. */
  reconciler: {
    grace: [120_000, 20_000],
  },
  billing: {
    /** A usage report in work. Longer than a call of Stripe. */
    claim: [120_000, 30_000],
  },
  /** The connection that LISTENs. */
  listener: {
    heartbeat: [2_000, 1_000],
    heartbeatTimeout: [3_000, 2_500],
    reconnect: [500, 100],
  },
  database: {
    synchroniseClock: [10_000, 2_000],
    /** Between two attempts of a process that starts before its database. */
    wait: [1_000, 200],
    /** After the last report of a full disk. */
    diskFull: [60_000, 2_000],
  },
  /** Answers of `/ready` that are repeated. */
  readiness: {
    cache: [1_000, 200],
    temporalCache: [3_000, 500],
  },
  /** Processes as operators see them. */
  processes: {
    heartbeat: [30_000, 2_000],
    alive: [90_000, 15_000],
    shownAlive: [120_000, 30_000],
  },
  live: {
    read: [1_000, 100],
    heartbeat: [15_000, 500],
    /** A client that has not read for this long is disconnected. */
    stalled: [30_000, 5_000],
    /** Longer than two heartbeats. */
    expires: [45_000, 8_000],
  },
  log: {
    /** An outage is logged once in this time for each cause. */
    outage: [60_000, 4_000],
  },
  requestLog: {
    flush: [1_000, 200],
  },
  /** Reads the certificates of the Temporal connection again. */
  certificates: {
    renew: [60_000, 6_000],
  },
} satisfies Record<string, Record<string, Interval>>;

type Intervals = typeof intervals;
export type Timings = { [Group in keyof Intervals]: { [Name in keyof Intervals[Group]]: number } };

const column = (index: 0 | 1): Timings =>
  Object.fromEntries(
    Object.entries(intervals).map(([group, values]) => [
      group,
      Object.fromEntries(Object.entries<Interval>(values).map(([name, interval]) => [name, interval[index]])),
    ]),
  ) as Timings;

export const PRODUCTION_TIMINGS = column(0);
export const TEST_TIMINGS = column(1);

/** Decides which set a process uses. Only a test may ask for the short one. */
export const timingsOf = (env: NodeJS.ProcessEnv): Timings =>
  env.NODE_ENV === 'test' && env.EVERPOST_TIMINGS === 'test' ? TEST_TIMINGS : PRODUCTION_TIMINGS;

/** The timings of this process, for parts that are given no others. */
export const processTimings = timingsOf(process.env);
