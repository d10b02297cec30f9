/** Which browser pages may read the answers (spec 06 section 0, CORS). */

import type { IncomingMessage } from 'node:http';
import cors, { type FastifyCorsOptions, type FastifyCorsOptionsDelegateCallback } from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions, onRequestHookHandler } from 'fastify';

export interface CorsSources {
  /** Names of headers that a request may have besides those of every request. */
  moreHeaders?: (request: FastifyRequest) => readonly string[];
  /** `WEB_API_ALLOWED_ORIGINS`, read for each request so that a changed setting takes effect immediately; empty means every origin. */
  webApiOrigins: () => readonly string[];
  /** `CABINET_ALLOWED_ORIGINS`. */
  cabinetOrigins: () => readonly string[];
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const HEADERS = [
  'Authorization',
  'Content-Type',
  'X-CSRF-Token',
  'X-Messenger-Init-Data',
  'X-API-Key',
  'Idempotency-Key',
  'X-Request-Id',
];
const EXPOSED = 'X-Request-Id, Retry-After';
const PREFLIGHT_SECONDS = 600;

const FIXED = {
  methods: METHODS,
  allowedHeaders: HEADERS,
  exposedHeaders: EXPOSED,
  maxAge: PREFLIGHT_SECONDS,
};
const EVERYONE: FastifyCorsOptions = { ...FIXED, origin: '*', credentials: false };

/**
 * Registers CORS for all routes. Credentials are allowed for listed origins only, never together with `*`. The plugin answers preflight
 * requests; for every other request it would put its options together again, which costs more than the headers.
 */
export async function registerCors(fastify: FastifyInstance, sources: CorsSources): Promise<void> {
  const optionsNow = optionsCache(sources);
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS') addHeaders(reply, request.headers.origin, optionsNow());
    done();
  });
  const perRequest: FastifyCorsOptionsDelegateCallback = (request, callback) => {
    const more = sources.moreHeaders?.(request) ?? [];
    callback(null, more.length === 0 ? optionsNow() : { ...optionsNow(), allowedHeaders: [...HEADERS, ...more] });
  };
  const register = cors as unknown as (instance: FastifyInstance, options: typeof perRequest, done: () => void) => void;
  await new Promise<void>((resolve) => register(forPreflight(fastify), perRequest, resolve));
}

/** The instance for the plugin: its hook runs for OPTIONS only, on all routes. */
function forPreflight(fastify: FastifyInstance): FastifyInstance {
  const addHook = (_name: 'onRequest', answerPreflight: onRequestHookHandler) =>
    fastify.addHook('onRequest', function onPreflight(request, reply, done) {
      if (request.method === 'OPTIONS') answerPreflight.call(this, request, reply, done);
      else done();
    });
  return Object.create(fastify, { addHook: { value: addHook } }) as FastifyInstance;
}

/** What the plugin adds to an answer that is no preflight. The allowed origin depends on the request, hence `Vary`. */
function addHeaders(reply: FastifyReply, origin: string | undefined, options: FastifyCorsOptions): void {
  reply.header('vary', 'Origin');
  if (options.origin === '*') reply.header('access-control-allow-origin', '*');
  else if (origin !== undefined && (options.origin as string[]).includes(origin))
    reply.header('access-control-allow-origin', origin);
  if (options.credentials === true) reply.header('access-control-allow-credentials', 'true');
  reply.header('access-control-expose-headers', EXPOSED);
}

function optionsCache(sources: CorsSources): () => FastifyCorsOptions {
  let lists: readonly (readonly string[])[] = [];
  let options = EVERYONE;
  return () => {
    const now = [sources.webApiOrigins(), sources.cabinetOrigins()] as const;
    if (now[0] !== lists[0] || now[1] !== lists[1]) {
      lists = now;
      options = corsOptions(now[0], now[1]);
    }
    return options;
  };
}

function corsOptions(webApi: readonly string[], cabinet: readonly string[]): FastifyCorsOptions {
  const origins = new Set([...webApi, ...cabinet].map((origin) => origin.trim().replace(/\/$/, '')).filter(Boolean));
  if (webApi.length === 0 || origins.has('*')) return EVERYONE;
  return { ...FIXED, origin: [...origins], credentials: true };
}

// Headers of every answer. A route that serves a page replaces the policy with its own.

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

/** Registers the headers for all routes of the instance, 404s and errors included. Call it on the root instance. */
export function registerSecurityHeaders(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    done();
  });
}

// Options of the HTTP server that the REST facade relies on.

/** Largest JSON body in bytes (spec 00, Bodies). */
export const JSON_BODY_LIMIT = 1024 * 1024;

/**
 * To spread into `fastify({...})`: both trailing-slash forms are one route, paths are case-sensitive, parameters may be as long
 * as a batched tRPC path, and a URL that cannot be decoded gets the same error body as everything else.
 */
export const restServerOptions = {
  bodyLimit: JSON_BODY_LIMIT,
  routerOptions: { ignoreTrailingSlash: true, caseSensitive: true, maxParamLength: 5000 },
  frameworkErrors: (error: { statusCode?: number }, _request: FastifyRequest, reply: FastifyReply): void => {
    reply.code(error.statusCode ?? 400).send({ detail: 'Bad Request' });
  },
} satisfies FastifyServerOptions;

/** @returns whether the request has a body */
export function isBodyExpected({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * A client that keeps its connection would lose the request that it sends while the server closes it (spec 08 S11), and one that still sends its
 * body would lose the answer, for which the framework and the client may ask to close, too: the rest of the body is read and dropped first.
 */
export function endConnections(server: FastifyInstance, isStopping: () => boolean): void {
  server.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (isBodyExpected(raw) && !raw.complete) {
      const isLast = !reply.raw.shouldKeepAlive;
      reply.removeHeader('connection');
      reply.raw.removeHeader('connection');
      reply.raw.shouldKeepAlive = true;
      raw.once('end', () => (isLast || isStopping()) && raw.socket.destroySoon());
    } else if (isStopping()) reply.header('connection', 'close');
    done();
  });
}
