import type { IncomingMessage } from 'node:http';

/** Longer than any credential of this service. */
const MAX_LENGTH = 4_096;
const PROTOCOL_PREFIX = 'bearer.';

export interface UpgradeTarget {
  /** Without the query and a trailing slash. */
  path: string;
  query: URLSearchParams;
}

/** Splits the request's URL. Neither part of it may be logged: the query carries the credential (spec 06 section 17, hazard 18). */
export function upgradeTarget(request: IncomingMessage): UpgradeTarget {
  const [path = '/', query = ''] = (request.url ?? '/').split(/\?(.*)/s, 2);
  return { path: path.length > 1 ? path.replace(/\/+$/, '') : path, query: new URLSearchParams(query) };
}

/**
 * The first credential that the request has: query parameters in the order of `names`, then the `bearer.<token>` entry of
 * `Sec-WebSocket-Protocol`, for browsers that keep credentials out of URLs.
 * @returns null = none
 */
export function credentialOf(request: IncomingMessage, query: URLSearchParams, names: readonly string[]): string | null {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((entry) => entry.trim());
  const bearer = offered.find((entry) => entry.startsWith(PROTOCOL_PREFIX))?.slice(PROTOCOL_PREFIX.length);
  for (const candidate of [...names.map((name) => query.get(name)), bearer]) {
    const text = candidate?.trim() ?? '';
    if (text !== '') return text.slice(0, MAX_LENGTH);
  }
  return null;
}

/** A browser drops a connection for which none of its protocols was chosen; one without the credential is preferred. */
export function chooseProtocol(offered: Set<string>): string | false {
  const list = [...offered];
  return list.find((entry) => !entry.startsWith(PROTOCOL_PREFIX)) ?? list[0] ?? false;
}

/** `exp` of a JWT whose signature has been checked already; null when it has none. */
export function expiryOf(jwt: string): Date | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
    const isDated = typeof claims === 'object' && claims !== null && 'exp' in claims && typeof claims.exp === 'number';
    return isDated ? new Date((claims as { exp: number }).exp * 1000) : null;
  } catch {
    return null;
  }
}
