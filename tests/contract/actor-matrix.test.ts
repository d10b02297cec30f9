/**
 * Who may enter what: every served operation by every kind of actor, through both doors. What must happen is worked out from area,
 * auth and permissions alone, which are compared with the contract's; that nobody else enters is proved by counting handlers.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PERMISSION_CATALOGUE } from '../../src/domain/access/permission-catalogue.ts';
import { buildOpenApiDocument } from '../../src/rest/openapi-document.ts';
import { buildRouteTable, type RestRoute } from '../../src/rest/route-table.ts';
import { appRouter } from '../../src/routers/root.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, type ApiReply, clientOf, testServer, tokenClient } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { databaseDigests, type EffectWatch, watchEffects } from './effect-watch.ts';
import { type DocumentedOperation, exampleBody, operationsOf, pathFor, signExamples } from './operation-cases.ts';

const routes = buildRouteTable(appRouter);
const operations = operationsOf(buildOpenApiDocument(routes, { title: 'test', version: '0' }) as never);
const UNKNOWN_ID = 2_147_000_000;

interface Cell {
  name: string;
  operation: DocumentedOperation;
  route: RestRoute;
}

const cells: Cell[] = operations.map((operation) => {
  const route = routes.find((candidate) => candidate.method === operation.method && candidate.path === operation.path)!;
  return { name: `${operation.method} ${operation.path}`, operation, route };
});
const table = cells.map((cell) => [cell.name, cell] as const);

type ActorKind = 'nobody' | 'user' | 'other user' | 'token' | 'token as bearer' | 'without it' | 'with it' | 'superadmin';
const KINDS: ActorKind[] = ['nobody', 'user', 'other user', 'token', 'token as bearer', 'without it', 'with it', 'superadmin'];

/** The refusal that area, auth and permissions demand; null = the actor is let in. */
function refusalFor(kind: ActorKind, auth: string): { status: number; detail: string } | null {
  const isToken = kind === 'token' || kind === 'token as bearer';
  if (auth === 'NONE') return null;
  if (auth === 'KEY') {
    if (kind === 'nobody') return { status: 401, detail: 'Missing API key' };
    return isToken ? null : { status: 401, detail: 'Invalid or expired API key' };
  }
  if (kind === 'nobody' || kind === 'token') return { status: 401, detail: 'Authentication required' };
  if (kind === 'token as bearer') return { status: 401, detail: 'Invalid or expired token' };
  if (auth === 'JWT') return null;
  if (kind === 'user' || kind === 'other user') {
    return { status: 403, detail: 'Permission denied: No active roles assigned' };
  }
  return kind === 'without it' ? { status: 403, detail: 'Permission denied: Permission not granted by any role' } : null;
}

const GATE_REFUSALS =
  /^(Missing API key|Invalid or expired API key|Authentication required|Invalid or expired token|Permission denied: .*)$/;

let t: TestApp;
let server: FastifyInstance;
let watch: EffectWatch;
let owner: ActorClient;
let stranger: ActorClient;
let superadmin: ActorClient;
const plain = new Map<ActorKind, ApiClient>();
const holders = new Map<string, ApiClient>();
const lackers = new Map<string, ApiClient>();

beforeAll(async () => {
  watch = watchEffects(routes);
  t = await testApp({ environment: { YOOKASSA_RECURRENT_ENABLED: 'true' } });
  server = await testServer(t.app);
  owner = await userClient(t.app, server);
  stranger = await userClient(t.app, server);
  signExamples(operations, initDataOf(t, owner.user));
  superadmin = await adminClient(t.app, server, ['*:*'], 999);
  const token = await tokenClient(t.app, server);
  plain.set('nobody', clientOf(server));
  plain.set('user', owner);
  plain.set('other user', stranger);
  plain.set('token', token);
  plain.set('token as bearer', clientOf(server, { authorization: `Bearer ${token.token}` }));
  plain.set('superadmin', superadmin);
  const catalogue = Object.entries(PERMISSION_CATALOGUE).flatMap(([section, actions]) =>
    actions.map((action) => `${section}:${action}`),
  );
  for (const permission of new Set(routes.flatMap((route) => route.meta.permissions ?? []))) {
    expect(catalogue).toContain(permission);
    holders.set(permission, await adminClient(t.app, server, [permission]));
    const others = catalogue.filter((other) => other !== permission);
    lackers.set(permission, await adminClient(t.app, server, others));
  }
});
// The walk asks limited operations more often than one address may.
beforeEach(() => t.app.db.sql('DELETE FROM rate_limit_windows'));
afterAll(async () => {
  watch.stop();
  await server.close();
});

/** For operations without a permission the two administrators are any two. */
function clientFor(kind: ActorKind, route: RestRoute): ApiClient {
  const permission = route.meta.permissions?.[0] ?? [...holders.keys()][0]!;
  if (kind === 'with it') return holders.get(permission)!;
  return kind === 'without it' ? lackers.get(permission)! : plain.get(kind)!;
}

