/** Squad migration and synchronisation with a panel of 20 000 users (10 000 in `npm test`): paged, resumable, idempotent, converging under faults. */

import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMemoryStore } from '../../packages/sandbox/src/panel/panel-state.ts';
import { type SandboxPanel, startSandboxPanel } from '../../packages/sandbox/src/panel/sandbox-panel.ts';
import type { App } from '../../src/core/app.ts';
import { addDays, SECOND_MS } from '../../src/core/clock.ts';
import { continueMigration, migrateSquad } from '../../src/domain/provisioning/migration/migrate-squad.ts';
import { findRun as findMigration } from '../../src/domain/provisioning/migration/repo.ts';
import type { MigrationRun } from '../../src/domain/provisioning/migration/types.ts';
import type { VpnPanelPort } from '../../src/domain/provisioning/ports.ts';
import { findLatest } from '../../src/domain/provisioning/sync/run-repo.ts';
import { continueSync } from '../../src/domain/provisioning/sync/run-sync.ts';
import { startSync } from '../../src/domain/provisioning/sync/start-sync.ts';
import type { SyncKind, SyncMode, SyncRun } from '../../src/domain/provisioning/sync/types.ts';
import { createVpnPanelAdapter } from '../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import { usersOf } from '../domain/provisioning/panel-sync/setup.ts';
import { amountOf } from '../support/matrix-sample.ts';
import { connectionTo } from '../support/panel-setup.ts';
import { createPlainHttpClient } from '../support/plain-http-client.ts';
import { storeRows } from '../support/stored-rows.ts';
import { TestClock, testApp } from '../support/test-app.ts';
import { freshDatabase, prepareTemplate, serverUrl, type TestDatabase } from '../support/test-database.ts';

const USERS = amountOf(20_000, 10_000);
const PAGE = 500;
const NETHERLANDS = '5a11ad00-0000-4000-8000-000000000001';
const GERMANY = '5a11ad00-0000-4000-8000-000000000002';
const GB = 1024 ** 3;
const actor = { kind: 'system', name: 'test' } as const;

