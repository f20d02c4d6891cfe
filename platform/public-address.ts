import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

// Who may be called on behalf of a customer. A name is as good as where it leads, so everything ends here: a literal
// address of a URL, and each address that a name is resolved to.

/** Everything that is routed in public lies in here; what does not is somebody's own, or nobody's. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** A network behind NAT64 sees the public IPv4 internet under this prefix (RFC 6052), as resolvers with DNS64 give it. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** Addresses of ISATAP (RFC 5214) carry an IPv4 address behind this mark. */
const ISATAP_MARKS = [0x0000, 0x0200];
const ISATAP = 0x5efe;
/** A public address at which a cloud answers its own machines with their configuration (Azure). */
const METADATA = new Set(['168.63.129.16']);

/** Why an address may not be called; undefined when it may. */
export function refusalOf(address: string): string | undefined {
  if (address.includes('%') || !isIP(address)) return 'is no address';
  const range = rangeOf(ipaddr.parse(canonical(address)));
  return range === undefined ? undefined : `is not public (${range})`;
}

/** In hexadecimal: the library takes `::8.8.8.8` for `::ffff:8.8.8.8`. */
const canonical = (address: string): string =>
  address.includes(':') ? new URL(`http://[${address}]/`).hostname.slice(1, -1) : address;

function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string | undefined {
  if (address instanceof ipaddr.IPv4) return rangeOfIPv4(address);
  if (address.isIPv4MappedAddress()) return rangeOfIPv4(address.toIPv4Address());
  if (address.match(NAT64)) return rangeOfIPv4(lastFourBytes(address));
  const range = address.range();
  if (range !== 'unicast') return range;
  if (!address.match(GLOBAL_UNICAST)) return 'reserved';
  const [mark = -1, kind] = address.parts.slice(4);
  return kind === ISATAP && ISATAP_MARKS.includes(mark) ? 'isatap' : undefined;
}

function rangeOfIPv4(address: ipaddr.IPv4): string | undefined {
  if (METADATA.has(address.toString())) return 'metadata';
  const range = address.range();
  return range === 'unicast' ? undefined : range;
}

const lastFourBytes = (address: ipaddr.IPv6): ipaddr.IPv4 => new ipaddr.IPv4(address.toByteArray().slice(12));

/** The address that a URL names by itself. Its parser has already undone decimal, octal, hex, short and wide forms. */
export function literalOf({ hostname }: URL): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) ? bare : undefined;
}
