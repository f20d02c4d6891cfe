import { LRUCache } from 'lru-cache';
import type { DnsAnswer, MailExchange, Resolver } from '../../platform/http/resolver.ts';

/** Whether a domain receives mail according to DNS; null where the lookup failed. */
export interface MailReach {
  domainExists: boolean | null;
  hasMxRecords: boolean | null;
  /** Whether mail can be delivered. */
  reachable: boolean | null;
  reason?: string;
}

const MAX_ENTRIES = 10_000;
const TTL_MS = 10 * 60_000;

/**
 * Caches lookups, except failed ones. Concurrent calls of a project for a domain share one lookup; projects share none,
 * because a lookup may wait for others of its project.
 */
export class MailReachCache {
  private readonly cache = new LRUCache<string, Promise<MailReach>>({ max: MAX_ENTRIES, ttl: TTL_MS });
  private readonly resolver: Pick<Resolver, 'mx' | 'addresses'>;

  constructor(resolver: Pick<Resolver, 'mx' | 'addresses'>) {
    this.resolver = resolver;
  }

  find(domain: string, projectId: string): Promise<MailReach> {
    const key = `${projectId} ${domain}`;
    const cached = this.cache.get(key);
    if (cached) return cached;
    const lookup = this.lookUp(domain, projectId);
    this.cache.set(key, lookup);
    const forget = () => {
      if (this.cache.peek(key) === lookup) this.cache.delete(key);
    };
    lookup.then(({ reachable }) => reachable === null && forget(), forget);
    return lookup;
  }

  private async lookUp(domain: string, projectId: string): Promise<MailReach> {
    const mx = await this.resolver.mx(domain, projectId);
    if (mx.kind === 'found') return byExchanges(mx.values);
    if (mx.kind === 'absent' && !mx.nameExists)
      return { domainExists: false, hasMxRecords: false, reachable: false, reason: 'the domain does not exist' };
    // RFC 5321, 5.1: without MX records mail goes to the address of the domain itself.
    return byAddresses(mx, await this.resolver.addresses(domain, projectId));
  }
}

function byExchanges(exchanges: MailExchange[]): MailReach {
  const found = { domainExists: true, hasMxRecords: true };
  // RFC 7505: a single MX of "." means that the domain accepts no mail.
  if (exchanges.every(({ exchange }) => exchange === '' || exchange === '.'))
    return { ...found, reachable: false, reason: 'the domain does not accept email (null MX)' };
  return { ...found, reachable: true };
}

function byAddresses(mx: DnsAnswer<MailExchange>, addresses: DnsAnswer<string>): MailReach {
  if (mx.kind === 'unknown' || addresses.kind === 'unknown')
    return {
      domainExists: mx.kind === 'absent' || addresses.kind === 'found' ? true : null,
      hasMxRecords: mx.kind === 'absent' ? false : null,
      reachable: null,
      reason: 'unknown: the domain could not be looked up',
    };
  if (addresses.kind === 'found')
    return {
      domainExists: true,
      hasMxRecords: false,
      reachable: true,
      reason: 'the domain has no MX records; email goes to its A or AAAA address',
    };
  return {
    domainExists: true,
    hasMxRecords: false,
    reachable: false,
    reason: 'the domain has neither MX nor address records, so it cannot receive email',
  };
}
