import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../core/app.ts';
import { clientIp } from '../core/http/client-ip.ts';
import type { Context } from '../routers/context.ts';
import { preferredLanguage } from '../routers/preferred-language.ts';
import { browserOf } from './browser.ts';
import { requestBase } from './request-base.ts';

const BEARER = /^Bearer\s+(\S+)\s*$/i;
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's own request id when it is safe to log, else a new one (`X-Request-Id`). */
export function requestIdOf(headers: Record<string, string | string[] | undefined>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Builds the one context of REST and tRPC from a request. Nothing is checked here; base procedures do that. */
export function contextFactory(app: App): (request: FastifyRequest, reply: FastifyReply) => Context {
  const { trustedProxies } = app.env;
  const isSecure = () => app.settings.get('CABINET_URL').startsWith('https:');
  return (request, reply) => {
    const { headers } = request;
    const seen = { actor: 'anonymous' };
    (request as FastifyRequest & { seen?: Context['seen'] }).seen = seen;
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
