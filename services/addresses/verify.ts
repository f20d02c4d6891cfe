import { createRequire } from 'node:module';
import { run as suggest } from '@zootools/email-spell-checker';
import { isDisposableEmailDomain } from 'disposable-email-domains-js';
import { parse } from 'tldts';
import { parseAddress } from '../../platform/address.ts';
import { senderDomain } from '../domains/name.ts';
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

export async function verifyAddress(
  mailReach: MailReachCache,
  projectId: string,
  given: string,
): Promise<VerifiedAddress> {
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
  const { domainExists, hasMxRecords, reachable, reason } = await mailReach.find(domain, projectId);
  return {
    email,
    // A failed lookup does not make the address invalid.
    valid: reachable !== false,
    ...kind,
    domainExists,
    hasMxRecords,
    ...(suggestedEmail !== undefined && { suggestedEmail }),
    reasons: [
      ...(kind.isDisposable ? ['the domain provides disposable addresses'] : []),
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
  reasons: ['not a valid email address'],
});

/** Well-known domains are not treated as misspellings. */
function suggestionFor(email: string, domain: string): string | undefined {
  const suggested = isWellKnown(domain) ? undefined : suggest({ email });
  return suggested && isLikely(domain, suggested.domain) ? suggested.full : undefined;
}

/** Names of up to three letters are within two edits of most others; unusual but valid endings are not typos. */
function isLikely(domain: string, suggested: string): boolean {
  const [name = ''] = domain.split('.');
  const [target = ''] = suggested.split('.');
  if (name !== target) return target.length > 3;
  return isWellKnown(suggested) || !parse(domain).isIcann;
}

const require = createRequire(import.meta.url);
const listOf = (name: string): Set<string> => new Set(require(`email-providers/${name}.json`) as string[]);

/** All mailbox providers, including disposable and misspelled ones, and the well-known among them. */
const providers = listOf('all');
const wellKnown = listOf('common');

/** Forwarding services; no maintained list of them exists. */
const forwarders = new Set([
  // SimpleLogin and Proton Pass
  'simplelogin.com',
  'simplelogin.co',
  'simplelogin.fr',
  'aleeas.com',
  'slmail.me',
  'slmails.com',
  'silomails.com',
  '8alias.com',
  '8shield.net',
  'dralias.com',
  'passmail.net',
  'passmail.com',
  'passinbox.com',
  'passfwd.com',
  // addy.io
  'addy.io',
  'anonaddy.com',
  'anonaddy.me',
  'addymail.com',
  // Apple, DuckDuckGo, Firefox
  'privaterelay.appleid.com',
  'duck.com',
  'mozmail.com',
  'relay.firefox.com',
  // 33mail, Cloaked, IronVest, erine.email, StartMail
  '33mail.com',
  '33m.co',
  'cloaked.id',
  'opayq.com',
  'erine.email',
  'use.startmail.com',
]);

const withParents = (domain: string): string[] => {
  const labels = domain.split('.');
  return labels.slice(0, -1).map((_, start) => labels.slice(start).join('.'));
};

/** Checks parent domains too, since many providers give each visitor a subdomain. */
export const isDisposable = (domain: string): boolean => withParents(domain).some(isDisposableEmailDomain);

const isForwarder = (domain: string): boolean => withParents(domain).some((name) => forwarders.has(name));

const isPersonal = (domain: string): boolean => providers.has(domain) && !isDisposable(domain);

const isWellKnown = (domain: string): boolean => wellKnown.has(domain) || isForwarder(domain);
