import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { AppError } from '../../src/core/errors.ts';
import { migrateSquad } from '../../src/domain/provisioning/migration/migrate-squad.ts';
import { pushSubscription } from '../../src/domain/provisioning/push-subscription.ts';
import { requestPanelUserRemoval, requestProvisioning } from '../../src/domain/provisioning/request-provisioning.ts';
import { runAutoSyncNow } from '../../src/domain/provisioning/sync/start-sync.ts';
import { lockUserSubscription, removeManually } from '../../src/domain/subscriptions/manual/manual-changes.ts';
import { actor, aServer, inStep, run, startEmpty, usersOf } from '../domain/provisioning/panel-sync/setup.ts';
import { someoneWaitsForALock } from '../support/lock-wait.ts';
import { GB, GERMANY, NETHERLANDS, type ProvisioningTest, readRow, withPort } from '../support/provisioning-setup.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

const FINLAND = '5a11ad00-0000-4000-8000-000000000003';

// The embedded database has one connection: races need a server.
describe.runIf(serverUrl)('panel synchronisation under concurrency', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 20 });
  });
  afterAll(() => database.drop());

  const start = () => startEmpty({ database });
  const slow = (t: ProvisioningTest) => {
    const pause = () => new Promise((resolve) => setTimeout(resolve, 150));
    return withPort(t.app, {
      ...t.adapter,
      listUsers: (page) => pause().then(() => t.adapter.listUsers(page)),
      setSquadsOfUsers: (uuids, squads) => pause().then(() => t.adapter.setSquadsOfUsers(uuids, squads)),
    });
  };
  /** The panel answers after `count` other attempts have ended, so that all of them find the running one. */
  const onceOthersEnded = (t: ProvisioningTest, count: number) => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    let attempts = 0;
    const attempt = <T>(work: Promise<T>): Promise<T> =>
      work.finally(() => {
        attempts += 1;
        if (attempts === count) resolve();
      });
    const app = withPort(t.app, {
      ...t.adapter,
      listUsers: (page) => ended.then(() => t.adapter.listUsers(page)),
      setSquadsOfUsers: (uuids, squads) => ended.then(() => t.adapter.setSquadsOfUsers(uuids, squads)),
    });
    return { app, attempt };
  };
  const statusesOf = (results: PromiseSettledResult<unknown>[]) =>
    results
      .map((result) => (result.status === 'fulfilled' ? 200 : result.reason instanceof AppError ? result.reason.status : 500))
      .sort();

  it('of ten migrations of one squad started at once one runs, the others get 409', async () => {
    const t = await start();
    await aServer(t.app, NETHERLANDS);
    await aServer(t.app, GERMANY);
    await inStep(t, 5);
    const { app, attempt } = onceOthersEnded(t, 9);
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => attempt(migrateSquad(app, actor, { sourceUuid: NETHERLANDS, targetUuid: GERMANY }))),
    );
    expect(statusesOf(results)).toEqual([200, ...Array(9).fill(409)]);
    expect(await t.app.db.sql('SELECT total, updated, target_added FROM squad_migration_runs')).toEqual([
      { total: 5, updated: 5, targetAdded: 5 },
    ]);
    expect(await usersOf(t.app, NETHERLANDS, GERMANY)).toEqual([0, 5]);
  });

  it('of ten synchronisations from the panel started at once one runs, an automatic one among them', async () => {
    const t = await start();
    await inStep(t, 3);
    const { app, attempt } = onceOthersEnded(t, 9);
    const [automatic, ...manual] = await Promise.allSettled([
      attempt(runAutoSyncNow(app, actor)),
      ...Array.from({ length: 9 }, () => attempt(run(app, 'from_panel', 'all'))),
    ]);
    const started = manual.filter((result) => result.status === 'fulfilled').length;
    const isAutomatic = automatic?.status === 'fulfilled' && automatic.value !== null;
    expect(started + (isAutomatic ? 1 : 0)).toBe(1);
    expect(statusesOf(manual).filter((status) => status === 409)).toHaveLength(9 - started);
    expect(await t.app.db.sql('SELECT status FROM panel_sync_runs')).toEqual([{ status: 'completed' }]);
  });

  it('renewals during a synchronisation in both directions are not lost, in the service and at the panel', async () => {
    const t = await start();
    const linked = await inStep(t, 8);
    const app = slow(t);
    // Times decide what is newer, so the clock must advance here.
    const offset = t.clock.now().getTime() - Date.now() + 1_000;
    t.clock.now = () => new Date(Date.now() + offset);
    const ends = new Map<number, number>();
    for (const { id } of linked) ends.set(id, (await readRow(t.app, id)).endDate.getTime() + 90 * 86_400_000);
    const renew = linked.map(async ({ id }, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 25));
      await inTransaction(t.app, async (inner) => {
        await inner.db.sql("UPDATE subscriptions SET end_date = end_date + interval '90 days' WHERE id = $1::int RETURNING id", [
          id,
        ]);
        await requestProvisioning(inner, id);
      });
      await pushSubscription(t.app, id);
    });
    await Promise.all([...renew, run(app, 'from_panel', 'all'), run(app, 'to_panel'), run(app, 'statuses')]);
    for (const { id } of linked) {
      await pushSubscription(t.app, id);
      const row = await readRow(t.app, id);
      expect(row.endDate.getTime()).toBe(ends.get(id));
      expect((await t.adapter.findByUuid(row.vpnpanelUuid!))?.expireAt.getTime()).toBe(ends.get(id));
    }
  });

  it('a subscription that is deleted while a batch waits for its row is not created again', async () => {
    const t = await start();
    const [linked] = await inStep(t, 1);
    const { vpnpanelUuid: uuid } = await readRow(t.app, linked!.id);
    // A difference, so that the run changes the row.
    await t.adapter.updateUser({ uuid: uuid!, trafficLimitBytes: 7 * GB });
    const locked = Promise.withResolvers<void>();
    const removal = inTransaction(t.app, async (inner) => {
      await lockUserSubscription(inner, linked!.user.id);
      await removeManually(inner, linked!.user.id);
      await requestPanelUserRemoval(inner, uuid!, 'disable');
      locked.resolve();
      await someoneWaitsForALock(t.app);
    });
    await locked.promise;
    const [result] = await Promise.all([run(t.app, 'from_panel', 'all'), removal]);
    expect(result).toMatchObject({ status: 'completed', counts: { created: 0, updated: 0, errors: 0 } });
    expect(await t.app.db.sql('SELECT id FROM subscriptions')).toEqual([]);
  });

  it('concurrent migrations in a chain: row and panel agree, and no counter is wrong', async () => {
    const t = await start();
    for (const uuid of [NETHERLANDS, GERMANY, FINLAND]) await aServer(t.app, uuid);
    const linked = await inStep(t, 6);
    const app = slow(t);
    await Promise.all([
      migrateSquad(app, actor, { sourceUuid: NETHERLANDS, targetUuid: GERMANY }),
      migrateSquad(app, actor, { sourceUuid: GERMANY, targetUuid: FINLAND }),
    ]);
    for (const { id } of linked) {
      await pushSubscription(t.app, id);
      const row = await readRow(t.app, id);
      expect(row.connectedSquads).toHaveLength(1);
      const user = await t.adapter.findByUuid(row.vpnpanelUuid!);
      expect(user?.squads.map((squad) => squad.uuid)).toEqual(row.connectedSquads);
    }
    const users = await usersOf(t.app, NETHERLANDS, GERMANY, FINLAND);
    expect(users.reduce((sum, count) => sum! + count!, 0)).toBe(6);
  });
});
