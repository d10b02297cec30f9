/** Options of the HTTP server that the REST facade relies on. */
import type { FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';

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
