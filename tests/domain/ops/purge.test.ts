import { beforeAll, beforeEach, expect, test } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { purgeOldRows } from '../../../src/domain/ops/purge.ts';
import { aUser } from '../../support/builders.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let userId: number;
beforeAll(async () => {
  t = await testApp();
  userId = (await aUser(t.app)).id;
});

/**
 * Table, the time after which a row is deleted, and a row whose retention begins at $1; $2 is its label, which tells it from others.
 * `{user}` is a user.
 */
const RETENTION: [table: string, days: number, label: string, row: string][] = [
  [
    'idempotency_keys',
    1,
    'key',
    "INSERT INTO idempotency_keys (created_at, key, actor, operation, body_hash) VALUES ($1, $2, 'token:1', 'op', 'hash')",
  ],
  ['short_lived_entries', 0, 'key', "INSERT INTO short_lived_entries (expires_at, key, value) VALUES ($1, $2, '1')"],
  ['rate_limit_windows', 1, 'key', 'INSERT INTO rate_limit_windows (window_start, key) VALUES ($1, $2)'],
  ['domain_events', 7, 'type', "INSERT INTO domain_events (created_at, type, payload, audience) VALUES ($1, $2, '{}', 'staff')"],
  [
    'panel_events',
    7,
    'body_hash',
    "INSERT INTO panel_events (received_at, happened_at, body_hash, event) VALUES ($1, $1, rpad($2, 64, '0'), 'node.created')",
  ],
  [
    'provider_callbacks',
    90,
    'event_key',
    "INSERT INTO provider_callbacks (received_at, event_key, provider, body) VALUES ($1, $2, 'sandbox', '{}')",
  ],
  [
    'outgoing_mails',
    7,
    'recipient',
    "INSERT INTO outgoing_mails (created_at, recipient, subject, template) VALUES ($1, $2, 'Subject', 'verification')",
  ],
  ['button_click_logs', 400, 'button_id', 'INSERT INTO button_click_logs (clicked_at, button_id) VALUES ($1, $2)'],
  [
    'promo_offer_deliveries',
    90,
    'offer_id',
    `WITH sending AS (INSERT INTO promo_offer_broadcasts
         (notification_type, effect_type, discount_percent, bonus_amount_kopeks, valid_hours, expires_at, audience_end)
         VALUES ('loyalty', 'percent_discount', 10, 0, 24, now(), 1) RETURNING id),
       offer AS (INSERT INTO discount_offers (user_id, notification_type, expires_at) VALUES ({user}, $2, now()) RETURNING id)
     INSERT INTO promo_offer_deliveries (settled_at, broadcast_id, offer_id, state)
     SELECT $1, sending.id, offer.id, 'sent' FROM sending, offer`,
  ],
  [
    'cabinet_refresh_tokens',
    30,
    'token_hash',
    `INSERT INTO cabinet_refresh_tokens (expires_at, token_hash, created_at, user_id, family_id)
     VALUES ($1, $2, $1::timestamptz - interval '1 day', {user}, gen_random_uuid())`,
  ],
  [
    'squad_migration_runs',
    90,
    'source_uuid',
    `INSERT INTO squad_migration_runs (finished_at, source_uuid, target_uuid, status) VALUES ($1, $2, 'target', 'completed')`,
  ],
  [
    'panel_sync_runs',
    90,
    'error',
    `INSERT INTO panel_sync_runs (finished_at, error, kind, status) VALUES ($1, $2, 'servers', 'failed')`,
  ],
  ['panel_traffic_fills', 2, 'key', 'INSERT INTO panel_traffic_fills (started_at, key, lease_until) VALUES ($1, $2, $1)'],
  [
    'traffic_snapshots',
    30,
    'panel_uuid',
    'INSERT INTO traffic_snapshots (read_at, panel_uuid, used_bytes) VALUES ($1, md5($2)::uuid, 1)',
  ],
  ['traffic_alarms', 30, 'panel_uuid', 'INSERT INTO traffic_alarms (notified_at, panel_uuid) VALUES ($1, md5($2)::uuid)'],
];

beforeEach(() => t.clock.set(new Date('2031-05-20T09:00:00Z')));

test.each(RETENTION)(
  'spec 10 G6: rows of %s are deleted after %i days, and not a minute before',
  async (table, days, label, row) => {
    const store = (name: string, ageMinutes: number) => {
      const at = new Date(addDays(t.clock.now(), -days).getTime() - ageMinutes * 60_000);
      return t.app.db.sql(
        `${row.replace('{user}', String(userId)).replaceAll('$1', '$1::timestamptz').replaceAll('$2', '$2::text')} RETURNING 1`,
        [at, name],
      );
    };
    await t.app.db.sql(`DELETE FROM ${table}`);
    await store('young', -1);
    const [{ name } = { name: '' }] = await t.app.db.sql<{ name: string }>(`SELECT ${label}::text AS name FROM ${table}`);
    await store('old', 1);
    expect((await purgeOldRows(t.app))[table]).toBe(1);
    expect(await t.app.db.sql(`SELECT ${label}::text AS name FROM ${table}`)).toEqual([{ name }]);
    await t.app.db.sql(`DELETE FROM ${table}`);
  },
);

test('spec 10 G6: no table is left out of this file', async () => {
  expect(Object.keys(await purgeOldRows(t.app)).sort()).toEqual(RETENTION.map(([table]) => table).sort());
});

test('spec 10 G6: more rows than one batch are deleted in one round, and what has not ended has no age', async () => {
  await t.app.db.sql(
    `INSERT INTO short_lived_entries (expires_at, key, value) SELECT $1::timestamptz, 'many-' || n, '1' FROM generate_series(1, 5001) n`,
    [addDays(t.clock.now(), -1)],
  );
  await t.app.db.sql("INSERT INTO panel_sync_runs (kind, started_at) VALUES ('servers', $1::timestamptz)", [
    addDays(t.clock.now(), -400),
  ]);
  expect(await purgeOldRows(t.app)).toMatchObject({ short_lived_entries: 5_001, panel_sync_runs: 0 });
  await t.app.db.sql('DELETE FROM panel_sync_runs');
});
