import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Refuses user-given URLs (webhooks) that lead into the internal network (spec 00, outside effects).
 * Two checks: `assertAllowedUrl` when a URL is saved or called, and `createGuardedLookup` at connect time. Only the second can refuse
 * a name that answers with a public address first and a private one later (DNS rebinding).
 */

export type BlockReason = 'invalid_url' | 'scheme' | 'credentials' | 'private_host' | 'private_address';

/** The URL or the address behind its name must not be called. The message contains no address. */
export class BlockedAddressError extends Error {
  readonly reason: BlockReason;
  readonly code = 'EBLOCKED';

  constructor(reason: BlockReason, message: string) {
    super(message);
    this.name = 'BlockedAddressError';
    this.reason = reason;
  }
}

/** Answer of a resolver: every address of a name. */
export interface ResolvedAddress {
  address: string;
  family: number;
}
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

/** Public by range, but internal in a cloud: the endpoint of the platform's agent. */
const INSIDE_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64_V6 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const PRIVATE_SUFFIXES = ['localhost', 'local', 'internal', 'intranet', 'lan', 'home.arpa', 'corp', 'home'];

function isPublicV4(address: ipaddr.IPv4): boolean {
  // Every special range has a name: private, loopback, linkLocal, carrierGradeNat, reserved, multicast ...
  return address.range() === 'unicast' && !INSIDE_ADDRESSES.has(address.toString());
}

function v4At(bytes: readonly number[], from: number, mask = 0): ipaddr.IPv4 {
  return new ipaddr.IPv4(bytes.slice(from, from + 4).map((byte) => byte ^ mask));
}

function isPublicV6(address: ipaddr.IPv6): boolean {
  const bytes = address.toByteArray();
  const range = address.range();
  if (range === 'ipv4Mapped') return isPublicV4(v4At(bytes, 12));
  if (address.match(NAT64_V6)) return isPublicV4(v4At(bytes, 12));
  // IPv4-compatible, unique local, link-local, local NAT64 and all other special blocks lie outside 2000::/3.
  if (!address.match(GLOBAL_UNICAST_V6)) return false;
  if (range === '6to4') return isPublicV4(v4At(bytes, 2));
  // A tunnel address contains its server and, inverted, its client.
  if (range === 'teredo') return isPublicV4(v4At(bytes, 4)) && isPublicV4(v4At(bytes, 12, 0xff));
  const isIsatap = (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  if (isIsatap && !isPublicV4(v4At(bytes, 12))) return false;
  return range === 'unicast';
}

/**
 * Is this an address of the public internet? False for private, loopback, link-local, CGNAT, metadata, unique local, unspecified,
 * multicast, broadcast, reserved, benchmark and documentation ranges, for IPv6 forms that carry such an IPv4 address, and for
 * text that is no address.
 */
export function isPublicAddress(ip: string): boolean {
  // The parser reads the deprecated compatible form ::1.2.3.4 as the mapped one.
  if (ip.includes('%') || /^[0:]+:[\d.]+\.\d+$/.test(ip) || !ipaddr.isValid(ip)) return false;
  const address = ipaddr.parse(ip);
  return address instanceof ipaddr.IPv4 ? isPublicV4(address) : isPublicV6(address as ipaddr.IPv6);
}

/** Host as URLs and allow lists are compared: lower case, no brackets, no final dot. */
function normalizeHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

function isNamed(host: string, allowedPrivateHosts: readonly string[]): boolean {
  return allowedPrivateHosts.some((allowed) => normalizeHost(allowed) === host);
}

/**
 * Parses an absolute http or https URL without user name and password.
 * @throws BlockedAddressError
 */
export function parseHttpUrl(url: string): URL {
  if (!URL.canParse(url)) throw new BlockedAddressError('invalid_url', 'The URL is not valid');
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new BlockedAddressError('scheme', 'Only http and https URLs are allowed');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new BlockedAddressError('credentials', 'A URL with a user name or a password is not allowed');
  }
  return parsed;
}

/**
 * Check without DNS, for the time when a URL is saved: scheme, no credentials, and a host that is not private by its spelling.
 * `URL` itself turns decimal, octal, hex and short spellings of an IPv4 address into the dotted one.
 * @throws BlockedAddressError
 */
export function assertAllowedUrl(url: string, allowedPrivateHosts: readonly string[] = []): URL {
  const parsed = parseHttpUrl(url);
  const host = normalizeHost(parsed.hostname);
  const isPrivate = isIP(host) === 0 ? isInsideName(host) : !isPublicAddress(host);
  if (isPrivate && !isNamed(host, allowedPrivateHosts)) {
    throw new BlockedAddressError('private_host', 'The host is not a public one');
  }
  return parsed;
}

function isInsideName(host: string): boolean {
  // A name of one label is a host of a container network or of a search domain, never a public host.
  return !host.includes('.') || PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
}

/**
 * A `lookup` for sockets that refuses a name as soon as one of its addresses is not public. What it returns is what the socket
 * connects to, so the answer that was checked is the answer that is used.
 * @param resolve injected by tests; the system's resolver otherwise
 */
export function createGuardedLookup(options: { allowedPrivateHosts: readonly string[]; resolve?: Resolve }): LookupFunction {
  const resolve: Resolve = options.resolve ?? ((hostname) => systemLookup(hostname, { all: true }));

  async function resolveGuarded(hostname: string, family: number): Promise<ResolvedAddress[]> {
    const host = normalizeHost(hostname);
    const found = await resolve(hostname);
    const usable = family === 0 ? found : found.filter((entry) => entry.family === family);
    if (usable.length === 0) throw Object.assign(new Error('The host has no address'), { code: 'ENOTFOUND' });
    if (!isNamed(host, options.allowedPrivateHosts) && found.some((entry) => !isPublicAddress(entry.address))) {
      throw new BlockedAddressError('private_address', 'The host leads to an address that is not a public one');
    }
    return usable;
  }

  return (hostname, lookupOptions, callback) => {
    const family = { IPv4: 4, IPv6: 6 }[String(lookupOptions.family)] ?? Number(lookupOptions.family ?? 0);
    resolveGuarded(hostname, family).then(
      (addresses) => {
        if (lookupOptions.all) callback(null, addresses);
        else callback(null, addresses[0]!.address, addresses[0]!.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}
