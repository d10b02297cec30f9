import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { App } from '../core/app.ts';
import {
  isConfigAdmin,
  isWithoutSecondFactor,
  readActivePolicies,
  readEffectiveAccess,
} from '../domain/access/effective-access.ts';
import { denialReason } from '../domain/access/permissions.ts';
import { readSessionUser, recheckSessions } from '../domain/identity/authenticate.ts';
import { SESSION } from '../domain/identity/sessions/sign-tokens.ts';

/** Administrator by the configuration or by a role, and whether the user receives events for staff, which a role with `tickets:read` allows too. */
export interface CabinetAccess {
  isAdmin: boolean;
  receivesStaffEvents: boolean;
}

/**
 * What `/cabinet/ws` needs to know of a user (spec 05 section 12.2).
 * @param ip client address for policies, null = unknown
 * @param session null = one of an earlier release
 */
export async function readCabinetAccess(
  app: App,
  userId: number,
  ip: string | null,
  session: { hasSecondFactor: boolean } | null = null,
): Promise<CabinetAccess> {
  const [user, access, policies] = await Promise.all([
    readSessionUser(app, userId),
    readEffectiveAccess(app, userId),
    readActivePolicies(app),
  ]);
  const isListed = user !== null && isConfigAdmin(app, user);
  if (isWithoutSecondFactor(app, access, session)) return { isAdmin: isListed || access.level > 0, receivesStaffEvents: false };
  if (isListed) return { isAdmin: true, receivesStaffEvents: true };
  // Roles make an administrator too (spec 01 H26), as `me/is-admin` says.
  return {
    isAdmin: access.level > 0,
    receivesStaffEvents: denialReason('tickets:read', access, policies, ip, app.clock.now()) === null,
  };
}

/**
 * Looks at the sessions of open sockets again: one statement for all of them, and the rights of those users who have a role (spec 10 U3).
 * @returns in the order of the sessions the access, or the refusal of `recheckSessions`
 */
export async function recheckCabinetAccess(
  app: App,
  open: readonly { userId: number; sessionId: string; ip: string | null }[],
): Promise<PromiseSettledResult<CabinetAccess>[]> {
  const sessions = await recheckSessions(app, open);
  return Promise.allSettled(
    sessions.map(async (session, index) => {
      if (session.status === 'rejected') throw session.reason;
      const isListed = isConfigAdmin(app, session.value);
      if (!session.value.hasRoles) return { isAdmin: isListed, receivesStaffEvents: isListed };
      return readCabinetAccess(app, session.value.id, open[index]!.ip, session.value);
    }),
  );
}

/** Longer than any credential of this service. */
const MAX_LENGTH = 4_096;
const PROTOCOL_PREFIX = 'bearer.';

interface UpgradeTarget {
  /** Without the query and a trailing slash. */
  path: string;
  query: URLSearchParams;
}

/** Splits the request's URL. Neither part of it may be logged: the query carries the credential (spec 06 section 17, hazard 18). */
export function upgradeTarget(url = '/'): UpgradeTarget {
  const [path = '/', query = ''] = url.split(/\?(.*)/s, 2);
  return { path: path.length > 1 ? path.replace(/\/+$/, '') : path, query: new URLSearchParams(query) };
}

/**
 * The first credential that the request has: query parameters in the order of `queryNames`, then the header `headerName`, then the
 * `bearer.<token>` entry of `Sec-WebSocket-Protocol`, for browsers that keep credentials out of URLs (spec 10 K6).
 * @returns null = none
 */
export function credentialOf(
  request: IncomingMessage,
  query: URLSearchParams,
  { queryNames, headerName }: { queryNames: readonly string[]; headerName: string | null },
): string | null {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((entry) => entry.trim());
  const bearer = offered.find((entry) => entry.startsWith(PROTOCOL_PREFIX))?.slice(PROTOCOL_PREFIX.length);
  // Node joins a header of this kind that is sent twice, so it is one text.
  const header = headerName === null ? undefined : String(request.headers[headerName] ?? '');
  for (const candidate of [...queryNames.map((name) => query.get(name)), header, bearer]) {
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

/**
 * What an access token says of the life of its sockets; its signature has been checked already. `sessionId`: they live as long as this session;
 * null in a token of an earlier release, whose sockets end with it at `expiresAt` (null = never).
 */
export function lifeOf(jwt: string): { sessionId: string | null; expiresAt: Date | null } {
  try {
    const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
    if (typeof claims[SESSION] === 'string') return { sessionId: claims[SESSION], expiresAt: null };
    return { sessionId: null, expiresAt: typeof claims.exp === 'number' ? new Date(claims.exp * 1000) : null };
  } catch {
    return { sessionId: null, expiresAt: null };
  }
}

export function isWebSocketRequest(request: IncomingMessage): boolean {
  return request.headers.upgrade?.toLowerCase() === 'websocket';
}

export function refuseUpgrade(socket: Duplex, status: string, detail: string): void {
  const body = JSON.stringify({ detail });
  const head = `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n`;
  socket.on('error', () => undefined);
  socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`, () => socket.destroy());
}
