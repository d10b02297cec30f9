/** Every operation of API tokens by tokens that lack its scope, and by tokens that have nothing else (issue 31). */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FEED_SCOPE, TOKEN_SCOPES } from '../../src/domain/access/token-scopes.ts';
import { tokenScopeOf } from '../../src/routers/operation-meta.ts';
import { minimalBody, operationsOf, pathFor } from '../contract/operation-cases.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { documentOfService, servedRoutes } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const ofTokens = servedRoutes.filter(({ meta }) => meta.auth === 'KEY');
const operations = operationsOf(documentOfService as never);
const cases = ofTokens.map((route) => {
  const operation = operations.find(({ method, path }) => method === route.method && path === route.path)!;
  return [`${route.method} ${route.path}`, tokenScopeOf(route.meta, route.type), operation] as const;
});
const UNKNOWN_ID = 2_147_000_000;

let t: TestApp;
let server: FastifyInstance;
const clients = new Map<string, Promise<ApiClient>>();

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
});
// The walk asks limited operations more often than one address may.
beforeEach(() => t.app.db.sql('DELETE FROM rate_limit_windows'));
afterAll(() => server.close());

function clientWith(scopes: readonly string[]): Promise<ApiClient> {
  const key = scopes.join();
  const known = clients.get(key);
  if (known) return known;
  const made = tokenClient(t.app, server, 'limited', { scopes });
  clients.set(key, made);
  return made;
}

test('the scopes are those that the operations need, and that of the live feed', () => {
  expect(new Set([...cases.map(([, scope]) => scope), FEED_SCOPE])).toEqual(new Set(TOKEN_SCOPES));
});

test('the document names the scope of every operation of API tokens, and of no other', () => {
  const paths = documentOfService.paths as unknown as Record<string, Record<string, { 'x-token-scope'?: string }>>;
  for (const { method, path, meta, type } of servedRoutes) {
    const documented = paths[path]![method.toLowerCase()]!['x-token-scope'];
    expect(documented, `${method} ${path}`).toBe(meta.auth === 'KEY' ? tokenScopeOf(meta, type) : undefined);
  }
});

describe.each(sampleOf(cases, ([name]) => name))('%s', (_name, scope, operation) => {
  const send = (client: ApiClient) => client.send(operation.method, pathFor(operation, UNKNOWN_ID), minimalBody(operation));

  test('is refused without its scope, which the refusal names', async () => {
    const others = await clientWith(TOKEN_SCOPES.filter((one) => one !== scope));
    const reply = await send(others);
    expect([reply.status, reply.body.detail]).toMatchObject([403, { code: 'scope_missing', scope }]);
  });

  test('is admitted with nothing but its scope', async () => {
    const reply = await send(await clientWith([scope]));
    expect(reply.status, reply.text).not.toBe(500);
    expect(reply.text).not.toContain('scope_missing');
  });
});
