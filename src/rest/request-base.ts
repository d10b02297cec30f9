import type { FastifyRequest } from 'fastify';
import { isTrustedPeer } from '../core/http/client-ip.ts';

/** A host name or address with an optional port, and nothing else: it becomes part of links. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Scheme and host by which the client reached the service. `X-Forwarded-Proto` and `X-Forwarded-Host` count only from a trusted proxy.
 * @returns null when the host is not usable
 */
export function requestBase(request: FastifyRequest, trustedProxies: readonly string[]): string | null {
  const { headers, socket } = request;
  const isProxied = isTrustedPeer(socket.remoteAddress, trustedProxies);
  const forwarded = (name: 'x-forwarded-proto' | 'x-forwarded-host') =>
    isProxied
      ? String(headers[name] ?? '')
          .split(',', 1)[0]!
          .trim()
      : '';
  const scheme = forwarded('x-forwarded-proto').toLowerCase() || ('encrypted' in socket && socket.encrypted ? 'https' : 'http');
  const host = forwarded('x-forwarded-host') || headers.host || '';
  return (scheme === 'http' || scheme === 'https') && HOST.test(host) ? `${scheme}://${host}` : null;
}
