import { UniqueViolationError } from 'objection';
import { getDomain } from 'tldts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { Domain, type RecordCheck } from '../../db/models/domain.ts';
import { DomainKey } from '../../db/models/domain-key.ts';
import type { Resolver } from '../../platform/http/resolver.ts';
import type { Settings } from '../../platform/settings.ts';
import { recordAudit } from '../audit/record.ts';
import { releaseBlockedMail } from '../blocking/release.ts';
import { verifiedElsewhere } from './find.ts';
import { mailMembersAboutDomain } from './mail-members.ts';
import { notifyDomainsChanged } from './notify.ts';
import {
  type CheckOutcome,
  checkKey,
  checkOutcomeOf,
  evaluateRecord,
  type WantedRecord,
  wantedRecords,
  withChecks,
} from './records.ts';

export interface CheckDeps {
  db: Db;
  resolver: Pick<Resolver, 'txt' | 'mx'>;
  settings: Pick<Settings, 'mailFrom' | 'domainCheck' | 'systemFrom' | 'baseUrl'>;
}

/** The result of a check. `gone`: the domain was removed, or the caller's loop was replaced. */
export type DomainCheck =
  | { gone: true }
  | { gone: false; status: Domain['status']; outcome: CheckOutcome; nextSeconds: number };

/** A verified domain becomes pending after this many failed checks in a row. */
const MAX_FAILED_CHECKS = 3;
const MAX_ATTEMPTS = 3;
const WITH_PRIVATE_SUFFIXES = { allowPrivateDomains: true };

/**
 * Looks up the records of a domain and stores the result. `generation` is that of the calling loop; a loop that was
 * replaced by a newer one does nothing. The lookups run outside the transaction.
 */
export async function checkDomain(deps: CheckDeps, domainId: string, generation?: number): Promise<DomainCheck> {
  const { db, resolver, settings } = deps;
  const before = await Domain.query(db).findById(domainId);
  if (!before || before.managed || isOutdated(before, generation)) return { gone: true };
  const keys = await DomainKey.query(db).where({ domainId }).orderBy('id');
  const wanted = wantedRecords(before.domain, keys, settings.mailFrom);
  const answers = await Promise.all(wanted.map((record) => lookUp(resolver, before, record)));
  return retryConflict(() => record(deps, domainId, generation, wanted, answers));
}

type Answers = Awaited<ReturnType<typeof lookUp>>[];

async function record(
  deps: CheckDeps,
  domainId: string,
  generation: number | undefined,
  wanted: WantedRecord[],
  answers: Answers,
): Promise<DomainCheck> {
  return inTransaction(deps.db, async (trx) => {
    const domain = await Domain.query(trx).findById(domainId).forNoKeyUpdate();
    if (!domain || isOutdated(domain, generation)) return { gone: true };
    const checks: Record<string, RecordCheck> = {};
    wanted.forEach((record, index) => {
      const key = checkKey(record);
      const answer = answers[index];
      if (answer) checks[key] = evaluateRecord(record, answer, domain.checks[key]);
    });
    return write(trx, deps, domain, wanted, checks);
  });
}

/** Retries after another project verified the name concurrently; its row is visible to the next attempt. */
async function retryConflict<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof UniqueViolationError) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function lookUp(
  resolver: CheckDeps['resolver'],
  { domain, projectId }: Domain,
  { type, purpose, name }: WantedRecord,
) {
  if (type === 'MX') return resolver.mx(name, projectId);
  const answer = await resolver.txt(name, projectId);
  // RFC 7489, 6.6.3: a subdomain without a policy uses that of its organisational domain.
  const organisation = purpose === 'DMARC' && answer.kind === 'absent' && getDomain(domain, WITH_PRIVATE_SUFFIXES);
  return organisation && organisation !== domain ? resolver.txt(`_dmarc.${organisation}`, projectId) : answer;
}

const isOutdated = (domain: Domain, generation: number | undefined): boolean =>
  generation !== undefined && domain.generation !== generation;

async function write(
  trx: Db,
  { settings }: CheckDeps,
  domain: Domain,
  wanted: WantedRecord[],
  checks: Record<string, RecordCheck>,
): Promise<DomainCheck> {
  const outcome = checkOutcomeOf(withChecks(wanted, checks));
  const { status, failedChecks } = await withoutConflict(trx, domain, afterCheck(domain, outcome));
  const now = new Date();
  const changed = status !== domain.status;
  const verifiedAt = status === 'PENDING' ? null : changed ? now : domain.verifiedAt;
  await Domain.query(trx)
    .findById(domain.id)
    .patch({
      status,
      failedChecks,
      checks,
      verifiedAt,
      lastCheckedAt: now,
      ...(changed && { updatedAt: now, everVerified: true }),
    });
  if (changed) {
    await notifyDomainsChanged(trx, domain.projectId);
    await mailMembersAboutDomain(trx, settings, domain, status);
    await recordAudit(
      trx,
      { projectId: domain.projectId },
      {
        action: status === 'VERIFIED' ? 'domain.verified' : 'domain.lost',
        target: { type: 'domain', id: domain.id },
      },
    );
    if (status === 'VERIFIED') await releaseBlockedMail(trx, domain);
  }
  const { pendingSeconds, verifiedSeconds } = settings.domainCheck;
  return { gone: false, status, outcome, nextSeconds: status === 'VERIFIED' ? verifiedSeconds : pendingSeconds };
}

/** Keeps the domain pending when another project has verified the name. */
async function withoutConflict<State extends Pick<Domain, 'status'>>(
  trx: Db,
  { projectId, domain, status }: Domain,
  next: State,
): Promise<State> {
  if (status === next.status || next.status !== 'VERIFIED') return next;
  const taken = await verifiedElsewhere(trx, projectId, [{ domain, status }]);
  return taken.size > 0 ? { ...next, status } : next;
}

/** Decides the next state. A failed lookup changes nothing, and one or two bad answers may be a mistake. */
export function afterCheck(
  { status, failedChecks }: Pick<Domain, 'status' | 'failedChecks'>,
  outcome: CheckOutcome,
): Pick<Domain, 'status' | 'failedChecks'> {
  if (outcome === 'unknown') return { status, failedChecks };
  if (outcome === 'passed') return { status: 'VERIFIED', failedChecks: 0 };
  const failed = failedChecks + 1;
  return { status: failed >= MAX_FAILED_CHECKS ? 'PENDING' : status, failedChecks: failed };
}
