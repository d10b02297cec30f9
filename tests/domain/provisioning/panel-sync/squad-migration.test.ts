import { describe, expect, it, onTestFinished } from 'vitest';
import { SECOND_MS } from '../../../../src/core/clock.ts';
import { inTransaction } from '../../../../src/core/db/transaction.ts';
import { watchRuns } from '../../../../src/domain/provisioning/long-runs/watch-runs.ts';
import {
  continueMigration,
  MAX_ATTEMPTS,
  migrateSquad,
  previewMigration,
} from '../../../../src/domain/provisioning/migration/migrate-squad.ts';
import { PanelError } from '../../../../src/domain/provisioning/ports.ts';
import { pushSubscription } from '../../../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../../../src/domain/provisioning/request-provisioning.ts';
import {
  aSubscription,
  GERMANY,
  jobsOf,
  NETHERLANDS,
  type ProvisioningTest,
  readRow,
  withPort,
} from '../../../support/provisioning-setup.ts';
import { storeRow } from '../../../support/stored-rows.ts';
import { actor, aServer, everything, inStep, push, startEmpty, usersOf } from './setup.ts';

const FINLAND = '5a11ad00-0000-4000-8000-000000000003';

async function start(): Promise<ProvisioningTest & { source: number; target: number }> {
  const t = await startEmpty();
  return { ...t, source: await aServer(t.app, NETHERLANDS), target: await aServer(t.app, GERMANY) };
}

const move = (t: ProvisioningTest, app = t.app) =>
  migrateSquad(app, actor, { sourceUuid: ` ${NETHERLANDS} `, targetUuid: GERMANY });

async function panelSquads(t: ProvisioningTest, id: number): Promise<string[]> {
  const user = await t.adapter.findByUuid((await readRow(t.app, id)).vpnpanelUuid!);
  return user!.squads.map((squad) => squad.uuid);
}

