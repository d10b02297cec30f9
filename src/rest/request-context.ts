import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../core/app.ts';
import { clientIp, isTrustedPeer } from '../core/http/client-ip.ts';
import type { Browser, Context } from '../routers/context.ts';
import { preferredLanguage } from '../routers/preferred-language.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who was recognised; null = no operation was called. */
    seen: Context['seen'] | null;
  }
}

const BEARER = /^Bearer\s+(\S+)\s*$/i;
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's own request id when it is safe to log, else a new one (`X-Request-Id`). */
export function requestIdOf(headers: Record<string, string | string[] | undefined>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Builds the one context of REST and tRPC from a request. Nothing is checked here; base procedures do that. */
export function contextFactory(server: FastifyInstance, app: App): (request: FastifyRequest, reply: FastifyReply) => Context {
  const { trustedProxies } = app.env;
  server.decorateRequest('seen', null);
  const isSecure = () => app.settings.get('CABINET_URL').startsWith('https:');
  return (request, reply) => {
    const { headers } = request;
    const seen = { actor: 'anonymous' };
    request.seen = seen;
    return {
      app,
      credentials: {
        apiKey: textOf(headers['x-api-key']),
        bearer: BEARER.exec(headers.authorization ?? '')?.[1] ?? null,
        initData: textOf(headers['x-messenger-init-data']),
      },
      ip: clientIp(
        {
          peer: request.socket.remoteAddress,
          forwardedFor: headers['x-forwarded-for'] as string | undefined,
          realIp: textOf(headers['x-real-ip']) ?? undefined,
        },
        trustedProxies,
      ),
      userAgent: headers['user-agent'] ?? null,
      language: preferredLanguage(headers['accept-language']),
      request: { method: request.method, path: request.url.split('?', 1)[0]! },
      baseUrl: requestBase(request, trustedProxies),
      hasClientWords: request.mount !== undefined,
      browser: browserOf(request, reply, isSecure),
      requestId: request.id,
      idempotencyKey: textOf(headers['idempotency-key']),
      signal: null,
      seen,
    };
  };
}

/** The client's address behind trusted proxies; also for requests that fastify does not handle, such as upgrades. */
export function addressOf(request: IncomingMessage, trustedProxies: readonly string[]): string | null {
  const { headers, socket } = request;
  return clientIp(
    {
      peer: socket.remoteAddress,
      ...(headers['x-forwarded-for'] === undefined ? {} : { forwardedFor: headers['x-forwarded-for'] }),
      ...(headers['x-real-ip'] === undefined ? {} : { realIp: headers['x-real-ip'] }),
    },
    trustedProxies,
  );
}

function textOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  return Array.isArray(header) ? (header[0] ?? null) : header;
}

/** Form of the values that the service sets: url-safe base64. Any other value under these names is ignored. */
const COOKIE_VALUE = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * The cookie side of a request.
 * @param isSecure do browsers reach the cabinet over https? Browsers drop a Secure cookie over http, so the flag follows the cabinet's address
 */
function browserOf(request: FastifyRequest, reply: FastifyReply, isSecure: () => boolean): Browser {
  const { headers } = request;
  return {
    isSameOrigin: headers['sec-fetch-site'] === 'same-origin',
    readCookie: (name) => readCookie(headers.cookie, name),
    setCookie: (name, value, maxAgeSeconds) => {
      const secure = isSecure() ? '; Secure' : '';
      reply.header('set-cookie', `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`);
    },
  };
}

/** The last cookie of this name in a `Cookie` header; null when there is none of the form that the service sets. */
export function readCookie(header: string | undefined, name: string): string | null {
  if (header === undefined) return null;
  let found: string | null = null;
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at < 0 || pair.slice(0, at).trim() !== name) continue;
    const value = pair.slice(at + 1).trim();
    found = COOKIE_VALUE.test(value) ? value : null;
  }
  return found;
}

/** A host name or address with an optional port, and nothing else: it becomes part of links. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Scheme and host by which the client reached the service. `X-Forwarded-Proto` and `X-Forwarded-Host` count only from a trusted proxy.
 * @returns null when the host is not usable
 */
function requestBase(request: FastifyRequest, trustedProxies: readonly string[]): string | null {
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
