import { UniqueViolationError } from 'objection';
import { getDomain } from 'tldts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { Domain, type RecordCheck } from '../../db/models/domain.ts';
import { DomainKey } from '../../db/models/domain-key.ts';
import type { Resolver } from '../../platform/resolver.ts';
import type { Settings } from '../../platform/settings.ts';
import { verifiedElsewhere } from './find.ts';
import { mailMembersAboutDomain } from './mail-members.ts';
import { notifyDomainsChanged } from './notify.ts';
import { checkKey, judge, type Verdict, verdictOf, type WantedRecord, wantedRecords, withChecks } from './records.ts';
import { releaseMailOfDomain } from './release-mail.ts';

export interface CheckDeps {
  db: Db;
  resolver: Resolver;
  settings: Pick<Settings, 'mailFrom' | 'domainCheck' | 'systemFrom' | 'baseUrl'>;
}

/** How a check went. `gone`: there is nothing to check any more, at least not for whoever asked. */
export type Checked = { gone: true } | { gone: false; status: Domain['status']; verdict: Verdict; nextSeconds: number };

/** So many failed checks in a row take a verification away. */
const LOSS_AFTER = 3;
const MAX_ATTEMPTS = 3;
const PRIVATE_TOO = { allowPrivateDomains: true };

/**
 * Looks the records of a domain up and writes down what that means. `generation` is that of the loop which asks: one
 * that has been replaced by a newer one finds nothing to do. The questions are asked outside of the transaction.
 */
export async function checkDomain(deps: CheckDeps, domainId: string, generation?: number): Promise<Checked> {
  const { db, resolver, settings } = deps;
  const before = await Domain.query(db).findById(domainId);
  if (!before || before.managed || isOutdated(before, generation)) return { gone: true };
  const keys = await DomainKey.query(db).where({ domainId }).orderBy('id');
  const wanted = wantedRecords(before.domain, keys, settings.mailFrom);
  const answers = await Promise.all(wanted.map((record) => lookUp(resolver, before.domain, record)));
  return retryTaken(() => record(deps, domainId, generation, wanted, answers));
}

type Answers = Awaited<ReturnType<typeof lookUp>>[];

async function record(
  deps: CheckDeps,
  domainId: string,
  generation: number | undefined,
  wanted: WantedRecord[],
  answers: Answers,
): Promise<Checked> {
  return inTransaction(deps.db, async (trx) => {
    const domain = await Domain.query(trx).findById(domainId).forNoKeyUpdate();
    if (!domain || isOutdated(domain, generation)) return { gone: true };
    const checks: Record<string, RecordCheck> = {};
    wanted.forEach((record, place) => {
      const [key, answer] = [checkKey(record), answers[place]];
      if (answer) checks[key] = judge(record, answer, domain.checks[key]);
    });
    return write(trx, deps, domain, wanted, checks);
  });
}

/** Another project verified the name at the same moment and won; on the next attempt its row is visible. */
async function retryTaken<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof UniqueViolationError) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function lookUp(resolver: Resolver, domain: string, { type, purpose, name }: WantedRecord) {
  if (type === 'MX') return resolver.mx(name);
  const answer = await resolver.txt(name);
  // RFC 7489, 6.6.3: a subdomain without a policy of its own has that of its organisation.
  const organisation = purpose === 'DMARC' && answer.kind === 'absent' && getDomain(domain, PRIVATE_TOO);
  return organisation && organisation !== domain ? resolver.txt(`_dmarc.${organisation}`) : answer;
}

const isOutdated = (domain: Domain, generation: number | undefined): boolean =>
  generation !== undefined && domain.generation !== generation;

async function write(
  trx: Db,
  { settings }: CheckDeps,
  domain: Domain,
  wanted: WantedRecord[],
  checks: Record<string, RecordCheck>,
): Promise<Checked> {
  const verdict = verdictOf(withChecks(wanted, checks));
  const { status, failedChecks } = await withoutConflict(trx, domain, afterCheck(domain, verdict));
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
    if (status === 'VERIFIED') await releaseMailOfDomain(trx, domain);
  }
  const { pendingSeconds, verifiedSeconds } = settings.domainCheck;
  return { gone: false, status, verdict, nextSeconds: status === 'VERIFIED' ? verifiedSeconds : pendingSeconds };
}

/** A name that another project has verified leaves this one pending, whatever its records say. */
async function withoutConflict<State extends Pick<Domain, 'status'>>(
  trx: Db,
  { projectId, domain, status }: Domain,
  next: State,
): Promise<State> {
  if (status === next.status || next.status !== 'VERIFIED') return next;
  const taken = await verifiedElsewhere(trx, projectId, [{ domain, status }]);
  return taken.size > 0 ? { ...next, status } : next;
}

/** The whole rule, pure: what could not be asked changes nothing, and one or two bad answers may be a mistake. */
export function afterCheck(
  { status, failedChecks }: Pick<Domain, 'status' | 'failedChecks'>,
  verdict: Verdict,
): Pick<Domain, 'status' | 'failedChecks'> {
  if (verdict === 'unknown') return { status, failedChecks };
  if (verdict === 'passed') return { status: 'VERIFIED', failedChecks: 0 };
  const failed = failedChecks + 1;
  return { status: failed >= LOSS_AFTER ? 'PENDING' : status, failedChecks: failed };
}
