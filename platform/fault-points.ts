/**
 * The places at which tests end a process while it sends mail, in the order in which a mail passes them; the last ones
 * are in the process that recovers mail. `docs/sending.md` says for each what is in Postgres, what the relay has seen, and
 * what happens next.
 */
export const faultPoints = [
  'sender-started',
  'mail-leased',
  'mail-prepared',
  'connected',
  'before-begin',
  'after-begin',
  'before-data',
  'after-data',
  'before-end',
  'after-end',
  'before-persist',
  'after-persist',
  'before-release',
  'after-release',
  'recovery-outcomes-stored',
  'recovery-mails-freed',
  'recovery-results-persisted',
] as const;

export type FaultPoint = (typeof faultPoints)[number];

/**
 * The same outside of sending: `accept`, `relay`, `match`, `step`, `job`, `delivery`, `publish`, `confirm`, `submission`, `timer`. `docs/reliability.md`
 * says for each what happens next.
 */
export const otherFaultPoints = [
  'accept-before',
  'accept-after',
  'relay-claimed',
  'relay-sent',
  'relay-resolved',
  'match-before-commit',
  'match-after-commit',
  'step-before-write',
  'step-after-write',
  'step-webhook-called',
  'job-chunk-applied',
  'job-chunk-committed',
  'delivery-expanded',
  'delivery-called',
  'delivery-written',
  'publish-committed',
  'publish-set-moved',
  'confirm-before-commit',
  'submission-before-commit',
  'submission-after-commit',
  'timer-before-commit',
  'timer-after-commit',
] as const;

export type OtherFaultPoint = (typeof otherFaultPoints)[number];

/** `EVERPOST_FAULT_POINT=after-begin:3` ends the process when it reaches the point for the third time. */
const [point, count = '1'] =
  process.env.NODE_ENV === 'production' ? [] : (process.env.EVERPOST_FAULT_POINT ?? '').split(':');
let left = Number(count);

/** Does nothing, except in a test that names this point. */
export function faultPoint(name: FaultPoint | OtherFaultPoint): void {
  if (name !== point) return;
  left--;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}
