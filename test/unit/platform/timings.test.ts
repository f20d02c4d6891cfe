import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../../../dev/root.ts';
import { readSettings } from '../../../platform/settings.ts';
import { PRODUCTION_TIMINGS, TEST_TIMINGS, type Timings, timingsOf } from '../../../platform/timings.ts';

/** Each pair: the first is shorter than the second. */
const inOrder = (timings: Timings): Record<string, [number, number]> => {
  const { senderLease, outboxClaim, mailProcess, activity, processes, live, webhooks, housekeeping } = timings;
  return {
    // A renewal that hangs for its whole time, and another one.
    'renew and trust': [3 * senderLease.renew, senderLease.trust],
    'trust and lease': [senderLease.trust, senderLease.lease],
    'renewal and claim of the outbox': [2 * outboxClaim.renew, outboxClaim.claim],
    'registration and forgotten': [3 * mailProcess.register, mailProcess.forgotten],
    'heartbeat and time-out': [3 * activity.heartbeat, activity.timeout],
    "the sender's heartbeat and time-out": [3 * timings.sender.heartbeat, activity.sendMailTimeout],
    // The SDK sends a heartbeat after at most 80 % of the time-out.
    'throttle and time-out': [Math.min(activity.heartbeatThrottle, 0.8 * activity.timeout), activity.timeout],
    // Temporal is down: the SDK tries a heartbeat for 10 s, and ends the activity 5 s after its time-out.
    'a failed heartbeat and the end of the sender': [
      Math.min(activity.heartbeatThrottle, 0.8 * activity.sendMailTimeout) + 10_000,
      activity.sendMailTimeout + 5_000,
    ],
    'heartbeat and alive': [2 * processes.heartbeat, processes.alive],
    'alive and shown as alive': [processes.alive, processes.shownAlive],
    'heartbeat and expiry of live streams': [2 * live.heartbeat, live.expires],
    'heartbeat and removal of listeners': [2 * webhooks.listenHeartbeat, webhooks.listenerForgotten],
    // A call takes up to 15 s.
    'slice and claim of an endpoint': [webhooks.slice + 15_000, webhooks.delivering],
    'a WEBHOOK step, whose call takes up to 10 s': [10_000, activity.webhookTimeout],
    'poll and back-off of relays': [timings.relay.poll, timings.relay.trouble],
    'tidying and back-off': [housekeeping.tidy, housekeeping.trouble],
  };
};

const production = { NODE_ENV: 'production', SECRET_KEY: 'k'.repeat(32) };

describe('timings', () => {
  for (const [name, timings] of Object.entries({ production: PRODUCTION_TIMINGS, test: TEST_TIMINGS }))
    it(`keeps the order of intervals that belong together, in ${name}`, () => {
      for (const [pair, [shorter, longer]] of Object.entries(inOrder(timings)))
        expect(shorter, pair).to.be.lessThan(longer);
    });

  it('has no interval in tests that is longer than in production', () => {
    for (const [group, intervals] of Object.entries(PRODUCTION_TIMINGS))
      for (const [name, ms] of Object.entries(intervals))
        expect(
          (TEST_TIMINGS as Record<string, Record<string, number>>)[group]?.[name],
          `${group}.${name}`,
        ).to.be.within(100, ms);
  });

  it('gives a lease more than two seconds of a busy machine', () => {
    expect(TEST_TIMINGS.senderLease.trust - 2 * TEST_TIMINGS.senderLease.renew).to.be.greaterThan(2_000);
  });

  it('uses the short ones only in a test that asks for them', () => {
    expect(timingsOf({ NODE_ENV: 'test', EVERPOST_TIMINGS: 'test' })).to.equal(TEST_TIMINGS);
    for (const env of [{}, { NODE_ENV: 'test' }, { NODE_ENV: 'test', EVERPOST_TIMINGS: 'production' }])
      expect(timingsOf(env)).to.equal(PRODUCTION_TIMINGS);
    for (const env of [production, { NODE_ENV: 'development' }, {}])
      expect(readSettings({ ...env, EVERPOST_TIMINGS: 'test' }).timings).to.equal(PRODUCTION_TIMINGS);
  });

  it('holds every interval: production code has no timer, lease or claim with a number of its own', () => {
    const found = sources().flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(LITERAL)].map(([text]) => `${file}: ${text}`),
    );
    expect(sources()).to.include('worker/relay.ts');
    expect(found).to.deep.equal([]);
  });
});

/** A repeated timer with a number; a constant that is named like such an interval; a heartbeat time-out. */
const LITERAL = new RegExp(
  [
    /setInterval\([^;]*, [\d_]+\)/,
    /const (?!KEEP_ALIVE)\w*(?:POLL|HEARTBEAT|BEAT|LEASE|CLAIM|RENEW|RECHECK|RECOVERY|ALIVE|FORGOTTEN|RECONNECT)(?:_MS|_SECONDS) = .*/,
    /(?:idleMs|troubleMs): [\d_]+/,
    /heartbeatTimeout: ['"\d].*/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

const FOLDERS = ['activities', 'api', 'cli', 'db', 'platform', 'services', 'temporal', 'worker', 'workflows'];

const sources = (): string[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
