import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Parses an address; an IPv4-mapped one becomes IPv4, so that it is compared with IPv4 networks. */
function parseAddress(text: string): Address | null {
  const bare = text.trim().replace(/^\[([^\]]+)\](?::\d+)?$/, '$1');
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}

/** Whether the address is inside one of the networks. A single address counts as a network; other entries match nothing. */
export function isInNetworks(ip: string, networks: readonly string[]): boolean {
  const address = parseAddress(ip);
  return address !== null && isIn(address, networks);
}

function isIn(address: Address, networks: readonly string[]): boolean {
  return networks.some((network) => contains(network, address));
}

function contains(network: string, address: Address): boolean {
  if (ipaddr.isValidCIDR(network)) {
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === address.kind() && address.match(base, bits);
  }
  const single = parseAddress(network);
  return single !== null && single.toNormalizedString() === address.toNormalizedString();
}

/**
 * The address that a callback comes from (03a section 0.7): the peer, unless it is a configured proxy; then `X-Forwarded-For` from right to
 * left, without configured proxies. Only the rightmost other entry was written by a trusted proxy; the sender sets those left of it.
 * @param peer address of the socket's other end
 * @param proxies addresses and networks of the installation's reverse proxies; none = the peer alone counts
 * @returns null when an address cannot be read
 */
export function resolveClientAddress(
  peer: string,
  headers: Readonly<Record<string, string | undefined>>,
  proxies: readonly string[],
): string | null {
  const peerAddress = parseAddress(peer);
  if (!peerAddress || !isIn(peerAddress, proxies)) return peerAddress?.toString() ?? null;
  for (const entry of (headers['x-forwarded-for'] ?? '').split(',').reverse()) {
    if (entry.trim() === '') continue;
    const address = parseAddress(entry);
    // Entries left of one that cannot be parsed are not trustworthy.
    if (!address) return null;
    if (!isIn(address, proxies)) return address.toString();
  }
  return peerAddress.toString();
}

/** The addresses of a setting: separated by commas, blanks ignored. */
export function networksOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
