import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { DomainKey } from '../../db/models/domain-key.ts';
import { notFound } from '../../platform/errors.ts';
import type { Settings } from '../../platform/settings.ts';
import { type DomainRecord, wantedRecords, withChecks } from './records.ts';

export interface DomainWithRecords {
  domain: Domain;
  /** What must be published, and what was found of it. */
  records: DomainRecord[];
}

type Needs = Pick<Settings, 'mailFrom'>;

/** The oldest first. */
export async function listDomains(db: Db, projectId: string, settings: Needs): Promise<DomainWithRecords[]> {
  const domains = await Domain.query(db).where({ projectId }).orderBy('id');
  const keys = await DomainKey.query(db).whereIn(
    'domainId',
    domains.map(({ id }) => id),
  );
  return domains.map((domain) => recordsOf(domain, keys, settings));
}

export async function findDomain(db: Db, projectId: string, id: string, settings: Needs): Promise<DomainWithRecords> {
  const domain = await Domain.query(db).findOne({ projectId, id });
  if (!domain) throw notFound('domain');
  return recordsOf(domain, await DomainKey.query(db).where({ domainId: id }), settings);
}

export function recordsOf(domain: Domain, keys: DomainKey[], { mailFrom }: Needs): DomainWithRecords {
  const own = keys.filter(({ domainId }) => domainId === domain.id).sort((a, b) => (a.id < b.id ? -1 : 1));
  const wanted = wantedRecords(domain.domain, own, mailFrom);
  // Of what nobody checks only the key is worth telling: who wants to verify a signature needs it.
  const shown = domain.managed
    ? wanted.filter(({ purpose }) => purpose === 'DKIM').map((record) => ({ ...record, required: false }))
    : wanted;
  return { domain, records: withChecks(shown, domain.checks) };
}
