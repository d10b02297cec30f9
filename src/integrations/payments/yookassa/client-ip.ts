import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Published edge networks of the CDN that may proxy the service; trusted as proxies, never as a source. */
const CDN_NETWORKS: readonly string[] = [
  '173.245.48.0/20',
  '103.21.244.0/22',
  '103.22.200.0/22',
  '103.31.4.0/22',
  '141.101.64.0/18',
  '108.162.192.0/18',
  '190.93.240.0/20',
  '188.114.96.0/20',
  '197.234.240.0/22',
  '198.41.128.0/17',
  '162.158.0.0/15',
  '104.16.0.0/13',
  '104.24.0.0/14',
  '172.64.0.0/13',
  '131.0.72.0/22',
  '2400:cb00::/32',
  '2606:4700::/32',
  '2803:f800::/32',
  '2405:b500::/32',
  '2405:8100::/32',
  '2a06:98c0::/29',
  '2c0f:f248::/32',
];

/**
 * Address ranges that cannot send from the internet. Listed explicitly: tunnel ranges (6to4, Teredo, NAT64) are not public unicast
 * either, but anybody may send from them.
 */
const INTERNAL_RANGES: ReadonlySet<string> = new Set([
  'private',
  'uniqueLocal',
  'loopback',
  'linkLocal',
  'carrierGradeNat',
  'reserved',
  'unspecified',
]);

/** Headers that may carry the client's address, in order of precedence (spec 03 section 2.5). */
const FORWARDING_HEADERS = ['x-forwarded-for', 'x-real-ip', 'cf-connecting-ip'] as const;

/** Parses an address; an IPv4-mapped one becomes IPv4, so that it is compared with IPv4 networks. */
function parseAddress(text: string): Address | null {
  const bare = text.trim().replace(/^\[([^\]]+)\](?::\d+)?$/, '$1');
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}

/** Whether the address is inside one of the networks. A single address counts as a network; other entries match nothing. */
export function isInNetworks(ip: string, networks: readonly string[]): boolean {
  const address = parseAddress(ip);
  return address !== null && networks.some((network) => contains(network, address));
}

function contains(network: string, address: Address): boolean {
  if (ipaddr.isValidCIDR(network)) {
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === address.kind() && address.match(base, bits);
  }
  const single = parseAddress(network);
  return single !== null && single.toNormalizedString() === address.toNormalizedString();
}

/** Whether the address is internal, of the CDN's edge, or in a configured network. */
function isTrustedProxy(address: Address, proxyNetworks: readonly string[]): boolean {
  if (INTERNAL_RANGES.has(address.range())) return true;
  return [...CDN_NETWORKS, ...proxyNetworks].some((network) => contains(network, address));
}

/**
 * The client's address: the peer if it is public and no trusted proxy; else the forwarding headers, each from right to left,
 * skipping trusted proxies. Only the rightmost untrusted entry was written by a trusted proxy; entries left of it are set by the sender.
 * @param peer address of the socket's other end
 * @returns null when an address cannot be read
 */
export function resolveClientIp(
  peer: string,
  headers: Readonly<Record<string, string | undefined>>,
  proxyNetworks: readonly string[],
): string | null {
  const peerAddress = parseAddress(peer);
  if (!peerAddress) return null;
  if (!isTrustedProxy(peerAddress, proxyNetworks)) return peerAddress.toString();

  for (const header of FORWARDING_HEADERS) {
    for (const entry of (headers[header] ?? '').split(',').reverse()) {
      if (entry.trim() === '') continue;
      const address = parseAddress(entry);
      // Entries left of one that cannot be parsed are not trustworthy.
      if (!address) return null;
      if (!isTrustedProxy(address, proxyNetworks)) return address.toString();
    }
  }
  return peerAddress.toString();
}
