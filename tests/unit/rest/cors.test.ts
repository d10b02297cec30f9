import cors from '@fastify/cors';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerCors } from '../../../src/rest/http-limits.ts';

const LISTED = 'https://cabinet.example.org';

/** The plugin for every request, which is what the headers are compared with. */
function plain(server: FastifyInstance, web: string[], cabinet: string[]) {
  const isOpen = web.length === 0 || web.includes('*');
  return server.register(cors, {
    // A delegate has the plugin add `Vary` to every answer, as the service does.
    delegator: (_request, done) =>
      done(null, {
        methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        maxAge: 600,
        exposedHeaders: 'X-Request-Id, Retry-After',
        allowedHeaders:
          'Authorization, Content-Type, X-CSRF-Token, X-Messenger-Init-Data, X-API-Key, Idempotency-Key, X-Request-Id',
        ...(isOpen ? { origin: '*', credentials: false } : { origin: [...web, ...cabinet], credentials: true }),
      }),
  });
}

describe.each([
  ['open to everyone', [], []],
  ['open by a star', ['*'], [LISTED]],
  ['open to a list', ['https://panel.example.org'], [LISTED]],
] as [string, string[], string[]][])('CORS %s', (_name, web, cabinet) => {
  let ours: FastifyInstance;
  let theirs: FastifyInstance;

  beforeAll(async () => {
    ours = fastify();
    theirs = fastify();
    await registerCors(ours, { webApiOrigins: () => web, cabinetOrigins: () => cabinet });
    await plain(theirs, web, cabinet);
    for (const server of [ours, theirs]) {
      server.get('/known', async () => ({ ok: true }));
      // A route that accepts OPTIONS itself, as tRPC's does.
      server.all('/all/:path', async () => ({ ok: true }));
    }
  });

  afterAll(async () => {
    await Promise.all([ours.close(), theirs.close()]);
  });

  it('answers every request as the plugin does', async () => {
    const origins = [undefined, LISTED, 'https://panel.example.org', 'https://evil.example', 'null'];
    for (const url of ['/known', '/all/x', '/missing']) {
      for (const method of ['GET', 'POST', 'HEAD', 'OPTIONS'] as const) {
        for (const origin of origins) {
          for (const wanted of method === 'OPTIONS' ? [undefined, 'PATCH'] : [undefined]) {
            const headers = {
              ...(origin === undefined ? {} : { origin }),
              ...(wanted === undefined ? {} : { 'access-control-request-method': wanted }),
            };
            const [mine, other] = await Promise.all([
              ours.inject({ url, method, headers }),
              theirs.inject({ url, method, headers }),
            ]);
            const { date: _mine, ...shown } = mine.headers;
            const { date: _other, ...expected } = other.headers;
            expect({ status: mine.statusCode, body: mine.body, headers: shown }, `${method} ${url} from ${origin}`).toEqual({
              status: other.statusCode,
              body: other.body,
              headers: expected,
            });
          }
        }
      }
    }
  });
});
