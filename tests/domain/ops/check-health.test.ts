import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { DatabaseWatch, type MachineClocks } from '../../../src/core/db/database-watch.ts';
import { probeDatabase, requireReady } from '../../../src/domain/ops/check-health.ts';
import { purgeExpired } from '../../../src/domain/ops/purge.ts';
import { clientOf, testServer, tokenClient } from '../../support/api.ts';
import { aUser } from '../../support/builders.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { freshDatabase, type TestDatabase } from '../../support/test-database.ts';

let database: TestDatabase;
let t: TestApp;
beforeAll(async () => {
  database = await freshDatabase({ poolSize: 1 });
  t = await testApp({ database });
});
afterAll(() => database.drop());

const setReadOnly = (value: 'on' | 'off') => t.app.db.sql(`SET default_transaction_read_only = ${value}`);

test('spec 08 S2: an instance whose database accepts no writes is not ready, and is ready again when it does', async () => {
  await expect(requireReady(t.app)).resolves.toBeUndefined();
  await setReadOnly('on');
  await expect(requireReady(t.app)).rejects.toMatchObject({ status: 503, code: 'not_ready' });
  expect(await probeDatabase(t.app)).toMatchObject({ status: 'healthy' });
  await setReadOnly('off');
  await expect(requireReady(t.app)).resolves.toBeUndefined();
});

test('the probes say what they wait for', async () => {
  const instance = { ...t.app.ports.instance, isReady: () => false, isStuck: () => true };
  const server = await testServer({ ...t.app, ports: { ...t.app.ports, instance } });
  onTestFinished(() => server.close());
  const client = clientOf(server);
  expect(await client.get('/readyz')).toMatchObject({ status: 503, body: { detail: 'Not ready' } });
  expect(await client.get('/livez')).toMatchObject({
    status: 503,
    body: { detail: 'The database connections of this process are lost' },
  });
});

describe('spec 10 F5: a machine whose clock is a day ahead', () => {
  const DAY = 86_400_000;
  const machine: MachineClocks = { systemMs: () => Date.now() + DAY, monotonicMs: () => performance.now() };

  test('has the time of the database, deletes no key early, and is not ready', async () => {
    const { app: made, database } = await testApp();
    const watch = new DatabaseWatch({ database, log: made.log, machine });
    expect(watch.now().getTime() - Date.now()).toBeGreaterThan(DAY / 2);
    const unfollow = await watch.follow();
    unfollow();
    const instance = { ...made.ports.instance, clockSkewMs: () => watch.skewMs };
    const app: App = { ...made, clock: watch, ports: { ...made.ports, instance } };
    const server = await testServer(app);
    try {
      const client = await tokenClient(app, server);
      const { id } = await aUser(app);
      const pay = () => client.post(`/users/${id}/balance`, { amount_kopeks: 100 }, { headers: { 'idempotency-key': 'once' } });
      expect((await pay()).status).toBe(200);
      await purgeExpired(app);
      expect((await pay()).status).toBe(200);
      expect((await client.get(`/users/${id}`)).body).toMatchObject({ balance_kopeks: 100 });
      expect(Math.abs(watch.now().getTime() - Date.now())).toBeLessThan(60_000);
      expect(await client.get('/readyz')).toMatchObject({
        status: 503,
        body: {
          detail: expect.stringMatching(/^Not ready: the clock of this machine is 86\d{3} s from the clock of the database$/),
        },
      });
    } finally {
      await server.close();
    }
  });

  test('whose time jumps later does not take the jump over, and what deletes asks again', async () => {
    const { app: made, database } = await testApp();
    let jumpMs = 0;
    const watch = new DatabaseWatch({
      database,
      log: made.log,
      machine: { systemMs: () => Date.now() + jumpMs, monotonicMs: () => performance.now() },
    });
    await watch.look();
    expect(Math.abs(watch.skewMs)).toBeLessThan(30_000);
    jumpMs = DAY;
    expect(Math.abs(watch.now().getTime() - Date.now())).toBeLessThan(60_000);
    await watch.look();
    expect(watch.skewMs).toBeGreaterThan(DAY - 30_000);
    // A monotonic clock that stood still while the machine slept.
    const confirmed = vi.fn(async () => new Date());
    const clock = { now: () => new Date(Date.now() + DAY), confirmed };
    await storeRow(made, 'IdempotencyKey', { actor: 'a', key: 'kept', operation: 'o', bodyHash: 'h', createdAt: new Date() });
    await purgeExpired({ ...made, clock });
    expect(confirmed).toHaveBeenCalledTimes(1);
    expect(await made.db.sql("SELECT key FROM idempotency_keys WHERE key = 'kept'")).toHaveLength(1);
  });
});
