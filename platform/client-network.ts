import ipaddr from 'ipaddr.js';

/** Whoever has one IPv6 address usually has the whole /64 it is in (RFC 6177). */
const IPV6_GROUPS = 4;

/** The network that limits per client count for: an IPv4 address, or the /64 of an IPv6 address. */
export function clientNetwork(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  return `${address.parts
    .slice(0, IPV6_GROUPS)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
