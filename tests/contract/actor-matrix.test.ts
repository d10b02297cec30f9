/**
 * Who may enter what: every served operation by every kind of actor. What must happen is worked out from area, auth and permissions
 * alone, which are compared with the contract's. Here those who are let in; who is turned away: `tests/protocol/turned-away.test.ts`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testServer } from '../support/api.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { servedRoutes } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { Actors, cells, KINDS, refusalFor, send, UNKNOWN_ID } from './actor-cells.ts';
import { type EffectWatch, watchEffects } from './effect-watch.ts';
import { pathFor } from './operation-cases.ts';

const GATE_REFUSALS =
  /^(Missing API key|Invalid or expired API key|Authentication required|Invalid or expired token|Permission denied: .*)$/;

/** The contract's path of one operation ends with a slash. */
const withoutSlash = (path: string) => path.replace(/\/$/, '');

let t: TestApp;
let server: FastifyInstance;
let watch: EffectWatch;
let actors: Actors;

beforeAll(async () => {
  watch = watchEffects(servedRoutes);
  t = await testApp({ environment: { YOOKASSA_RECURRENT_ENABLED: 'true' } });
  server = await testServer(t.app);
  actors = await Actors.make(t, server);
});
// The walk asks limited operations more often than one address may.
beforeEach(() => t.app.db.sql('DELETE FROM rate_limit_windows'));
afterAll(async () => {
  watch.stop();
  await server.close();
});

describe('admitted requests', () => {
  const admitted = cells.flatMap((cell) =>
    KINDS.filter((kind) => refusalFor(kind, cell.operation.auth) === null).map((kind) => [cell.name, kind, cell] as const),
  );

  test.each(sampleOf(admitted, ([name, kind]) => `${name} ${kind}`))('%s: %s is admitted', async (_name, kind, cell) => {
    watch.clear();
    const reply = await send(actors.clientFor(kind, cell.route), cell, pathFor(cell.operation, UNKNOWN_ID));
    expect(reply.status, reply.text).not.toBe(500);
    if (typeof reply.body?.detail === 'string') expect(reply.body.detail).not.toMatch(GATE_REFUSALS);
    // 422 = refused by the input's shape, behind the gate; 429 = a door that counts.
    if (reply.status !== 422) expect(watch.handled).toEqual([cell.route.procedurePath]);
    // A deny policy or a role made by an example must not stand in the way of the next one.
    await t.app.db.sql('DELETE FROM access_policies');
    await t.cache.forget(t.app, ['access-policies']);
  });
});

describe('facts of the operations', () => {
  const contractFile = join(import.meta.dirname, '..', '..', '..', 'shared', 'contract', 'openapi.json');

  // The contract lies beside the checkout, not in it: a copy without it has nothing to compare with.
  test.runIf(existsSync(contractFile))("area, auth and permissions are the contract's", () => {
    const contract = JSON.parse(readFileSync(contractFile, 'utf8')) as {
      paths: Record<string, Record<string, Record<string, unknown>>>;
    };
    const theirOperations = new Map<string, Record<string, unknown>>(
      Object.entries(contract.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, facts]) => [`${method.toUpperCase()} ${withoutSlash(path)}`, facts] as const),
      ),
    );
    for (const { name, operation, route } of cells) {
      const key = `${operation.method} ${withoutSlash(operation.path)}`;
      const theirs = theirOperations.get(key);
      theirOperations.delete(key);
      // Served beside the contract.
      if (!theirs) continue;
      const { area, auth, permissions } = route.meta;
      const ours = { area, auth, permissions: permissions ?? [] };
      const wanted = { area: theirs['x-area'], auth: theirs['x-auth'], permissions: theirs['x-permissions'] ?? [] };
      expect(ours, name).toEqual(wanted);
    }
    expect([...theirOperations.keys()], 'not served').toEqual([]);
  });

  test('every administered operation demands exactly one permission', () => {
    for (const { name, route } of cells) {
      expect(route.meta.permissions?.length ?? 0, name).toBe(route.meta.auth === 'JWT_ADMIN' ? 1 : 0);
    }
  });
});
