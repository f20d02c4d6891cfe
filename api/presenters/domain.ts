import { recordPurposes } from '../../services/domains/records.ts';
import {
  dateTime,
  flag,
  list,
  namedType,
  nullable,
  oneOf,
  optional,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';

export { presentDomain } from '../../services/domains/present.ts';

const recordSchema = namedType('DnsRecord', 'A DNS record to publish, with the result of the last check.', {
  purpose: oneOf(...recordPurposes).description('What the record is for.'),
  type: oneOf('TXT', 'MX').description('Record type.'),
  name: text().description('Record name, including the domain.').example('_dmarc.example.com'),
  value: text().description('Record value.').example('v=DMARC1; p=none'),
  priority: optional(wholeNumber({ min: 0 })).description('Priority. Only for MX records.'),
  required: flag().description('Whether the domain needs the record to be verified.'),
  status: oneOf('MISSING', 'FOUND', 'MISMATCH').description(
    'Result of the last successful lookup; MISSING before the first.',
  ),
  found: nullable(text()).description('Published value, whether it matches or not; null if there is none.'),
  error: optional(text()).description('Why the last lookup failed; absent unless it did.'),
});

/** What the check of a campaign shows of its domain. */
export const domainRecordsShape = {
  domain: text().description('Domain name, in lower case and Punycode.').example('example.com'),
  verified: flag().description('Whether the domain is verified.'),
  records: list(recordSchema).description('DNS records to publish.'),
};

export const domainSchema = namedType('Domain', 'A sender domain.', {
  id: uuid().description('Domain ID.'),
  domain: text().description('Domain name, in lower case and Punycode.').example('example.com'),
  status: oneOf('PENDING', 'VERIFIED').description('Domain status.'),
  verified: flag().description('Whether `status` is VERIFIED.'),
  conflict: flag().description('Whether the domain stays PENDING because another project has verified it.'),
  records: list(recordSchema).description('DNS records to publish.'),
  verifiedAt: nullable(dateTime()).description('When the domain was verified; null while it is PENDING.'),
  lastCheckedAt: nullable(dateTime()).description('When the DNS records were last checked; null until then.'),
  projectId: uuid().description('Project ID.'),
  createdAt: dateTime().description('When the domain was added.'),
  updatedAt: dateTime().description('When the domain last changed.'),
});
