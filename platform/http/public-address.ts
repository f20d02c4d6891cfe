import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

// Decides which addresses may be called on behalf of a customer. Applies to a literal address in a URL and to every
// address that a name resolves to.

/** All publicly routed IPv6 addresses lie in this prefix. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** Networks with NAT64 reach the public IPv4 internet under this prefix (RFC 6052), which DNS64 resolvers return. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** ISATAP addresses (RFC 5214) contain an IPv4 address behind this interface identifier. */
const ISATAP_PREFIXES = [0x0000, 0x0200];
const ISATAP = 0x5efe;
/** A public address at which Azure serves metadata to its own machines. */
const METADATA = new Set(['168.63.129.16']);

/** Returns why an address must not be called, or undefined when it may. */
export function refusalOf(address: string): string | undefined {
  if (address.includes('%') || !isIP(address)) return 'is no address';
  const range = rangeOf(ipaddr.parse(canonical(address)));
  return range === undefined ? undefined : `is not public (${range})`;
}

/** Rewrites IPv6 in hexadecimal, because the library reads `::8.8.8.8` as `::ffff:8.8.8.8`. */
const canonical = (address: string): string =>
  address.includes(':') ? new URL(`http://[${address}]/`).hostname.slice(1, -1) : address;

function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string | undefined {
  if (address instanceof ipaddr.IPv4) return rangeOfIPv4(address);
  if (address.isIPv4MappedAddress()) return rangeOfIPv4(address.toIPv4Address());
  if (address.match(NAT64)) return rangeOfIPv4(lastFourBytes(address));
  const range = address.range();
  if (range !== 'unicast') return range;
  if (!address.match(GLOBAL_UNICAST)) return 'reserved';
  const [prefix = -1, kind] = address.parts.slice(4);
  return kind === ISATAP && ISATAP_PREFIXES.includes(prefix) ? 'isatap' : undefined;
}

function rangeOfIPv4(address: ipaddr.IPv4): string | undefined {
  if (METADATA.has(address.toString())) return 'metadata';
  const range = address.range();
  return range === 'unicast' ? undefined : range;
}

const lastFourBytes = (address: ipaddr.IPv6): ipaddr.IPv4 => new ipaddr.IPv4(address.toByteArray().slice(12));

/** Returns the IP address in a URL, if any. The URL parser has already normalised decimal, octal, hex, short and full-width forms. */
export function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(host) ? host : undefined;
}
