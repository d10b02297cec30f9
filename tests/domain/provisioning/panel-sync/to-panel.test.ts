import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { App } from '../../../../src/core/app.ts';
import { addDays, SECOND_MS } from '../../../../src/core/clock.ts';
import {
  PanelError,
  type PanelUser,
  type PanelUserStatus,
  type VpnPanelPort,
} from '../../../../src/domain/provisioning/ports.ts';
import { loadPushTarget } from '../../../../src/domain/provisioning/repo.ts';
import { syncSquadsOfTariff } from '../../../../src/domain/provisioning/squads/sync-squads-of-tariff.ts';
import { differenceFrom } from '../../../../src/domain/provisioning/sync/push-all.ts';
import { recommendSync } from '../../../../src/domain/provisioning/sync/recommend.ts';
import { findLatest } from '../../../../src/domain/provisioning/sync/run-repo.ts';
import { continueSync } from '../../../../src/domain/provisioning/sync/run-sync.ts';
import { beginSync } from '../../../../src/domain/provisioning/sync/start-sync.ts';
import {
  aSubscription,
  GERMANY,
  NETHERLANDS,
  PARTNERS,
  type ProvisioningTest,
  readRow,
  withPort,
} from '../../../support/provisioning-setup.ts';
import { storeRow } from '../../../support/stored-rows.ts';
import { actor, inStep, run, startEmpty } from './setup.ts';

const LIMITS = { untilMs: Number.POSITIVE_INFINITY };
const UNKNOWN_SQUAD = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';

describe('08 P2: in step is what has the same effect', () => {
  const known = { internal: new Set([NETHERLANDS, GERMANY]), external: new Set([PARTNERS]) };

  async function pushed(t: ProvisioningTest, status: string, days: number, squads: readonly string[] = [NETHERLANDS]) {
    const [made] = await inStep(t, 1);
    const { vpnpanelUuid } = await readRow(t.app, made!.id);
    await t.app.db.sql(
      'UPDATE subscriptions SET status = $2, end_date = $3::timestamptz, connected_squads = $4::jsonb WHERE id = $1::int',
      [made!.id, status, addDays(t.clock.now(), days), JSON.stringify(squads)],
    );
    const target = (await loadPushTarget(t.app.db, made!.id))!;
    const present = (await t.adapter.findByUuid(vpnpanelUuid!))!;
    return (changes: Partial<PanelUser>) =>
      differenceFrom(t.app, target, { ...present, expireAt: target.endDate, ...changes }, known);
  }

  it.each([
    ['active', 30, { ACTIVE: 'none', LIMITED: 'none', EXPIRED: 'other', DISABLED: 'other' }],
    ['limited', 30, { ACTIVE: 'none', LIMITED: 'none', EXPIRED: 'other', DISABLED: 'other' }],
    ['expired', -3, { ACTIVE: 'other', LIMITED: 'other', EXPIRED: 'none', DISABLED: 'none' }],
    ['active', -3, { ACTIVE: 'other', LIMITED: 'other', EXPIRED: 'none', DISABLED: 'none' }],
    ['disabled', 30, { ACTIVE: 'other', LIMITED: 'other', EXPIRED: 'none', DISABLED: 'none' }],
  ] as const)('a subscription %s to day %i against all states of the panel', async (status, days, expected) => {
    const compare = await pushed(await startEmpty(), status, days);
    for (const [state, difference] of Object.entries(expected)) {
      expect(compare({ status: state as PanelUserStatus }), state).toBe(difference);
    }
  });

  it('another end is a difference while there is access', async () => {
    const running = await pushed(await startEmpty(), 'active', 30);
    expect(running({ expireAt: addDays(new Date(), 29) })).toBe('other');
  });

  it('another end is none when there is no access', async () => {
    const over = await pushed(await startEmpty(), 'expired', -3);
    expect(over({ status: 'EXPIRED', expireAt: addDays(new Date(), -40) })).toBe('none');
  });

  it('squads alone are a difference of their kind', async () => {
    const running = await pushed(await startEmpty(), 'active', 30);
    const squads = [{ uuid: GERMANY, name: 'Germany' }];
    expect(running({ squads })).toBe('squads');
    expect(running({ squads, trafficLimitBytes: 5 })).toBe('other');
  });

  it.each([
    ['beside one that it has', [NETHERLANDS, UNKNOWN_SQUAD], 'none'],
    ['alone', [UNKNOWN_SQUAD], 'none'],
    ['beside another one that it has', [GERMANY, UNKNOWN_SQUAD], 'squads'],
  ])('a squad that the panel does not have, %s, is left out of the comparison', async (_where, squads, difference) => {
    const running = await pushed(await startEmpty(), 'active', 30, squads);
    expect(running({})).toBe(difference);
  });

  it('a run leaves users alone that the panel keeps EXPIRED, and a second run changes 0', async () => {
    const t = await startEmpty();
    const [over, live] = await inStep(t, 2);
    const end = addDays(t.clock.now(), -1);
    await t.app.db.sql("UPDATE subscriptions SET status = 'expired', end_date = $2::timestamptz WHERE id = $1::int", [
      over!.id,
      end,
    ]);
    const { vpnpanelUuid } = await readRow(t.app, over!.id);
    const asPanelHasThem = (user: PanelUser): PanelUser =>
      user.uuid === vpnpanelUuid ? { ...user, status: 'EXPIRED', expireAt: end } : user;
    const listUsers: VpnPanelPort['listUsers'] = async (page) => {
      const { users, total } = await t.adapter.listUsers(page);
      return { users: users.map(asPanelHasThem), total };
    };
    const app = withPort(t.app, { ...t.adapter, listUsers });
    for (const attempt of [1, 2]) {
      expect((await run(app, 'to_panel')).counts, `run ${attempt}`).toMatchObject({
        created: 0,
        updated: 0,
        errors: 0,
        checked: 2,
      });
      t.clock.advance(SECOND_MS);
    }
    expect(await readRow(t.app, live!.id)).toMatchObject({ status: 'active' });
  });

  it('an external squad that the panel no longer has is not sent again and again', async () => {
    const t = await startEmpty();
    const tariff = await storeRow(t.app, 'Tariff', {
      name: 'Stale',
      trafficLimitGb: 100,
      deviceLimit: 2,
      externalSquadUuid: UNKNOWN_SQUAD,
    });
    await aSubscription(t.app, { tariffId: tariff.id });
    expect((await run(t.app, 'to_panel')).counts).toMatchObject({ created: 1, errors: 0 });
    t.clock.advance(SECOND_MS);
    expect((await run(t.app, 'to_panel')).counts).toMatchObject({ created: 0, updated: 0, errors: 0 });
  });
});

