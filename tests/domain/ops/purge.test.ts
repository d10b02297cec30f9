import { createHash } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { purgeOldRows } from '../../../src/domain/ops/purge.ts';
import { aUser } from '../../support/builders.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let userId: number;
beforeAll(async () => {
  t = await testApp();
  userId = (await aUser(t.app)).id;
});

const uuidOf = (name: string) =>
  `${createHash('md5')
    .update(name)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`;

/** Table, the time after which a row is deleted, and how a row is stored whose retention begins at a time; its name tells it from others. */
const RETENTION: [table: string, days: number, label: string, store: (at: Date, name: string) => Promise<unknown>][] = [
  [
    'idempotency_keys',
    1,
    'key',
    (createdAt, key) =>
      storeRow(t.app, 'IdempotencyKey', { createdAt, key, actor: 'token:1', operation: 'op', bodyHash: 'hash' }),
  ],
  ['short_lived_entries', 0, 'key', (expiresAt, key) => storeRow(t.app, 'ShortLivedEntry', { expiresAt, key, value: 1 })],
  ['rate_limit_windows', 1, 'key', (windowStart, key) => storeRow(t.app, 'RateLimitWindow', { windowStart, key })],
  [
    'domain_events',
    7,
    'type',
    (createdAt, type) => storeRow(t.app, 'DomainEventRow', { createdAt, type, payload: {}, audience: 'staff' }),
  ],
  [
    'panel_events',
    7,
    'body_hash',
    (receivedAt, name) =>
      storeRow(t.app, 'PanelEvent', {
        receivedAt,
        happenedAt: receivedAt,
        bodyHash: name.padEnd(64, '0'),
        event: 'node.created',
      }),
  ],
  [
    'provider_callbacks',
    90,
    'event_key',
    (receivedAt, eventKey) => storeRow(t.app, 'ProviderCallback', { receivedAt, eventKey, provider: 'sandbox', body: '{}' }),
  ],
  [
    'outgoing_mails',
    7,
    'recipient',
    (createdAt, recipient) =>
      storeRow(t.app, 'OutgoingMail', { createdAt, recipient, subject: 'Subject', template: 'verification' }),
  ],
  ['button_click_logs', 400, 'button_id', (clickedAt, buttonId) => storeRow(t.app, 'ButtonClickLog', { clickedAt, buttonId })],
  [
    'promo_offer_deliveries',
    90,
    'offer_id',
    async (settledAt, notificationType) => {
      const expiresAt = new Date();
      const broadcast = await storeRow(t.app, 'PromoOfferBroadcast', {
        notificationType: 'loyalty',
        effectType: 'percent_discount',
        discountPercent: 10,
        bonusAmountKopeks: 0,
        validHours: 24,
        expiresAt,
        audienceEnd: 1,
      });
      const offer = await storeRow(t.app, 'DiscountOffer', { userId, notificationType, expiresAt });
      await storeRow(t.app, 'PromoOfferDelivery', { settledAt, broadcastId: broadcast.id, offerId: offer.id, state: 'sent' });
    },
  ],
  [
    'cabinet_refresh_tokens',
    30,
    'token_hash',
    (expiresAt, tokenHash) =>
      storeRow(t.app, 'RefreshToken', {
        expiresAt,
        tokenHash,
        createdAt: addDays(expiresAt, -1),
        userId,
        familyId: uuidOf(tokenHash),
      }),
  ],
  [
    'squad_migration_runs',
    90,
    'source_uuid',
    (finishedAt, sourceUuid) =>
      storeRow(t.app, 'SquadMigrationRun', { finishedAt, sourceUuid, targetUuid: 'target', status: 'completed' }),
  ],
  [
    'panel_sync_runs',
    90,
    'error',
    (finishedAt, error) => storeRow(t.app, 'PanelSyncRun', { finishedAt, error, kind: 'servers', status: 'failed' }),
  ],
  [
    'panel_traffic_fills',
    2,
    'key',
    (startedAt, key) => storeRow(t.app, 'PanelTrafficFill', { startedAt, key, leaseUntil: startedAt }),
  ],
  [
    'traffic_snapshots',
    30,
    'panel_uuid',
    (readAt, name) => storeRow(t.app, 'TrafficSnapshot', { readAt, panelUuid: uuidOf(name), usedBytes: 1 }),
  ],
  [
    'traffic_alarms',
    30,
    'panel_uuid',
    (notifiedAt, name) => storeRow(t.app, 'TrafficAlarm', { notifiedAt, panelUuid: uuidOf(name) }),
  ],
];

beforeEach(() => t.clock.set(new Date('2031-05-20T09:00:00Z')));

test.each(RETENTION)(
  'spec 10 G6: rows of %s are deleted after %i days, and not a minute before',
  async (table, days, label, storeAt) => {
    const store = (name: string, ageMinutes: number) =>
      storeAt(new Date(addDays(t.clock.now(), -days).getTime() - ageMinutes * 60_000), name);
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
  const expiresAt = addDays(t.clock.now(), -1);
  await storeRows(
    t.app,
    'ShortLivedEntry',
    Array.from({ length: 5_001 }, (_, n) => ({ expiresAt, key: `many-${n}`, value: 1 })),
  );
  await storeRow(t.app, 'PanelSyncRun', { kind: 'servers', startedAt: addDays(t.clock.now(), -400) });
  expect(await purgeOldRows(t.app)).toMatchObject({ short_lived_entries: 5_001, panel_sync_runs: 0 });
  await t.app.db.sql('DELETE FROM panel_sync_runs');
});