describe('squad migration', () => {
  it('moves active and trial subscriptions, at the panel and here, with links and counters', async () => {
    const t = await start();
    const [plain, both, linked] = [
      ...(await inStep(t, 1)),
      ...(await inStep(t, 1, { squads: [NETHERLANDS, GERMANY] })),
      ...(await inStep(t, 1, { squads: [FINLAND, NETHERLANDS], isTrial: true })),
    ];
    const over = await aSubscription(t.app, { status: 'expired' });
    const elsewhere = await aSubscription(t.app, { squads: [FINLAND] });
    const link = (id: number, server: number, paid: number) =>
      storeRow(t.app, 'SubscriptionServer', { subscriptionId: id, serverSquadId: server, paidPriceKopeks: paid });
    await link(linked!.id, t.source, 900);
    await link(both!.id, t.source, 400);
    await link(both!.id, t.target, 300);
    expect(await previewMigration(t.app, NETHERLANDS)).toEqual({
      squadUuid: NETHERLANDS,
      squadName: NETHERLANDS,
      currentUsers: 3,
      maxUsers: null,
      usersToMigrate: 3,
    });

    expect(await move(t)).toMatchObject({
      status: 'completed',
      error: null,
      stats: {
        sourceUuid: NETHERLANDS,
        targetUuid: GERMANY,
        total: 3,
        updated: 3,
        panelUpdated: 3,
        panelFailed: 0,
        sourceRemoved: 3,
        targetAdded: 2,
      },
    });
    expect((await readRow(t.app, plain!.id)).connectedSquads).toEqual([GERMANY]);
    expect((await readRow(t.app, both!.id)).connectedSquads).toEqual([GERMANY]);
    expect((await readRow(t.app, linked!.id)).connectedSquads).toEqual([FINLAND, GERMANY]);
    expect((await panelSquads(t, linked!.id)).sort()).toEqual([GERMANY, FINLAND].sort());
    expect((await readRow(t.app, over.id)).connectedSquads).toEqual([NETHERLANDS]);
    expect((await readRow(t.app, elsewhere.id)).connectedSquads).toEqual([FINLAND]);
    const links = await t.app.db.sql(
      'SELECT subscription_id AS id, server_squad_id AS server, paid_price_kopeks AS paid FROM subscription_servers ORDER BY 1',
    );
    expect(links).toEqual([
      { id: plain!.id, server: t.target, paid: 0 },
      { id: both!.id, server: t.target, paid: 300 },
      { id: linked!.id, server: t.target, paid: 900 },
    ]);
    expect(await usersOf(t.app, NETHERLANDS, GERMANY)).toEqual([0, 3]);
    const before = await everything(t.app);
    expect(await move(t)).toMatchObject({ status: 'completed', stats: { total: 0, updated: 0 } });
    expect(await everything(t.app)).toEqual(before);
    // One bulk call a group of equal squads, no call for each user.
    const bulk = t.panel.calls().filter((call) => call.path === '/api/users/bulk/update-squads');
    expect(bulk).toHaveLength(2);
  });

  it('refuses the same squad, unknown squads and a panel that is not configured, and stores nothing', async () => {
    const t = await start();
    const ask = (sourceUuid: string, targetUuid: string, app = t.app) => migrateSquad(app, actor, { sourceUuid, targetUuid });
    await expect(ask(GERMANY, ` ${GERMANY}`)).rejects.toMatchObject({ status: 400, code: 'same_squad' });
    await expect(ask('nowhere', GERMANY)).rejects.toMatchObject({ status: 404, detail: 'Source squad not found' });
    await expect(ask(GERMANY, FINLAND)).rejects.toMatchObject({ status: 404, detail: 'Target squad not found' });
    const unset = withPort(t.app, { ...t.adapter, configurationError: () => 'VPNPANEL_API_KEY is not set' });
    await expect(ask(NETHERLANDS, GERMANY, unset)).rejects.toMatchObject({ status: 503, detail: 'VPNPANEL_API_KEY is not set' });
    await expect(previewMigration(t.app, FINLAND)).rejects.toMatchObject({ status: 404 });
    expect(await t.app.db.sql('SELECT id FROM squad_migration_runs')).toEqual([]);
  });

  it('without a panel user only the row moves, and one that the panel no longer has gets a push', async () => {
    const t = await start();
    const fresh = await aSubscription(t.app);
    const [lost] = await inStep(t, 1);
    await t.adapter.deleteUser((await readRow(t.app, lost!.id)).vpnpanelUuid!);
    expect((await move(t)).stats).toMatchObject({ total: 2, updated: 2, panelUpdated: 0, panelFailed: 0, targetAdded: 2 });
    expect((await readRow(t.app, fresh.id)).connectedSquads).toEqual([GERMANY]);
    expect(await readRow(t.app, lost!.id)).toMatchObject({ connectedSquads: [GERMANY], provisionState: 'pending' });
    await pushSubscription(t.app, lost!.id);
    expect(await panelSquads(t, lost!.id)).toEqual([GERMANY]);
  });

  it('a target that the panel does not have fails at once without changing rows', async () => {
    const t = await start();
    await inStep(t, 2);
    await aServer(t.app, '5a11ad00-0000-4000-8000-00000000dead');
    const result = await migrateSquad(t.app, actor, {
      sourceUuid: NETHERLANDS,
      targetUuid: '5a11ad00-0000-4000-8000-00000000dead',
    });
    expect(result).toMatchObject({ status: 'completed', stats: { total: 2, updated: 0, panelUpdated: 0, panelFailed: 2 } });
    expect(
      await t.app.db.sql('SELECT 1 AS moved FROM subscriptions WHERE connected_squads <> $1::jsonb', [
        JSON.stringify([NETHERLANDS]),
      ]),
    ).toEqual([]);
  });

  it('squads that the panel no longer has do not block the move', async () => {
    const t = await start();
    const stale = '5a11ad00-0000-4000-8000-00000000beef';
    const [linked] = await inStep(t, 1);
    await t.app.db.sql('UPDATE subscriptions SET connected_squads = $2::jsonb WHERE id = $1::int', [
      linked!.id,
      JSON.stringify([stale, NETHERLANDS]),
    ]);
    expect((await move(t)).stats).toMatchObject({ updated: 1, panelUpdated: 1 });
    expect((await readRow(t.app, linked!.id)).connectedSquads).toEqual([stale, GERMANY]);
    expect(await panelSquads(t, linked!.id)).toEqual([GERMANY]);
  });

  it('one user whom the panel refuses stays, the others move', async () => {
    const t = await start();
    const linked = await inStep(t, 3);
    const bad = (await readRow(t.app, linked[1]!.id)).vpnpanelUuid!;
    const app = withPort(t.app, {
      ...t.adapter,
      setSquadsOfUsers: () => Promise.reject(new PanelError('rejected', 'VPN panel: no')),
      updateUser: (patch) =>
        patch.uuid === bad ? Promise.reject(new PanelError('rejected', 'VPN panel: no')) : t.adapter.updateUser(patch),
    });
    expect((await move(t, app)).stats).toMatchObject({ total: 3, updated: 2, panelUpdated: 2, panelFailed: 1 });
    expect((await readRow(t.app, linked[1]!.id)).connectedSquads).toEqual([NETHERLANDS]);
    expect(await t.app.db.sql("SELECT error FROM squad_migration_items WHERE state = 'failed'")).toEqual([
      { error: 'VPN panel: no' },
    ]);
    // Whoever stayed is a candidate of the next run.
    expect((await move(t)).stats).toMatchObject({ total: 1, updated: 1, panelUpdated: 1, panelFailed: 0 });
  });

  it('a panel that stays down leaves all rows unchanged', async () => {
    const t = await start();
    const linked = await inStep(t, 2);
    t.panel.faults.set({ status: 500 });
    const app = withPort(t.app, {
      ...t.adapter,
      setSquadsOfUsers: async (...call) => {
        // All but the last tries, with their pauses, are passed over.
        await t.app.db.sql('UPDATE squad_migration_items SET attempts = greatest(attempts, $1::int)', [MAX_ATTEMPTS - 2]);
        return t.adapter.setSquadsOfUsers(...call);
      },
    });
    const result = await move(t, app);
    expect(result).toMatchObject({ status: 'completed', stats: { total: 2, updated: 0, panelFailed: 2 } });
    t.panel.faults.set({});
    for (const { id } of linked) {
      expect((await readRow(t.app, id)).connectedSquads).toEqual([NETHERLANDS]);
      expect(await panelSquads(t, id)).toEqual([NETHERLANDS]);
    }
  });
});

