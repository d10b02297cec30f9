/**
 * Whatever a field holds, the answer is no fault of ours: each served operation is called with things that exist and one value at a
 * time that its type allows and a column, a cast or an index may not.
 */

import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, type ApiReply, clientOf, testServer, tokenClient } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { documentOfService } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { ADMIN } from './admin-write-samples.ts';
import { ADMIN_WRITES } from './admin-writes.ts';
import { WITH_BAN_SYSTEM } from './ban-system-writes.ts';
import { acceptedBody, equip, existingPath } from './existing-things.ts';
import { type HostileRequest, hostileRequests } from './hostile-values.ts';
import { type DocumentedOperation, exampleBody, operationsOf, pathFor, signExamples } from './operation-cases.ts';
import { OWNED } from './owned-objects.ts';

const operations = operationsOf(documentOfService as never);
const named = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

/** What the ban system does not know is no fault of ours (spec 06 section 13: 502). */
const UNKNOWN_THERE = /^{"detail":"Ban System API error: API error 404: /;

let t: TestApp;
let server: FastifyInstance;
let called = 0;
let accepted = 0;

beforeAll(async () => {
  t = await testApp({ environment: { YOOKASSA_RECURRENT_ENABLED: 'true', ...WITH_BAN_SYSTEM } });
  server = await testServer(t.app);
});
afterAll(async () => {
  await server.close();
  // What was varied must have been right, or the values never reached what they were to try.
  expect(accepted / called).toBeGreaterThan(0.7);
});

interface RightRequest {
  client: ApiClient;
  path: string;
  body: unknown;
}

/** By callers of its own, since some operations end who calls them. */
async function rightRequest(name: string, operation: DocumentedOperation): Promise<RightRequest> {
  const { app } = t;
  const owner = await userClient(app, server);
  const boss = await adminClient(app, server, ['*:*'], 900);
  const api = await tokenClient(app, server);
  const fixture = { app, api, user: owner.user };
  await equip(fixture);
  signExamples([operation], initDataOf(t, owner.user));
  const client = { NONE: clientOf(server), KEY: api, JWT: owner, JWT_ADMIN: boss }[operation.auth]!;
  const example = acceptedBody(name) ?? exampleBody(operation);
  const write = operation.auth === 'JWT_ADMIN' ? ADMIN_WRITES[name.replace(ADMIN, '')] : undefined;
  if (write) {
    const { path, body } = await write.request({ app, boss });
    return { client, path: path.startsWith('/cabinet/') ? path : `${ADMIN}${path}`, body: body ?? example };
  }
  const owned = await OWNED[name]?.make({ app, owner });
  if (owned) return { client, path: owned.pathWith(owned.id), body: owned.body ?? example };
  const path = await existingPath(fixture, operation.path);
  return { client, path: pathFor({ ...operation, path }, 1), body: example };
}

/** The walk asks limited operations more often than one caller may. */
async function sendUnlimited(client: ApiClient, ...request: Parameters<ApiClient['send']>): Promise<ApiReply> {
  const reply = await client.send(...request);
  if (reply.status !== 429) return reply;
  await t.app.db.sql('DELETE FROM rate_limit_windows');
  return client.send(...request);
}

test.each(sampleOf(named, ([name]) => name))('%s', async (name, operation) => {
  const { client, path, body } = await rightRequest(name, operation);
  called += 1;
  const faults: string[] = [];
  const requests = hostileRequests(operation, path, body);
  const right: HostileRequest = { what: 'as it should be', path, body };
  // Last what may end the thing.
  for (const request of operation.method === 'DELETE' ? [...requests, right] : [right, ...requests]) {
    const reply = await sendUnlimited(client, operation.method, request.path, request.body, { query: request.query });
    if (request === right && reply.status < 300) accepted += 1;
    if (reply.status >= 500 && !UNKNOWN_THERE.test(reply.text))
      faults.push(`${request.what}: ${reply.status} ${reply.text.slice(0, 200)}`);
  }
  expect(faults).toEqual([]);
});
