import { recordPurposes } from '../../services/domains/records.ts';
import { dateTime, flag, list, nullable, object, oneOf, optional, text, uuid, wholeNumber } from '../http/schemas.ts';

export { presentDomain } from '../../services/domains/present.ts';

const recordSchema = object({
  purpose: oneOf(...recordPurposes),
  type: oneOf('TXT', 'MX'),
  name: text(),
  value: text(),
  priority: optional(wholeNumber({ min: 0 })),
  required: flag(),
  status: oneOf('MISSING', 'FOUND', 'MISMATCH'),
  /** The published value, whether it matches or not. */
  found: nullable(text()),
  /** Set where the last lookup failed; the status is then the previous one. */
  error: optional(text()),
});

export const domainSchema = object({
  id: uuid(),
  domain: text(),
  status: oneOf('PENDING', 'VERIFIED'),
  verified: flag(),
  /** Pending because another project has verified the name. */
  conflict: flag(),
  records: list(recordSchema),
  verifiedAt: nullable(dateTime()),
  lastCheckedAt: nullable(dateTime()),
  projectId: uuid(),
  createdAt: dateTime(),
  updatedAt: dateTime(),
});
