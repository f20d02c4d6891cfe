import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { parse } from 'tldts';

/** RFC 1035: 253 characters, also for the longest published name `<selector>._domainkey.<domain>`. */
const MAX_NAME = 253;
const LONGEST_PREFIX = 'ep12345678._domainkey.'.length;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export type DomainName = { name: string } | { violation: string };

/** Normalizes a domain for storage and comparison: lower case, punycode, no trailing dot. */
export function readDomainName(text: string): DomainName {
  const given = text.trim().replace(/\.$/, '');
  if (given.length > MAX_NAME) return { violation: `is longer than the ${MAX_NAME} characters of a domain name` };
  if (isIP(given.replace(/^\[|\]$/g, ''))) return { violation: 'is an IP address; use a domain name' };
  // domainToASCII reads these as parts of a URL, or drops them silently.
  if (/[\s/\\@:?#%*_[\]<>^|]/.test(given)) return { violation: 'must be a bare domain name, such as example.com' };
  const name = domainToASCII(given);
  if (!name.split('.').every((label) => LABEL.test(label))) return { violation: 'is not a valid domain name' };
  if (isIP(name)) return { violation: 'is an IP address; use a domain name' };
  if (!name.includes('.')) return { violation: 'is a single label; use a name such as example.com' };
  if (name.length > MAX_NAME - LONGEST_PREFIX) return { violation: 'is too long for its DNS records' };
  const { domain, publicSuffix } = parse(name, { allowPrivateDomains: true });
  if (!domain) return { violation: `is a public suffix (${publicSuffix ?? name}), not a domain that you can own` };
  return { name };
}

/** Returns the sender domain of an address in its stored form. */
export function senderDomain(email: string): string {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  // Nearly all are ASCII; the regular expression is cheaper than the conversion.
  return isAscii(domain) ? domain : domainToASCII(domain) || domain;
}

/** The forms in which stored addresses may spell the domain. */
export const spellingsOf = (domain: string): string[] => [...new Set([domain, domainToUnicode(domain)])];

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);
