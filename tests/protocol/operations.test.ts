/**
 * Sends every served operation what is refused before its first SQL: no credential, a wrong one, a right one without the permission,
 * each bounded field below and above, wrong types. What an operation is, is read from the document that clients read.
 */

import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { appRouter } from '../../src/routers/root.ts';
import {
  badBodies,
  badParameters,
  type DocumentedOperation,
  exampleBody,
  operationsOf,
  pathFor,
  signExamples,
} from '../contract/operation-cases.ts';
import { adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { documentOfService, servedRoutes } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const operations = operationsOf(documentOfService as never);
const named = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);
const guarded = named.filter(([, operation]) => operation.auth !== 'NONE');
const UNKNOWN_ID = 2_147_000_000;
const nameOf = ([name]: readonly [string, ...unknown[]]) => name;

let t: TestApp;
let server: FastifyInstance;
let stranger: ApiClient;
const clients = new Map<string, ApiClient>();

beforeAll(async () => {
  t = await testApp({ environment: { YOOKASSA_RECURRENT_ENABLED: 'true' } });
  server = await testServer(t.app);
  stranger = clientOf(server);
  clients.set('NONE', stranger);
  clients.set('KEY', await tokenClient(t.app, server));
  const user = await userClient(t.app, server);
  clients.set('JWT', user);
  signExamples(operations, initDataOf(t, user.user));
  clients.set('JWT_ADMIN', await adminClient(t.app, server, ['*:*'], 900));
});
// The walk asks limited operations more often than one address may.
beforeEach(() => t.app.db.sql('DELETE FROM rate_limit_windows'));
afterAll(() => server.close());

const allowed = (operation: DocumentedOperation) => clients.get(operation.auth)!;

const send = (client: ApiClient, { method }: DocumentedOperation, path: string, body?: unknown, query?: Record<string, string>) =>
  client.send(method, path, body, { query });

describe('credentials', () => {
  test.each(sampleOf(guarded, nameOf))('%s without a credential is 401', async (_name, operation) => {
    const reply = await send(stranger, operation, pathFor(operation, UNKNOWN_ID), exampleBody(operation));
    expect(reply.status).toBe(401);
    expect(reply.body.detail).toBe(operation.auth === 'KEY' ? 'Missing API key' : 'Authentication required');
    if (operation.auth !== 'KEY') expect(reply.headers['www-authenticate']).toBe('Bearer');
  });

  test.each(sampleOf(guarded, nameOf))('%s with a wrong credential is 401', async (_name, operation) => {
    const liar = clientOf(server, { 'x-api-key': 'sst_wrong', authorization: 'Bearer wrong.token.here' });
    const reply = await send(liar, operation, pathFor(operation, UNKNOWN_ID), exampleBody(operation));
    expect(reply.status).toBe(401);
    expect(reply.body.detail).toBe(operation.auth === 'KEY' ? 'Invalid or expired API key' : 'Invalid or expired token');
  });

  const administered = named.filter(([, operation]) => operation.auth === 'JWT_ADMIN');
  test.skipIf(administered.length === 0).each(sampleOf(administered, nameOf))(
    '%s without its permission is 403',
    async (_name, operation) => {
      const reply = await send(clients.get('JWT')!, operation, pathFor(operation, UNKNOWN_ID), exampleBody(operation));
      expect(reply.status).toBe(403);
      expect(reply.body.detail).toBe('Permission denied: No active roles assigned');
    },
  );

  test('an administrator with another permission is refused by every administered operation', async () => {
    const other = await adminClient(t.app, server, ['nothing:else']);
    for (const [name, operation] of administered) {
      const reply = await send(other, operation, pathFor(operation, UNKNOWN_ID), exampleBody(operation));
      expect(reply.status, name).toBe(403);
    }
  });
});

describe('input', () => {
  const parameters = operations.flatMap((operation) =>
    badParameters(operation).map((bad) => [`${operation.method} ${operation.path}: ${bad.what}`, operation, bad] as const),
  );
  test.each(sampleOf(parameters, nameOf))('%s', async (_name, operation, bad) => {
    const reply = await send(allowed(operation), operation, bad.path ?? pathFor(operation, 1), exampleBody(operation), bad.query);
    expect(reply.status).toBe(422);
    const issue = reply.body.detail.find((candidate: { loc: string[] }) => candidate.loc.join('.').startsWith(bad.loc.join('.')));
    expect(issue, JSON.stringify(reply.body)).toMatchObject({ type: bad.type });
    expect(typeof issue.msg).toBe('string');
    expect(issue).toHaveProperty('input');
  });

  const bodies = operations.flatMap((operation) =>
    badBodies(operation).map((bad) => [`${operation.method} ${operation.path}: ${bad.what}`, operation, bad] as const),
  );
  test.each(sampleOf(bodies, nameOf))('%s', async (_name, operation, bad) => {
    const reply = await send(allowed(operation), operation, pathFor(operation, 1), bad.body);
    expect(reply.status, JSON.stringify(reply.body)).toBe(422);
    const issue = reply.body.detail.find((candidate: { loc: string[] }) => candidate.loc.join('.') === bad.loc.join('.'));
    expect(issue, JSON.stringify(reply.body)).toMatchObject({ type: bad.type, ...(bad.ctx ? { ctx: bad.ctx } : {}) });
  });

  test('both trailing-slash forms are one', async () => {
    expect((await stranger.get('/health/')).status).toBe(200);
    expect((await clients.get('KEY')!.get('/tokens/')).status).toBe(200);
  });
});

test('no procedure is served without an operation, and none without area and auth', () => {
  const procedures = Object.keys(appRouter._def.procedures);
  expect(servedRoutes.length).toBe(procedures.length);
  for (const route of servedRoutes) {
    expect(route.meta.area, route.procedurePath).toBeDefined();
    expect(route.meta.auth, route.procedurePath).toBeDefined();
    expect((route.meta.permissions?.length ?? 0) > 0, route.procedurePath).toBe(route.meta.auth === 'JWT_ADMIN');
  }
});