describe('spec 06 section 17, hazard 6: panel call and commit are two steps', () => {
  it('a commit that fails after the panel was updated is repeated from the stored intent', async () => {
    const t = await start();
    const [linked] = await inStep(t, 1);
    // The first save of the new squad is refused. A sequence is not rolled back, so that the second is not.
    await t.app.db.sql('CREATE SEQUENCE saves_of_squads');
    await t.app.db.sql(`CREATE FUNCTION refuse_first_save() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('saves_of_squads') = 1 THEN RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$`);
    try {
      await t.app.db.sql(
        `CREATE TRIGGER refuse_first_save BEFORE UPDATE ON subscriptions FOR EACH ROW
         WHEN (NEW.connected_squads = '["${GERMANY}"]') EXECUTE FUNCTION refuse_first_save()`,
      );
      expect(await move(t)).toMatchObject({ status: 'completed', stats: { updated: 1, panelUpdated: 1 } });
      expect(await t.app.db.sql<{ n: number }>('SELECT last_value::int AS n FROM saves_of_squads')).toEqual([{ n: 2 }]);
    } finally {
      await t.app.db.sql('DROP FUNCTION refuse_first_save CASCADE');
      await t.app.db.sql('DROP SEQUENCE saves_of_squads');
    }
    expect((await readRow(t.app, linked!.id)).connectedSquads).toEqual([GERMANY]);
    expect(await panelSquads(t, linked!.id)).toEqual([GERMANY]);
  });

  it('a push between the call and the commit, which sent the old squads, is followed by another', async () => {
    const t = await start();
    const [linked] = await inStep(t, 1);
    const app = withPort(t.app, {
      ...t.adapter,
      setSquadsOfUsers: async (uuids, squads) => {
        const changed = await t.adapter.setSquadsOfUsers(uuids, squads);
        t.clock.advance(SECOND_MS);
        await push(t.app, linked!.id);
        return changed;
      },
    });
    await move(t, app);
    expect(await panelSquads(t, linked!.id)).toEqual([NETHERLANDS]);
    expect(await readRow(t.app, linked!.id)).toMatchObject({ connectedSquads: [GERMANY], provisionState: 'pending' });
    expect(await jobsOf(t.app, 'provisioning.push')).toContainEqual({ data: { subscriptionId: linked!.id } });
    await pushSubscription(t.app, linked!.id);
    expect(await panelSquads(t, linked!.id)).toEqual([GERMANY]);
  });

  it('the first push of a user who had no panel user when the candidates were read is followed by another', async () => {
    const t = await start();
    await inStep(t, 1);
    const fresh = await aSubscription(t.app);
    await inTransaction(t.app, (inner) => requestProvisioning(inner, fresh.id));
    const app = withPort(t.app, {
      ...t.adapter,
      setSquadsOfUsers: async (uuids, squads) => {
        expect(await pushSubscription(t.app, fresh.id)).toBe('synced');
        await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.push'");
        return t.adapter.setSquadsOfUsers(uuids, squads);
      },
    });
    await move(t, app);
    expect(await panelSquads(t, fresh.id)).toEqual([NETHERLANDS]);
    expect(await readRow(t.app, fresh.id)).toMatchObject({ connectedSquads: [GERMANY], provisionState: 'pending' });
    expect(await jobsOf(t.app, 'provisioning.push')).toEqual([{ data: { subscriptionId: fresh.id } }]);
    await pushSubscription(t.app, fresh.id);
    expect(await panelSquads(t, fresh.id)).toEqual([GERMANY]);
  });

  it('calls that were executed but never answered are followed by a push of the row', async () => {
    const t = await start();
    const [linked] = await inStep(t, 1);
    const unanswered = async () => {
      // All but the last tries, with their pauses, are passed over.
      await t.app.db.sql('UPDATE squad_migration_items SET attempts = $1::int', [MAX_ATTEMPTS - 2]);
      throw new PanelError('unavailable', 'VPN panel did not answer');
    };
    const app = withPort(t.app, {
      ...t.adapter,
      setSquadsOfUsers: (...call) => t.adapter.setSquadsOfUsers(...call).then(unanswered),
      updateUser: (patch) => t.adapter.updateUser(patch).then(unanswered),
    });
    expect(await move(t, app)).toMatchObject({ status: 'completed', stats: { updated: 0, panelFailed: 1 } });
    expect(await panelSquads(t, linked!.id)).toEqual([GERMANY]);
    expect(await readRow(t.app, linked!.id)).toMatchObject({ connectedSquads: [NETHERLANDS], provisionState: 'pending' });
    expect(await jobsOf(t.app, 'provisioning.push')).toContainEqual({ data: { subscriptionId: linked!.id } });
    await pushSubscription(t.app, linked!.id);
    expect(await panelSquads(t, linked!.id)).toEqual([NETHERLANDS]);
  });

  it('a run that is given up after the panel was updated is followed by pushes', async () => {
    const t = await start();
    const [linked] = await inStep(t, 1);
    const rule = `CHECK (connected_squads <> $$["${GERMANY}"]$$::jsonb) NOT VALID`;
    await t.app.db.sql(`ALTER TABLE subscriptions ADD CONSTRAINT test_refused ${rule}`);
    onTestFinished(() => t.app.db.sql('ALTER TABLE subscriptions DROP CONSTRAINT test_refused').then(() => undefined));
    expect(await move(t)).toMatchObject({ status: 'failed', error: 'unexpected', stats: { updated: 0 } });
    expect(await panelSquads(t, linked!.id)).toEqual([GERMANY]);
    await pushSubscription(t.app, linked!.id);
    expect(await readRow(t.app, linked!.id)).toMatchObject({ connectedSquads: [NETHERLANDS], provisionVersion: 2 });
    expect(await panelSquads(t, linked!.id)).toEqual([NETHERLANDS]);
  });

  it('squads bought while the panel was updated stay', async () => {
    const t = await start();
    const [linked] = await inStep(t, 1);
    const app = withPort(t.app, {
      ...t.adapter,
      setSquadsOfUsers: async (uuids, squads) => {
        await inTransaction(t.app, async (inner) => {
          await inner.db.sql('UPDATE subscriptions SET connected_squads = $2::jsonb WHERE id = $1::int', [
            linked!.id,
            JSON.stringify([NETHERLANDS, FINLAND]),
          ]);
          await requestProvisioning(inner, linked!.id);
        });
        return t.adapter.setSquadsOfUsers(uuids, squads);
      },
    });
    await move(t, app);
    expect((await readRow(t.app, linked!.id)).connectedSquads).toEqual([FINLAND, GERMANY]);
    await pushSubscription(t.app, linked!.id);
    expect((await panelSquads(t, linked!.id)).sort()).toEqual([FINLAND, GERMANY].sort());
  });
});

describe('a run without a worker', () => {
  it('is enqueued once by the watch job, and finished by the queue', async () => {
    const t = await start();
    await inStep(t, 2);
    const asleep = new Promise<never>(() => undefined);
    void move(t, withPort(t.app, { ...t.adapter, setSquadsOfUsers: () => asleep }));
    const runs = () => t.app.db.sql<{ id: number; status: string }>('SELECT id, status FROM squad_migration_runs');
    while ((await runs()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const [{ id } = { id: 0 }] = await runs();
    await watchRuns(t.app);
    expect(await jobsOf(t.app, 'provisioning.continue')).toEqual([]);
    await t.app.db.sql("UPDATE squad_migration_runs SET lease_until = now() - interval '1 second'");
    await watchRuns(t.app);
    await watchRuns(t.app);
    expect(await jobsOf(t.app, 'provisioning.continue')).toEqual([{ data: { table: 'squad_migration_runs', runId: id } }]);
    await continueMigration(t.app, id, { untilMs: performance.now() + 600_000 });
    expect(await runs()).toEqual([{ id, status: 'completed' }]);
  });
});
