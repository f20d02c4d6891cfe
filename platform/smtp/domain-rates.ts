import { domainToASCII } from 'node:url';

/** Mails a second by recipient domain, in lower case and in ASCII. */
export type DomainRates = ReadonlyMap<string, number>;

const MAX_DOMAINS = 1_000;
const SECONDS = { s: 1, m: 60, h: 3_600 };
const ENTRY = /^([^\s=]+)\s*=\s*(\d+(?:\.\d+)?)\/([smh])$/;
const MAX_PER_SECOND = 100_000;

/** Parses `gmail.com=20/s, example.com=600/h`. Throws an error that names the entry and the rule. */
export function parseDomainRates(text: string): DomainRates {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
  if (entries.length > MAX_DOMAINS) throw new Error(`has ${entries.length} domains; at most ${MAX_DOMAINS}`);
  const rates = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const label = `entry ${index + 1} of ${entries.length}`;
    const [, name = '', count, unit] = ENTRY.exec(entry) ?? [];
    const domain = domainToASCII(name);
    if (domain === '') throw new Error(`${label}: must be like gmail.com=20/s, with /s, /m or /h`);
    const perSecond = Number(count) / SECONDS[unit as keyof typeof SECONDS];
    if (!(perSecond > 0 && perSecond <= MAX_PER_SECOND))
      throw new Error(`${label}: the rate must be above 0 and at most ${MAX_PER_SECOND}/s`);
    if (rates.has(domain)) throw new Error(`${label}: names a domain twice`);
    rates.set(domain, perSecond);
  }
  return rates;
}

/** Returns the domain of an address in the form of `DomainRates`. */
export function recipientDomain(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  // Addresses are stored in lower case, so only names outside of ASCII have to be converted.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches ASCII on purpose
  return /^[\x00-\x7f]*$/.test(domain) ? domain : domainToASCII(domain) || domain;
}