const send = (client: ApiClient, { operation }: Cell, path: string): Promise<ApiReply> =>
  client.send(operation.method, path, exampleBody(operation));

const callTrpc = (client: ApiClient, { route }: Cell): Promise<ApiReply> =>
  route.type === 'query' ? client.get(`/trpc/${route.procedurePath}`) : client.post(`/trpc/${route.procedurePath}`, {});

describe('who is turned away', () => {
  const refused = (kind: ActorKind) => cells.filter(({ operation }) => refusalFor(kind, operation.auth) !== null);
  const kinds = KINDS.filter((kind) => refused(kind).length > 0);

  test.each(kinds)('%s: status and words of the gate, no handler, no outbound call, no row', async (kind) => {
    const before = await databaseDigests(t.app);
    watch.clear();
    for (const cell of refused(kind)) {
      const wanted = refusalFor(kind, cell.operation.auth)!;
      const client = clientFor(kind, cell.route);
      const rest = await send(client, cell, pathFor(cell.operation, UNKNOWN_ID));
      expect({ status: rest.status, detail: rest.body.detail }, cell.name).toEqual(wanted);
      const trpc = await callTrpc(client, cell);
      expect({ status: trpc.status, detail: trpc.body.error.data.detail }, `${cell.name} by tRPC`).toEqual(wanted);
    }
    expect(watch.handled).toEqual([]);
    expect(watch.outbound).toEqual([]);
    expect(await databaseDigests(t.app)).toEqual(before);
  });

  test('a bad body changes nothing about it: the gate comes before the input', async () => {
    watch.clear();
    for (const cell of cells.filter(({ operation }) => operation.auth !== 'NONE' && operation.method !== 'GET')) {
      const { operation, route } = cell;
      const path = pathFor(operation, UNKNOWN_ID);
      const kind: ActorKind = operation.auth === 'KEY' ? 'user' : operation.auth === 'JWT' ? 'token' : 'without it';
      const reply = await send(clientFor(kind, route), { ...cell, operation: { ...operation, example: '{"a":' } }, path);
      expect(reply.status, cell.name).toBe(refusalFor(kind, operation.auth)!.status);
    }
    expect(watch.handled).toEqual([]);
  });
});

describe('who is let in', () => {
  const admitted = table.flatMap(([name, cell]) =>
    KINDS.filter((kind) => refusalFor(kind, cell.operation.auth) === null).map((kind) => [name, kind, cell] as const),
  );

  test.each(admitted)('%s: %s passes the gate', async (_name, kind, cell) => {
    watch.clear();
    const reply = await send(clientFor(kind, cell.route), cell, pathFor(cell.operation, UNKNOWN_ID));
    expect(reply.status, reply.text).not.toBe(500);
    if (typeof reply.body?.detail === 'string') expect(reply.body.detail).not.toMatch(GATE_REFUSALS);
    // 422 = refused by the input's shape, behind the gate; 429 = a door that counts.
    if (reply.status !== 422) expect(watch.handled).toEqual([cell.route.procedurePath]);
    // A deny policy or a role made by an example must not stand in the way of the next one.
    await t.app.db.sql('DELETE FROM access_policies');
    await t.cache.forget(t.app.db, ['access-policies']);
  });
});

describe('facts of the operations', () => {
  const contractFile = join(import.meta.dirname, '..', '..', '..', 'shared', 'contract', 'openapi.json');
  /** Served beside the contract. */
  const OWN = ['GET /livez', 'GET /readyz'];

  // The contract lies beside the checkout, not in it: a copy without it has nothing to compare with.
  test.runIf(existsSync(contractFile))("area, auth and permissions are the contract's", () => {
    const contract = JSON.parse(readFileSync(contractFile, 'utf8')) as {
      paths: Record<string, Record<string, Record<string, unknown>>>;
    };
    const beyond: string[] = [];
    for (const { name, operation, route } of cells) {
      const theirs = contract.paths[operation.path]?.[operation.method.toLowerCase()];
      if (!theirs) {
        beyond.push(name);
        continue;
      }
      const { area, auth, permissions } = route.meta;
      const ours = { area, auth, permissions: permissions ?? [] };
      const wanted = { area: theirs['x-area'], auth: theirs['x-auth'], permissions: theirs['x-permissions'] ?? [] };
      expect(ours, name).toEqual(wanted);
    }
    expect(beyond).toEqual(OWN);
  });

  test('every administered operation demands exactly one permission', () => {
    for (const { name, route } of cells) {
      expect(route.meta.permissions?.length ?? 0, name).toBe(route.meta.auth === 'JWT_ADMIN' ? 1 : 0);
    }
  });
});
