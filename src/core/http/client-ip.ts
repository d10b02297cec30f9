import ipaddr from 'ipaddr.js';

/** Where a request came from, as the server sees it. */
export interface RequestOrigin {
  /** Address of the socket's other end; absent for a connection that is already gone. */
  peer: string | undefined;
  /** `X-Forwarded-For`, as sent; several headers may come as a list. */
  forwardedFor?: string | readonly string[];
  /** `X-Real-IP`. */
  realIp?: string | readonly string[];
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Lists come from the environment and live as long as the process, so each is parsed once. */
const parsedRanges = new WeakMap<readonly string[], Range[]>();

/** An address in one form: `::ffff:1.2.3.4` is `1.2.3.4`; a port, as some proxies add it, is dropped. */
function parseAddress(text: string | undefined): Address | null {
  const trimmed = text?.trim() ?? '';
  const withPort = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed) ?? /^([\d.]+):\d+$/.exec(trimmed);
  const bare = (withPort?.[1] ?? trimmed).replace(/%.*$/, '');
  const isPlain = bare.includes(':') ? ipaddr.IPv6.isValid(bare) : ipaddr.IPv4.isValidFourPartDecimal(bare);
  return isPlain ? ipaddr.process(bare) : null;
}

function rangesOf(proxies: readonly string[]): Range[] {
  const known = parsedRanges.get(proxies);
  if (known) return known;
  const ranges = proxies.map((proxy): Range => {
    if (proxy.includes('/')) return ipaddr.parseCIDR(proxy);
    const address = ipaddr.process(proxy);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  });
  parsedRanges.set(proxies, ranges);
  return ranges;
}

function isTrusted(address: Address, ranges: readonly Range[]): boolean {
  return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

/** Addresses of sockets come again with each request of a connection. */
const knownPeers = new Map<string, { address: Address; text: string }>();
const MAX_KNOWN_PEERS = 10_000;

function knownPeer(text: string | undefined): { address: Address; text: string } | null {
  const known = text === undefined ? undefined : knownPeers.get(text);
  if (known !== undefined) return known;
  const address = parseAddress(text);
  if (text === undefined || address === null) return null;
  const peer = { address, text: address.toString() };
  if (knownPeers.size >= MAX_KNOWN_PEERS) knownPeers.clear();
  knownPeers.set(text, peer);
  return peer;
}

/**
 * Address of the client (spec 01 section 4.3). Forwarding headers count only when the peer is a trusted proxy: then it is the right-most
 * element of `X-Forwarded-For` that is not a trusted proxy itself, since the client may have invented everything to its left; else
 * `X-Real-IP`, else the peer.
 * @param trustedProxies addresses and CIDR ranges, `Env.trustedProxies`
 * @returns null without a peer
 */
export function clientIp(origin: RequestOrigin, trustedProxies: readonly string[]): string | null {
  const peer = knownPeer(origin.peer);
  if (peer === null) return null;
  const ranges = rangesOf(trustedProxies);
  if (!isTrusted(peer.address, ranges)) return peer.text;

  const hops = [origin.forwardedFor ?? []].flat().join(',').split(',');
  for (const hop of hops.reverse()) {
    const address = parseAddress(hop);
    // Not an address: no trusted proxy wrote this element, so nothing further left can be trusted.
    if (address === null) break;
    if (!isTrusted(address, ranges)) return address.toString();
  }
  const realIp = parseAddress([origin.realIp ?? []].flat()[0]);
  return realIp?.toString() ?? peer.text;
}

/** Whether forwarding headers of this peer count. */
export function isTrustedPeer(peerAddress: string | undefined, trustedProxies: readonly string[]): boolean {
  const peer = knownPeer(peerAddress);
  return peer !== null && isTrusted(peer.address, rangesOf(trustedProxies));
}
