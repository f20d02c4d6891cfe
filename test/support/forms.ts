// Forms of a test: proofs of work, and what workers do with submissions.
import type { Db } from '../../db/connect.ts';
import { MailReachCache } from '../../services/addresses/mail-reach.ts';
import { acceptAll } from '../../services/forms/accept.ts';
import { carryOutDue } from '../../services/forms/due.ts';
import { solveFast } from './proof-of-work.ts';

// Lookups that fail refuse nobody.
const unknown = async () => ({ kind: 'unknown' as const, reason: 'no name server' });
const mailReach = new MailReachCache({ mx: unknown, addresses: unknown });

export const formSettings = {
  forms: { confirmationsPerAddressPerDay: 3, submissionsPerIpPerHour: 0 },
  production: true,
  dnsServers: [],
};

/** Decides about what was received. */
export const decideSubmissions = (db: Db): Promise<void> => acceptAll({ db, settings: formSettings, mailReach });

/** Does what is due: reminders, expiry, erasure. */
export const carryOutSubmissions = (db: Db): Promise<number> => carryOutDue(db, formSettings);

export interface GivenChallenge {
  token: string;
  difficulty: number;
}

/** The work that a browser does for a form and an address. */
export const solveChallenge = ({ token, difficulty }: GivenChallenge, formId: string, email: string): string =>
  solveFast(token, difficulty, formId, email);
