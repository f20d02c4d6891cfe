import { LRUCache } from 'lru-cache';
import type { DnsAnswer, MailExchange, Resolver } from '../../platform/resolver.ts';

/** What DNS says about mail to a domain; null where it could not be asked. */
export interface MailReach {
  domainExists: boolean | null;
  hasMxRecords: boolean | null;
  /** Whether any mail can arrive. */
  reachable: boolean | null;
  reason?: string;
}

const MAX_KNOWN = 10_000;
const TTL_MS = 10 * 60_000;

/** Answers are kept for a while; that there was none is not. Who asks for a domain at the same time shares the answer. */
export class MailReaches {
  private readonly known = new LRUCache<string, Promise<MailReach>>({ max: MAX_KNOWN, ttl: TTL_MS });
  private readonly resolver: Pick<Resolver, 'mx' | 'addresses'>;

  constructor(resolver: Pick<Resolver, 'mx' | 'addresses'>) {
    this.resolver = resolver;
  }

  find(domain: string): Promise<MailReach> {
    const known = this.known.get(domain);
    if (known) return known;
    const asked = this.ask(domain);
    this.known.set(domain, asked);
    const forget = () => {
      if (this.known.peek(domain) === asked) this.known.delete(domain);
    };
    asked.then(({ reachable }) => reachable === null && forget(), forget);
    return asked;
  }

  private async ask(domain: string): Promise<MailReach> {
    const mx = await this.resolver.mx(domain);
    if (mx.kind === 'found') return byExchanges(mx.values);
    if (mx.kind === 'absent' && !mx.nameExists)
      return { domainExists: false, hasMxRecords: false, reachable: false, reason: 'the domain does not exist' };
    // RFC 5321, 5.1: without MX records the address of the domain itself is where mail goes.
    return byAddresses(mx, await this.resolver.addresses(domain));
  }
}

function byExchanges(exchanges: MailExchange[]): MailReach {
  const found = { domainExists: true, hasMxRecords: true };
  // RFC 7505: a single MX of "." says that there is no mail here.
  if (exchanges.every(({ exchange }) => exchange === '' || exchange === '.'))
    return { ...found, reachable: false, reason: 'the domain says that it takes no mail (null MX)' };
  return { ...found, reachable: true };
}

function byAddresses(mx: DnsAnswer<MailExchange>, addresses: DnsAnswer<string>): MailReach {
  if (mx.kind === 'unknown' || addresses.kind === 'unknown')
    return {
      domainExists: mx.kind === 'absent' || addresses.kind === 'found' ? true : null,
      hasMxRecords: mx.kind === 'absent' ? false : null,
      reachable: null,
      reason: 'unknown: the domain could not be looked up just now',
    };
  if (addresses.kind === 'found')
    return {
      domainExists: true,
      hasMxRecords: false,
      reachable: true,
      reason: 'the domain has no MX records; mail goes to its own address',
    };
  return {
    domainExists: true,
    hasMxRecords: false,
    reachable: false,
    reason: 'the domain has neither MX nor address records, so it cannot take mail',
  };
}
