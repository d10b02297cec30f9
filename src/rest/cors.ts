/** Which browser pages may read the answers (spec 06 section 0, CORS). */
import cors, { type FastifyCorsOptions, type FastifyCorsOptionsDelegateCallback } from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

export interface CorsSources {
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
const PREFLIGHT_SECONDS = 600;

const FIXED = {
  methods: METHODS,
  allowedHeaders: HEADERS,
  exposedHeaders: ['X-Request-Id', 'Retry-After'],
  maxAge: PREFLIGHT_SECONDS,
};
const EVERYONE: FastifyCorsOptions = { ...FIXED, origin: '*', credentials: false };

/** Registers CORS for all routes. Credentials are allowed for listed origins only, never together with `*`. */
export async function registerCors(fastify: FastifyInstance, sources: CorsSources): Promise<void> {
  const optionsNow = optionsCache(sources);
  const perRequest: FastifyCorsOptionsDelegateCallback = (_request, callback) => callback(null, optionsNow());
  await fastify.register(cors, () => perRequest);
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
