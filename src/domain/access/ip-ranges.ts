import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const MAPPED_PREFIX_BITS = 96;

/**
 * Reads an IP address or a CIDR range. An IPv4-mapped IPv6 range (`::ffff:10.0.0.0/104`) is the IPv4 range (`10.0.0.0/8`),
 * since clients' addresses are converted to that form, too.
 * @returns null for anything else: also for a mapped range that would reach beyond the mapped addresses, and an address with a zone
 */
export function parseRange(text: string): readonly [base: Address, bits: number] | null {
  // A zone names an interface of this machine; no client address has one. A bare number would be read as an address, too.
  if (text.includes('%') || !/[:.]/.test(text)) return null;
  if (!text.includes('/')) {
    if (!ipaddr.isValid(text)) return null;
    const address = ipaddr.process(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  if (!ipaddr.isValidCIDR(text)) return null;
  const [base, bits] = ipaddr.parseCIDR(text);
  if (!(base instanceof ipaddr.IPv6) || !base.isIPv4MappedAddress()) return [base, bits];
  return bits < MAPPED_PREFIX_BITS ? null : [base.toIPv4Address(), bits - MAPPED_PREFIX_BITS];
}

/** Whether the text is an address in one of the ranges. Null, and what is no address, is in none. */
export function isInAny(ip: string | null, ranges: readonly string[]): boolean {
  if (ip === null || !ipaddr.isValid(ip)) return false;
  const address = ipaddr.process(ip);
  return ranges.some((range) => isInRange(address, range));
}

/** Whether the address is in the range. A malformed range contains nothing. */
export function isInRange(address: Address, range: string): boolean {
  const parsed = parseRange(range);
  return parsed !== null && parsed[0].kind() === address.kind() && address.match(parsed[0], parsed[1]);
}
