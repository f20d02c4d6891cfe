import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { parse } from 'tldts';

/** Of the longest name that is published for a domain: `<selector>._domainkey.<domain>`. */
const MAX_NAME = 253;
const LONGEST_PREFIX = 'ep12345678._domainkey.'.length;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export type DomainName = { name: string } | { fault: string };

/** The one form in which a domain is stored and compared: lower case, punycode, no dot at the end. */
export function readDomainName(text: string): DomainName {
  const given = text.trim().replace(/\.$/, '');
  if (given.length > MAX_NAME) return { fault: `is longer than the ${MAX_NAME} characters of a domain name` };
  if (isIP(given.replace(/^\[|\]$/g, ''))) return { fault: 'is an IP address; mail is sent from a domain name' };
  // What would be read as part of an address, or is dropped without a word, is no part of a name.
  if (/[\s/\\@:?#%*_[\]<>^|]/.test(given)) return { fault: 'must be a bare domain name, such as example.com' };
  const name = domainToASCII(given);
  if (!name.split('.').every((label) => LABEL.test(label))) return { fault: 'is not a valid domain name' };
  if (isIP(name)) return { fault: 'is an IP address; mail is sent from a domain name' };
  if (!name.includes('.')) return { fault: 'is a single label; mail is sent from a name such as example.com' };
  if (name.length > MAX_NAME - LONGEST_PREFIX) return { fault: 'is too long for the records that it would need' };
  const { domain, publicSuffix } = parse(name, { allowPrivateDomains: true });
  if (!domain) return { fault: `is a public suffix (${publicSuffix ?? name}), under which others have domains` };
  return { name };
}

/** The domain that an address sends from, as it is stored. */
export function senderDomain(email: string): string {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  // Nearly all are plain; asking is dearer than looking.
  return isPlain(domain) ? domain : domainToASCII(domain) || domain;
}

/** How addresses of the domain may have been written down. */
export const spellingsOf = (domain: string): string[] => [...new Set([domain, domainToUnicode(domain)])];

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const isPlain = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);
