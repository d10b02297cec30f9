import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { lockTariff } from '../../src/domain/catalog/find-tariff.ts';
import { applyPanelSquads } from '../../src/domain/catalog/server-sync.ts';
import { createTariff, deleteTariff, toggleTrialTariff } from '../../src/domain/catalog/tariffs.ts';
import { pushSubscription } from '../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../src/domain/provisioning/request-provisioning.ts';
import { aSubscription, type ProvisioningTest, readRow, withPanel, withPort } from '../support/provisioning-setup.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

const actor = { kind: 'system', name: 'test' } as const;

// The embedded database has one connection: races need a server.
describe.runIf(serverUrl)('provisioning under concurrency', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 20 });
  });
  afterAll(() => database.drop());

  const start = (): Promise<ProvisioningTest> => withPanel({ database });

  it('twenty pushes at once create one panel user, and one of them runs', async () => {
    const t = await start();
    const { id } = await aSubscription(t.app);
    await requestProvisioning(t.app, id);
    const results = await Promise.all(Array.from({ length: 20 }, () => pushSubscription(t.app, id)));
    expect(results.filter((result) => result === 'synced').length).toBeGreaterThanOrEqual(1);
    expect(results.every((result) => result === 'synced' || result === 'busy')).toBe(true);
    expect(t.panel.listUsers()).toHaveLength(1);
    expect(t.panel.calls().filter((call) => call.method === 'POST' && call.path === '/api/users')).toHaveLength(1);
    expect(await readRow(t.app, id)).toMatchObject({ provisionState: 'synced', provisionLeaseUntil: null });
  });

  it('the panel ends with the newest state, whatever the order of requests and slow pushes', async () => {
    const t = await start();
    const { id } = await aSubscription(t.app);
    // Panel writes wait for a random time, so that without the lease an older one could follow a newer one.
    const pause = () => new Promise((resolve) => setTimeout(resolve, t.app.random.int(0, 15)));
    const slow = withPort(t.app, {
      ...t.adapter,
      updateUser: async (patch) => {
        await pause();
        return t.adapter.updateUser(patch);
      },
    });
    const rounds = Array.from({ length: 30 }, async (_unused, index) => {
      await inTransaction(t.app, async (inner) => {
        await inner.db.sql('UPDATE subscriptions SET device_limit = $2::int WHERE id = $1::int RETURNING id', [id, index + 1]);
        await requestProvisioning(inner, id);
      });
      return pushSubscription(slow, id);
    });
    await Promise.all(rounds);
    // A push that reached its limit of rounds has sent a job; the test runs it like the queue.
    await pushSubscription(slow, id);
    const row = await readRow(t.app, id);
    expect(row).toMatchObject({ provisionState: 'synced', provisionVersion: 30, provisionSyncedVersion: 30 });
    const [{ deviceLimit: limit } = { deviceLimit: 0 }] = await t.app.db.sql<{ deviceLimit: number }>(
      'SELECT device_limit FROM subscriptions WHERE id = $1::int',
      [id],
    );
    expect(await t.adapter.findByUuid(row.vpnpanelUuid!)).toMatchObject({ deviceLimit: limit });
    expect(t.panel.listUsers()).toHaveLength(1);
  });

  it('two instances whose creations are not answered still end with one user', async () => {
    const t = await start();
    const { id } = await aSubscription(t.app);
    await requestProvisioning(t.app, id);
    t.panel.faults.set({ timeoutAfterEffect: true, method: 'POST', path: '/api/users' });
    await Promise.allSettled(Array.from({ length: 6 }, () => pushSubscription(t.app, id)));
    t.panel.faults.set({});
    await Promise.allSettled(Array.from({ length: 6 }, () => pushSubscription(t.app, id)));
    expect(t.panel.listUsers()).toHaveLength(1);
    expect(await readRow(t.app, id)).toMatchObject({ provisionState: 'synced' });
  });

  it('of two concurrent creations, as after an expired lease, the second adopts the panel user by its username', async () => {
    const t = await start();
    const { id } = await aSubscription(t.app);
    await requestProvisioning(t.app, id);
    let arrived = 0;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const app = withPort(t.app, {
      ...t.adapter,
      createUser: async (draft) => {
        arrived += 1;
        if (arrived === 1) await t.app.db.sql('UPDATE subscriptions SET provision_lease_until = NULL WHERE id = $1::int', [id]);
        if (arrived === 2) open();
        await gate;
        return t.adapter.createUser(draft);
      },
    });
    const first = pushSubscription(app, id);
    while (arrived === 0 || (await readRow(t.app, id)).provisionLeaseUntil !== null) await nextTurn();
    const results = await Promise.all([first, pushSubscription(app, id)]);
    expect(results.sort()).toEqual(['busy', 'synced']);
    // The push that lost its lease has requested another one, unless the other one has done it already.
    await pushSubscription(t.app, id);
    expect(t.panel.listUsers()).toHaveLength(1);
    expect(await readRow(t.app, id)).toMatchObject({ provisionState: 'synced', vpnpanelUuid: t.panel.listUsers()[0]?.uuid });
  });

  it('administrators who make different tariffs the trial tariff at once end with one', async () => {
    const t = await start();
    const tariffs = await Promise.all(Array.from({ length: 6 }, (_unused, n) => createTariff(t.app, actor, { name: `T${n}` })));
    await Promise.all(tariffs.map((tariff) => toggleTrialTariff(t.app, actor, tariff.id)));
    const [row] = await t.app.db.sql('SELECT count(*)::int AS trial FROM tariffs WHERE is_trial_available');
    expect(row).toEqual({ trial: 1 });
  });

  it('a tariff is not deleted while a purchase has locked it', async () => {
    const t = await start();
    const tariff = await createTariff(t.app, actor, { name: 'Locked' });
    const { id } = await aSubscription(t.app);
    let signal: () => void = () => undefined;
    const isLocked = new Promise<void>((resolve) => {
      signal = resolve;
    });
    // Started outside of the transaction, like another request.
    const deletion = isLocked.then(() => deleteTariff(t.app, actor, tariff.id).catch((error: unknown) => error));
    await inTransaction(t.app, async (inner) => {
      expect(await lockTariff(inner, tariff.id)).not.toBeNull();
      signal();
      await inner.db.sql('SELECT pg_sleep(0.2)::text AS slept');
      await inner.db.sql('UPDATE subscriptions SET tariff_id = $2::int WHERE id = $1::int RETURNING id', [id, tariff.id]);
    });
    expect(await deletion).toMatchObject({ status: 409, code: 'tariff_in_use' });
  });

  it('syncs of the servers at once create each server once', async () => {
    const t = await start();
    const squads = Array.from({ length: 5 }, (_unused, n) => ({ uuid: `race-${n}`, name: `Race ${n}` }));
    const counts = await Promise.all(Array.from({ length: 5 }, () => applyPanelSquads(t.app, squads)));
    expect(counts.reduce((sum, count) => sum + count.created, 0)).toBe(5);
  });
});
