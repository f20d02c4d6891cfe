// Recipients for which the catcher misbehaves on purpose, so that anyone can rehearse what goes wrong with real servers.

export interface Misbehaviour {
  domain: string;
  /** For the page. */
  text: string;
  refusal?: { code: number; text: string };
  delayMs?: number;
  /** Reported after the mail was accepted. */
  report?: 'bounce' | 'complaint';
}

export const misbehaviours: Misbehaviour[] = [
  {
    domain: 'refuse.localhost',
    text: 'refused with 550 5.1.1: a hard bounce',
    refusal: { code: 550, text: '5.1.1 User unknown' },
  },
  {
    domain: 'policy.localhost',
    text: 'refused with 550 5.7.1: fails, and is no bounce',
    refusal: { code: 550, text: '5.7.1 Refused by policy' },
  },
  {
    domain: 'defer.localhost',
    text: 'deferred with 451 4.2.2: tried again later',
    refusal: { code: 451, text: '4.2.2 Mailbox full, try again later' },
  },
  { domain: 'slow.localhost', text: 'answered after 5 seconds', delayMs: 5_000 },
  { domain: 'bounce.localhost', text: 'accepted, then returned as a hard bounce', report: 'bounce' },
  { domain: 'complaint.localhost', text: 'accepted, then reported as spam', report: 'complaint' },
];

export function misbehaviourFor(address: string): Misbehaviour | undefined {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return misbehaviours.find((one) => one.domain === domain);
}
