import ipaddr from 'ipaddr.js';

/** A site with one IPv6 address usually owns the whole /64 around it (RFC 6177). */
const IPV6_GROUPS = 4;

/** Returns the key for per-client limits: an IPv4 address, or the /64 of an IPv6 address. */
export function clientNetwork(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  return `${address.parts
    .slice(0, IPV6_GROUPS)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
