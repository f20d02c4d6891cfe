import { run as suggest } from '@zootools/email-spell-checker';
import { parse } from 'tldts';
import { parseAddress } from '../../platform/address.ts';
import { senderDomain } from '../domains/name.ts';
import { isDisposable, isForwarder, isPersonal, isWellKnown } from './domain-lists.ts';
import type { MailReachCache } from './mail-reach.ts';

/** Whether mail to an address can be delivered, and the kind of address. */
export interface VerifiedAddress {
  email: string;
  valid: boolean;
  isDisposable: boolean;
  /** An address of a forwarding service. */
  isAlias: boolean;
  isTypo: boolean;
  isPlusAddressed: boolean;
  isPersonalEmail: boolean;
  domainExists: boolean | null;
  hasMxRecords: boolean | null;
  suggestedEmail?: string;
  reasons: string[];
}

export async function verifyAddress(mailReach: MailReachCache, given: string): Promise<VerifiedAddress> {
  const email = parseAddress(given);
  if (email === undefined) return malformed(given);
  const domain = senderDomain(email);
  const suggestedEmail = suggestionFor(email, domain);
  const kind = {
    isDisposable: isDisposable(domain),
    isAlias: isForwarder(domain),
    isTypo: suggestedEmail !== undefined,
    isPlusAddressed: email.slice(0, email.lastIndexOf('@')).includes('+'),
    isPersonalEmail: isPersonal(domain),
  };
  const { domainExists, hasMxRecords, reachable, reason } = await mailReach.find(domain);
  return {
    email,
    // A failed lookup does not make the address invalid.
    valid: reachable !== false,
    ...kind,
    domainExists,
    hasMxRecords,
    ...(suggestedEmail !== undefined && { suggestedEmail }),
    reasons: [
      ...(kind.isDisposable ? ['the domain gives out disposable addresses'] : []),
      ...(suggestedEmail !== undefined ? [`probably a typo of ${suggestedEmail}`] : []),
      ...(reason ? [reason] : []),
    ],
  };
}

const malformed = (given: string): VerifiedAddress => ({
  email: given,
  valid: false,
  isDisposable: false,
  isAlias: false,
  isTypo: false,
  isPlusAddressed: false,
  isPersonalEmail: false,
  domainExists: false,
  hasMxRecords: false,
  reasons: ['this is not the form of an e-mail address'],
});

/** Well-known domains are not treated as misspellings. */
function suggestionFor(email: string, domain: string): string | undefined {
  const suggested = isWellKnown(domain) ? undefined : suggest({ email });
  return suggested && isLikely(domain, suggested.domain) ? suggested.full : undefined;
}

/** Names of up to three letters are within two edits of most others; unusual but valid endings are not typos. */
function isLikely(domain: string, suggested: string): boolean {
  const [name = '', target = ''] = [domain, suggested].map((whole) => whole.split('.')[0]);
  if (name !== target) return target.length > 3;
  return isWellKnown(suggested) || !parse(domain).isIcann;
}
