import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { DomainKey } from '../../db/models/domain-key.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import type { Settings } from '../../platform/settings.ts';
import { type DomainRecord, wantedRecords, withChecks } from './records.ts';

export interface DomainWithRecords {
  domain: Domain;
  /** The records to publish, with what was found. */
  records: DomainRecord[];
  /** The domain is pending and another project has verified its name. */
  conflict: boolean;
}

type RecordSettings = Pick<Settings, 'mailFrom'>;

/** Lists the domains of a project, oldest first. */
export async function listDomains(db: Db, projectId: string, settings: RecordSettings): Promise<DomainWithRecords[]> {
  const domains = await Domain.query(db).where({ projectId }).orderBy('id');
  if (domains.length === 0) return [];
  const keys = await DomainKey.query(db).whereIn(
    'domainId',
    domains.map(({ id }) => id),
  );
  const taken = await verifiedElsewhere(db, projectId, domains);
  return domains.map((domain) => recordsOf(domain, keys, settings, taken));
}

export async function findDomain(
  db: Db,
  projectId: string,
  id: string,
  settings: RecordSettings,
): Promise<DomainWithRecords> {
  const domain = await Domain.query(db).findOne({ projectId, id });
  if (!domain) throw notFound('domain');
  const keys = await DomainKey.query(db).where({ domainId: id });
  return recordsOf(domain, keys, settings, await verifiedElsewhere(db, projectId, [domain]));
}

/** Finds a domain. Rejects with 409 when it is pending and another project has verified its name. */
export async function findUncontested(
  db: Db,
  projectId: string,
  id: string,
  settings: RecordSettings,
): Promise<DomainWithRecords> {
  const found = await findDomain(db, projectId, id, settings);
  if (found.conflict) throw nameTaken(found.domain.domain);
  return found;
}

/** Returns the names among the pending domains that another project has verified. */
export async function verifiedElsewhere(
  db: Db,
  projectId: string,
  domains: Pick<Domain, 'domain' | 'status'>[],
): Promise<Set<string>> {
  const pending = domains.filter(({ status }) => status === 'PENDING').map(({ domain }) => domain);
  if (pending.length === 0) return new Set();
  const rows = await Domain.query(db)
    .where({ status: 'VERIFIED' })
    .whereIn('domain', pending)
    .whereNot({ projectId })
    .select('domain');
  return new Set(rows.map(({ domain }) => domain));
}

/** `taken`: names that another project has verified. */
export function recordsOf(
  domain: Domain,
  keys: DomainKey[],
  { mailFrom }: RecordSettings,
  taken: ReadonlySet<string> = new Set(),
): DomainWithRecords {
  const own = keys.filter(({ domainId }) => domainId === domain.id).sort((a, b) => (a.id < b.id ? -1 : 1));
  const wanted = wantedRecords(domain.domain, own, mailFrom);
  // A managed domain is not checked; its DKIM record is shown for verifying signatures.
  const shown = domain.managed
    ? wanted.filter(({ purpose }) => purpose === 'DKIM').map((record) => ({ ...record, required: false }))
    : wanted;
  const conflict = domain.status === 'PENDING' && taken.has(domain.domain);
  return { domain, records: withChecks(shown, domain.checks), conflict };
}

/** The error for adding or verifying a name that another project has verified. */
export const nameTaken = (name: string) =>
  new ApiError(409, 'CONFLICT', `The domain ${name} is verified by another project.`, {
    suggestion: 'A verified domain belongs to one project; delete it there first, or use a subdomain.',
  });
