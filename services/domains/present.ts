// Shows domains as JSON, in answers of the API and in webhooks.
import type { DomainWithRecords } from './find.ts';

export const presentDomain = ({ domain, records, conflict }: DomainWithRecords) => ({
  id: domain.id,
  domain: domain.domain,
  status: domain.status,
  verified: domain.status === 'VERIFIED',
  conflict,
  records: records.map(({ purpose, type, name, value, priority, required, status, found, error }) => ({
    purpose,
    type,
    name,
    value,
    ...(priority !== undefined && { priority }),
    required,
    status,
    found,
    ...(error && { error }),
  })),
  verifiedAt: domain.verifiedAt,
  lastCheckedAt: domain.lastCheckedAt,
  projectId: domain.projectId,
  createdAt: domain.createdAt,
  updatedAt: domain.updatedAt,
});
