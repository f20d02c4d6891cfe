import { flag, list, namedType, nullable, object, optional, text } from '../http/schemas.ts';

export const verifiedSchema = namedType('VerifyAddressResponse', 'Result of an address check.', {
  success: flag().description('Always true.'),
  data: object({
    email: text({ min: 0 }).description('The address: in lower case, or as given if it is malformed.'),
    valid: flag().description('Whether the address is well-formed and its domain accepts email, as far as is known.'),
    isDisposable: flag().description('Whether the domain provides disposable addresses.'),
    isAlias: flag().description('Whether the domain belongs to a forwarding service.'),
    isTypo: flag().description('Whether the domain looks misspelled.'),
    isPlusAddressed: flag().description('Whether the part before the @ contains a plus sign.'),
    isPersonalEmail: flag().description('Whether the domain belongs to a public mailbox provider.'),
    domainExists: nullable(flag()).description('Whether the domain exists; null if the lookup failed.'),
    hasMxRecords: nullable(flag()).description('Whether the domain has MX records; null if the lookup failed.'),
    suggestedEmail: optional(text()).description('Suggested correction; absent unless `isTypo` is true.'),
    reasons: list(text()).description('Findings, as text.'),
  }).description('The result.'),
});