const uuidOf = (n: number) => `11111111-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** A call that hangs until it is woken: a worker that is as good as dead. */
function aSleep(): { asleep: Promise<void>; wake: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { asleep: promise, wake: resolve };
}

/** Users of the panel as it stores them, in step with `seedAccounts`. */
function panelUsers(end: Date, count: number) {
  const timestamp = '2026-03-01T12:00:00.000Z';
  return Array.from({ length: count }, (_unused, index) => ({
    id: index + 1,
    uuid: uuidOf(index + 1),
    shortUuid: `short${index + 1}`,
    username: `user_${8_000_000_000 + index + 1}`,
    status: 'ACTIVE',
    trafficLimitBytes: 100 * GB,
    trafficLimitStrategy: 'MONTH',
    expireAt: end.toISOString(),
    telegramId: 8_000_000_000 + index + 1,
    email: null,
    description: `Bot user: User ${index + 1} @name${index + 1}`,
    tag: null,
    hwidDeviceLimit: 2,
    externalSquadUuid: null,
    trojanPassword: 'trojan-password',
    vlessUuid: uuidOf(index + 1),
    ssPassword: 'shadow-password',
    subRevokedAt: null,
    lastTrafficResetAt: null,
    createdAt: timestamp,
    updatedAt: timestamp,
    usedTrafficBytes: 0,
    lifetimeUsedTrafficBytes: 0,
    onlineAt: null,
    firstConnectedAt: null,
    squadUuids: [NETHERLANDS],
    devices: [],
  }));
}

async function startPanelOf(clock: TestClock, end: Date): Promise<SandboxPanel> {
  const store = createMemoryStore();
  const empty = await startSandboxPanel({ state: store, clock });
  await empty.close();
  const meta = (await store.load('panel/meta')) as { shards: number[] };
  await store.save('panel/meta', { ...meta, shards: Array.from({ length: 64 }, (_unused, shard) => shard) });
  const users = panelUsers(end, USERS);
  for (let shard = 0; shard < 64; shard++) {
    await store.save(
      `panel/users/${shard}`,
      users.filter((user) => user.id % 64 === shard),
    );
  }
  return startSandboxPanel({ state: store, clock });
}

/** As many accounts, whose panel users are up to date; each has paid for its server. */
async function seedAccounts(app: App, panelUrl: string, end: Date): Promise<void> {
  await storeRows(app, 'ServerSquad', [
    { squadUuid: NETHERLANDS, displayName: 'NL' },
    { squadUuid: GERMANY, displayName: 'DE' },
  ]);
  for (let start = 1; start <= USERS; start += 2_000) {
    // Raw SQL: three tables, thousands of rows in one statement.
    await app.db.sql(
      `WITH made AS (
         INSERT INTO users (messenger_id, first_name, last_name, username, referral_code, promo_group_id, vpnpanel_uuid)
         SELECT 8000000000 + n, 'User', n::text, 'name' || n, 'many' || n, (SELECT id FROM promo_groups WHERE is_default),
           ('11111111-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid
         FROM generate_series($1::int, $1::int + 1999) n RETURNING id, messenger_id),
       linked AS (
         INSERT INTO subscriptions (user_id, status, is_trial, start_date, end_date, traffic_limit_gb, device_limit, connected_squads,
           vpnpanel_short_uuid, subscription_url, provision_state, created_at, updated_at)
         SELECT id, 'active', false, $2::timestamptz, $3::timestamptz, 100, 2, $4::jsonb, 'short' || (messenger_id - 8000000000),
           $5::text || '/sub/short' || (messenger_id - 8000000000), 'synced', $2::timestamptz, $2::timestamptz
         FROM made ORDER BY id RETURNING id)
       INSERT INTO subscription_servers (subscription_id, server_squad_id, paid_price_kopeks)
       SELECT id, (SELECT id FROM server_squads WHERE squad_uuid = $6), 700 FROM linked RETURNING id`,
      [start, addDays(app.clock.now(), -1), end, JSON.stringify([NETHERLANDS]), panelUrl, NETHERLANDS],
    );
  }
}

// Two instances need a server; the embedded database has one.
describe.skipIf(!serverUrl)('a panel of 20 000 users (skipped without a server: TEST_DATABASE_URL)', { shuffle: false }, () => {
  const clock = new TestClock();
  let database: TestDatabase;
  let panel: SandboxPanel;
  let first: App;
  let second: App;
  const times: Record<string, string> = {};

  const adapter = (retries = 0): VpnPanelPort =>
    createVpnPanelAdapter({
      http: createPlainHttpClient({ retries }),
      connection: () => connectionTo(panel),
    });
  const withPanel = (app: App, port: VpnPanelPort): App => ({ ...app, ports: { ...app.ports, panel: port } });

  beforeAll(async () => {
    await prepareTemplate();
    database = await freshDatabase();
    const end = addDays(clock.now(), 30);
    panel = await startPanelOf(clock, end);
    const environment = { DEFAULT_TRAFFIC_RESET_STRATEGY: 'MONTH' };
    // Two instances on one database.
    first = withPanel((await testApp({ database, clock, environment })).app, adapter());
    second = withPanel((await testApp({ database, clock, environment })).app, adapter());
    await seedAccounts(first, panel.url, end);
    clock.advance(SECOND_MS);
  });
  afterAll(async () => {
    console.log(JSON.stringify(times, null, 2));
    await panel?.close();
    await database?.drop();
  });

  /** Every row that a synchronisation could change. */
  const digest = async () => {
    const rows = await first.db.sql(
      `SELECT (SELECT md5(string_agg(s::text, '|' ORDER BY s.id)) FROM subscriptions s) AS subscriptions,
         (SELECT md5(string_agg(u::text, '|' ORDER BY u.id)) FROM users u) AS users,
         (SELECT md5(string_agg(l::text, '|' ORDER BY l.id)) FROM subscription_servers l) AS links,
         (SELECT md5(string_agg(q::text, '|' ORDER BY q.id)) FROM server_squads q) AS servers`,
    );
    return rows[0];
  };
  const membersOf = (name: string) => panel.listSquads().find((squad) => squad.name === name)!.membersCount;
  const countOf = async (condition: string) =>
    (await first.db.sql<{ n: number }>(`SELECT count(*)::int AS n FROM subscriptions WHERE ${condition}`))[0]!.n;

  async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const result = await work();
    times[name] = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
    return result;
  }

  /** Starts, and goes on with, a run as the request and then the queue would, until it is over. */
  async function sync(app: App, kind: SyncKind, mode?: SyncMode): Promise<SyncRun> {
    let run = await startSync(app, actor, { kind, ...(mode ? { mode } : {}) });
    while (run.status === 'running') {
      await continueSync(app, run.id, { untilMs: performance.now() + 600_000 });
      run = (await findLatest(app.db, kind))!;
    }
    return run;
  }

  async function finishMigration(app: App, id: number): Promise<MigrationRun> {
    for (;;) {
      const run = (await findMigration(app.db, id))!;
      if (run.status !== 'running') return run;
      await continueMigration(app, id, { untilMs: performance.now() + 600_000 });
    }
  }

  const change = (from: number, to: number) =>
    Promise.all(
      Array.from({ length: 20 }, async (_unused, lane) => {
        for (let n = from + lane; n <= to; n += 20) await adapter().updateUser({ uuid: uuidOf(n), trafficLimitBytes: 70 * GB });
      }),
    );

  test('in step already: a run in either direction reads each page once and changes nothing', async () => {
    const before = await digest();
    const callsBefore = panel.calls().length;
    const down = await timed('from the panel, nothing to do', () => sync(first, 'from_panel', 'all'));
    expect(down).toMatchObject({
      status: 'completed',
      counts: { created: 0, updated: 0, deleted: 0, errors: 0, listed: USERS },
      cursor: { isComplete: true },
    });
    expect(panel.calls().length - callsBefore).toBe(USERS / PAGE);
    const up = await timed('to the panel, nothing to do', () => sync(first, 'to_panel'));
    expect(up.counts).toMatchObject({ created: 0, updated: 0, errors: 0, checked: USERS });
    expect(panel.calls().every((call) => call.method === 'GET')).toBe(true);
    expect(await digest()).toEqual(before);
  });

  test('from the panel while every third call fails: 2 000 changes arrive, a second run changes nothing', async () => {
    await change(1, 2_000);
    clock.advance(SECOND_MS);
    panel.faults.set({ failEvery: 3, status: 500 });
    const result = await timed('from the panel, 2 000 changed, every third call fails', () => sync(first, 'from_panel', 'all'));
    panel.faults.set({});
    expect(result).toMatchObject({ status: 'completed', counts: { created: 0, updated: 2_000, errors: 0, listed: USERS } });
    expect(await countOf('traffic_limit_gb = 70')).toBe(2_000);
    const before = await digest();
    expect((await sync(first, 'from_panel', 'all')).counts).toMatchObject({ created: 0, updated: 0, deleted: 0 });
    expect(await digest()).toEqual(before);
  });

  test('to the panel while every third call fails: changes and 20 lost users arrive, a second run sends nothing', async () => {
    await first.db.sql('UPDATE subscriptions SET device_limit = 4 WHERE id % 200 = 0 RETURNING id');
    const changed = await countOf('device_limit = 4');
    for (let n = 1; n <= 20; n++) await adapter().deleteUser(uuidOf(USERS - n * 200 + 1));
    clock.advance(SECOND_MS);
    panel.faults.set({ failEvery: 3, status: 500 });
    const result = await timed('to the panel, some changed or lost, every third call fails', () => sync(first, 'to_panel'));
    panel.faults.set({});
    expect(result.status).toBe('completed');
    // What failed five times was queued; the reconciler retries it.
    expect(result.counts.created + result.counts.updated + result.counts.errors).toBe(changed + 20);
    expect(await countOf("provision_state <> 'synced' AND provision_requested_at IS NOT NULL")).toBe(result.counts.errors);
    clock.advance(SECOND_MS);
    const rest = await sync(first, 'to_panel');
    expect(rest.counts).toMatchObject({ errors: 0 });
    expect(rest.counts.created + rest.counts.updated).toBe(result.counts.errors);
    expect((await adapter().listUsers({ start: 0, size: 1 })).total).toBe(USERS);
    expect(await countOf("provision_state <> 'synced'")).toBe(0);
    clock.advance(SECOND_MS);
    const before = await digest();
    expect((await sync(first, 'to_panel')).counts).toMatchObject({ created: 0, updated: 0, errors: 0, checked: USERS });
    expect(await digest()).toEqual(before);
  });

  test('a worker that is suspended while it reads: another continues where it stopped, and the first, when resumed, writes nothing', async () => {
    await change(2_001, 3_000);
    clock.advance(SECOND_MS);
    let pages = 0;
    const { asleep, wake } = aSleep();
    const port = adapter();
    const dying = withPanel(first, {
      ...port,
      listUsers: async (page) => {
        pages += 1;
        if (pages > 15) await asleep;
        return port.listUsers(page);
      },
    });
    const dead = sync(dying, 'from_panel', 'all');
    while (pages <= 15) await wait(20);
    const linked = (await findLatest(second.db, 'from_panel'))!;
    expect(linked).toMatchObject({ status: 'running', cursor: { start: 7_500 } });
    // While the lease is live, a second start is refused, and the queue does nothing.
    await expect(startSync(second, actor, { kind: 'from_panel', mode: 'all' })).rejects.toMatchObject({ status: 409 });
    await continueSync(second, linked.id, { untilMs: performance.now() + 600_000 });
    expect((await findLatest(second.db, 'from_panel'))!.cursor.start).toBe(7_500);
    await second.db.sql("UPDATE panel_sync_runs SET lease_until = now() - interval '1 second' WHERE id = $1::int RETURNING id", [
      linked.id,
    ]);
    let pagesAfter = 0;
    const counting = withPanel(second, {
      ...port,
      listUsers: (page) => {
        pagesAfter += 1;
        return port.listUsers(page);
      },
    });
    await timed('from the panel, resumed', () => continueSync(counting, linked.id, { untilMs: performance.now() + 600_000 }));
    expect(await findLatest(second.db, 'from_panel')).toMatchObject({
      status: 'completed',
      counts: { updated: 1_000, errors: 0, listed: USERS },
    });
    // Not from the beginning: without the first 15 pages.
    expect(pagesAfter).toBe(USERS / PAGE - 15);
    const before = await digest();
    wake();
    await dead;
    expect(await digest()).toEqual(before);
    expect(await first.db.sql('SELECT 1 AS left_over FROM panel_sync_users')).toEqual([]);
  });

  test('squad migration while every third call fails, killed in the middle and finished by another instance', async () => {
    let calls = 0;
    const { asleep, wake } = aSleep();
    const port = adapter();
    const dying = withPanel(first, {
      ...port,
      setSquadsOfUsers: async (uuids, squads) => {
        calls += 1;
        if (calls > 5) await asleep;
        return port.setSquadsOfUsers(uuids, squads);
      },
    });
    panel.faults.set({ failEvery: 3, status: 500 });
    const startedAt = performance.now();
    const dead = migrateSquad(dying, actor, { sourceUuid: NETHERLANDS, targetUuid: GERMANY }).then(({ id }) =>
      finishMigration(dying, id),
    );
    while (calls <= 5) await wait(20);
    const [{ id } = { id: 0 }] = await second.db.sql<{ id: number }>('SELECT id FROM squad_migration_runs');
    const half = (await findMigration(second.db, id))!;
    expect(half.status).toBe('running');
    expect(half.stats.updated).toBeGreaterThan(0);
    expect(half.stats.updated).toBeLessThan(USERS);
    expect(await countOf(`connected_squads = '["${GERMANY}"]'`)).toBe(half.stats.updated);
    await expect(migrateSquad(second, actor, { sourceUuid: NETHERLANDS, targetUuid: GERMANY })).rejects.toMatchObject({
      status: 409,
    });
    await second.db.sql(
      "UPDATE squad_migration_runs SET lease_until = now() - interval '1 second' WHERE id = $1::int RETURNING id",
      [id],
    );
    const done = await finishMigration(second, id);
    times['squad migration, killed and resumed, every third call fails'] =
      `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
    panel.faults.set({});
    expect(done).toMatchObject({
      status: 'completed',
      error: null,
      stats: {
        total: USERS,
        updated: USERS,
        panelUpdated: USERS,
        panelFailed: 0,
        sourceRemoved: USERS,
        targetAdded: USERS,
      },
    });
    const settled = await digest();
    wake();
    await dead;
    expect(await digest()).toEqual(settled);
    expect([membersOf('Netherlands'), membersOf('Germany')]).toEqual([0, USERS]);
    expect(await countOf(`connected_squads = '["${GERMANY}"]'`)).toBe(USERS);
    expect(await usersOf(first, NETHERLANDS, GERMANY)).toEqual([0, USERS]);
    // What was paid for the server moved with its link.
    const [links] = await first.db.sql(
      'SELECT count(*)::int AS links, sum(paid_price_kopeks)::int AS paid, min(server_squad_id) = max(server_squad_id) AS "isOne" FROM subscription_servers',
    );
    expect(links).toEqual({ links: USERS, paid: USERS * 700, isOne: true });
    const again = await migrateSquad(second, actor, { sourceUuid: NETHERLANDS, targetUuid: GERMANY });
    expect(again).toMatchObject({ status: 'completed', stats: { total: 0, updated: 0, panelUpdated: 0 } });
    expect(await digest()).toEqual(settled);
  });

  test('and back, without a conflict', async () => {
    const done = await timed('squad migration', () =>
      migrateSquad(first, actor, { sourceUuid: GERMANY, targetUuid: NETHERLANDS }),
    );
    expect(done).toMatchObject({ stats: { total: USERS } });
    expect((await finishMigration(first, done.id)).stats).toMatchObject({ updated: USERS, panelUpdated: USERS, panelFailed: 0 });
    expect([membersOf('Netherlands'), membersOf('Germany')]).toEqual([USERS, 0]);
  });
});