/** Counts the calls about single users that are under way; each waits until as many are, then all go on. */
function countingPanel(t: ProvisioningTest, expected: number) {
  const seen = { underWay: 0, most: 0 };
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const counted =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      seen.underWay += 1;
      seen.most = Math.max(seen.most, seen.underWay);
      if (seen.underWay >= expected) resolve();
      try {
        await reached;
        // So that the next call begins before this one ends wherever it may.
        await nextTurn();
        return await call(...args);
      } finally {
        seen.underWay -= 1;
      }
    };
  const { findByUuid, findByMessengerId, createUser, updateUser } = t.adapter;
  const app = withPort(t.app, {
    ...t.adapter,
    findByUuid: counted(findByUuid),
    findByMessengerId: counted(findByMessengerId),
    createUser: counted(createUser),
    updateUser: counted(updateUser),
  });
  return { app, seen };
}

describe('08 P13: runs are parallel and bounded', () => {
  it.each([
    [8, {}],
    [3, { VPNPANEL_CONCURRENCY: '3' }],
  ])('%i users at the same time, neither fewer nor more', async (expected, environment) => {
    const t = await startEmpty({ environment: { ...environment, LOG_LEVEL: 'silent' } });
    for (let n = 0; n < 20; n++) await aSubscription(t.app);
    const { app, seen } = countingPanel(t, expected);
    expect((await run(app, 'to_panel')).counts).toMatchObject({ created: 20, errors: 0 });
    expect(seen.most).toBe(expected);
  });

  it('a panel without users is not asked for anybody', async () => {
    const t = await startEmpty();
    for (let n = 0; n < 5; n++) await aSubscription(t.app);
    const before = t.panel.calls().length;
    expect((await run(t.app, 'to_panel')).counts).toMatchObject({ created: 5, errors: 0 });
    const calls = t.panel.calls().slice(before);
    expect(calls.filter(({ path }) => /by-telegram-id|by-email|resolve|by-username/.test(path))).toEqual([]);
    expect(calls.filter(({ method, path }) => method === 'POST' && path === '/api/users')).toHaveLength(5);
  });

  it('the squads of a tariff likewise', async () => {
    const t = await startEmpty();
    const tariff = await storeRow(t.app, 'Tariff', { name: 'Wide', allowedSquads: [GERMANY] });
    await inStep(t, 12, { tariffId: tariff.id });
    const { app, seen } = countingPanel(t, 8);
    expect(await syncSquadsOfTariff(app, tariff.id)).toMatchObject({ updatedCount: 12, failedCount: 0 });
    expect(seen.most).toBe(8);
  });

  const squadCalls = (t: ProvisioningTest, from: number) =>
    t.panel
      .calls()
      .slice(from)
      .filter((call) => call.method !== 'GET');

  it('users of whom only the squads differ go in one call, and a row that changed meanwhile gets a push', async () => {
    const t = await startEmpty();
    const made = await inStep(t, 6);
    await t.app.db.sql('UPDATE subscriptions SET connected_squads = $1::jsonb', [JSON.stringify([GERMANY])]);
    const before = t.panel.calls().length;
    const setSquadsOfUsers: VpnPanelPort['setSquadsOfUsers'] = async (...args) => {
      const affected = await t.adapter.setSquadsOfUsers(...args);
      await t.app.db.sql('UPDATE subscriptions SET connected_squads = $2::jsonb WHERE id = $1::int', [
        made[0]!.id,
        JSON.stringify([NETHERLANDS]),
      ]);
      return affected;
    };
    expect((await run(withPort(t.app, { ...t.adapter, setSquadsOfUsers }), 'to_panel')).counts).toMatchObject({
      updated: 6,
      errors: 0,
    });
    expect(squadCalls(t, before)).toHaveLength(1);
    for (const { id } of made) {
      const { vpnpanelUuid } = await readRow(t.app, id);
      expect((await t.adapter.findByUuid(vpnpanelUuid!))!.squads.map((squad) => squad.uuid)).toEqual([GERMANY]);
    }
    expect((await readRow(t.app, made[0]!.id)).provisionState).toBe('pending');
    expect((await readRow(t.app, made[1]!.id)).provisionState).toBe('synced');
  });

  it('where the panel has no bulk call, or reports fewer users, they are pushed one by one', async () => {
    for (const setSquadsOfUsers of [
      async () => 5,
      () => Promise.reject(new PanelError('unavailable', 'VPN panel answered with status 404', { status: 404 })),
    ] as const) {
      const t = await startEmpty();
      const made = await inStep(t, 6);
      await t.app.db.sql('UPDATE subscriptions SET connected_squads = $1::jsonb', [JSON.stringify([GERMANY])]);
      const result = await run(withPort(t.app, { ...t.adapter, setSquadsOfUsers }), 'to_panel');
      expect(result.counts).toMatchObject({ updated: 6, errors: 0 });
      for (const { id } of made) {
        const { vpnpanelUuid } = await readRow(t.app, id);
        expect((await t.adapter.findByUuid(vpnpanelUuid!))!.squads.map((squad) => squad.uuid)).toEqual([GERMANY]);
      }
    }
  });

  it('a killed worker is replaced by another, which shows the progress and sends nobody twice', async () => {
    const t = await startEmpty();
    for (let n = 0; n < 12; n++) await aSubscription(t.app);
    const { promise: never } = Promise.withResolvers<never>();
    const { promise: isStuck, resolve: stuck } = Promise.withResolvers<void>();
    let creations = 0;
    const killed: App = withPort(t.app, {
      ...t.adapter,
      createUser: (draft) => {
        creations += 1;
        if (creations <= 5) return t.adapter.createUser(draft);
        if (creations === 12) stuck();
        return never;
      },
    });
    void beginSync(killed, actor, { kind: 'to_panel' });
    await isStuck;
    const { id } = (await findLatest(t.app.db, 'to_panel'))!;
    expect((await recommendSync(t.app)).running).toMatchObject([{ id, kind: 'to_panel', status: 'running' }]);
    // Longer than every lease of the killed one.
    await t.app.db.sql("UPDATE panel_sync_runs SET lease_until = now() - interval '1 second'");
    await t.app.db.sql(
      "UPDATE subscriptions SET provision_lease_until = now() - interval '1 second' WHERE provision_lease_until IS NOT NULL",
    );
    await continueSync(t.app, id, LIMITS);
    expect(await findLatest(t.app.db, 'to_panel')).toMatchObject({ status: 'completed', counts: { checked: 12, errors: 0 } });
    expect(t.panel.listUsers()).toHaveLength(12);
  });

  it('the progress of a phase is stored with each batch', async () => {
    const t = await startEmpty();
    for (let n = 0; n < 205; n++) await aSubscription(t.app, { status: 'expired', days: -2 });
    await beginSync(t.app, actor, { kind: 'to_panel' }, 0);
    const seen: unknown[] = [];
    for (;;) {
      const current = (await findLatest(t.app.db, 'to_panel'))!;
      if (current.status !== 'running') break;
      seen.push(current.cursor.progress ?? null);
      await continueSync(t.app, current.id, { untilMs: 0 });
    }
    expect(seen).toContainEqual({ done: 200, total: 205 });
    expect(seen).toContainEqual({ done: 205, total: 205 });
  });
});
