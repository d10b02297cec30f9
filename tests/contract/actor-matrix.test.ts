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
  /** Served beside the contract. */
  const NOT_IN_CONTRACT = [
    'GET /livez',
    'GET /readyz',
    'POST /contests/referral',
    // The contract's path ends with a slash.
    'GET /cabinet/admin/referral-network',
    'POST /cabinet/admin/broadcasts/{broadcast_id}/pause',
    'POST /cabinet/admin/broadcasts/{broadcast_id}/resume',
  ];

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
    expect(beyond).toEqual(NOT_IN_CONTRACT);
  });

  test('every administered operation demands exactly one permission', () => {
    for (const { name, route } of cells) {
      expect(route.meta.permissions?.length ?? 0, name).toBe(route.meta.auth === 'JWT_ADMIN' ? 1 : 0);
    }
  });
});
