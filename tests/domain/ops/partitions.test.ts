/** Partitions of the tables that only grow (spec 08 S9). On a database of their own: other tests count on one partition in use. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CommandCall } from '../../../src/cli/command.ts';
import { exportPartitionCommand, listPartitionsCommand } from '../../../src/cli/partition-commands.ts';
import { addDays } from '../../../src/core/clock.ts';
import { runLedgerCheck } from '../../../src/domain/ledger/check-ledger.ts';
import { listPartitions, maintainPartitions } from '../../../src/domain/ops/partitions.ts';
import { purgeOldRows } from '../../../src/domain/ops/purge.ts';
import { aMovement } from '../../support/ledger-check.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { freshDatabase, type TestDatabase } from '../../support/test-database.ts';

let database: TestDatabase;
let t: TestApp;
let folder: string;
beforeAll(async () => {
  database = await freshDatabase();
  t = await testApp({ database });
  folder = await mkdtemp(join(tmpdir(), 'partitions-'));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

const partitionsOf = async (table: string) =>
  (await listPartitions(t.app.db)).filter((one) => one.table === table).map(({ name, start, end }) => [name, start, end]);
const nextId = (table: string, id: number) =>
  t.app.db.sql('SELECT setval($1::regclass, $2::bigint, false)::text AS id', [`${table}_id_seq`, id]);
const rowsIn = async (partition: string) => {
  const [found] = await t.app.db.sql<{ rows: number }>(`SELECT count(*)::int AS rows FROM partitions.${partition}`);
  return found!.rows;
};

test('the next partition is made before the last one is needed, also where rows of other tables refer to it', async () => {
  const { id: webhookId } = await storeRow(t.app, 'Webhook', {
    name: 'x',
    url: 'https://example.com/',
    eventType: 'user.created',
  });
  const { id } = await storeRow(t.app, 'WebhookDelivery', { webhookId, eventType: 'user.created', payload: {} });
  await storeRow(t.app, 'WebhookAttempt', { deliveryId: id, attemptNumber: 1, durationMs: 5 });
  await nextId('webhook_deliveries', 9_999_999);
  const makeDelivery = () => storeRow(t.app, 'WebhookDelivery', { webhookId, eventType: 'user.created', payload: {} });
  await makeDelivery();
  expect((await maintainPartitions(t.app))!.made).not.toContain('webhook_deliveries_40000000');
  await makeDelivery();
  expect((await maintainPartitions(t.app))!.made).toContain('webhook_deliveries_40000000');
  expect((await maintainPartitions(t.app))!.made).toEqual([]);
  expect(await partitionsOf('webhook_deliveries')).toEqual([
    ['webhook_deliveries_1', null, 20_000_000],
    ['webhook_deliveries_20000000', 20_000_000, 40_000_000],
    ['webhook_deliveries_40000000', 40_000_000, null],
  ]);
  // As after a restore: a partition whose rows others refer to stays the last one.
  await nextId('webhook_deliveries', 50_000_000);
  const { id: late } = await makeDelivery();
  await storeRow(t.app, 'WebhookAttempt', { deliveryId: late, attemptNumber: 1, durationMs: 5 });
  expect((await maintainPartitions(t.app))!.made).toEqual([]);
});

test('entries of one movement may be in two partitions, and the ledger adds up', async () => {
  const before = await rowsIn('ledger_entries_1');
  await nextId('ledger_entries', 19_999_999);
  await aMovement(t.app);
  expect([await rowsIn('ledger_entries_1'), await rowsIn('ledger_entries_20000000')]).toEqual([before + 1, 1]);
  expect((await runLedgerCheck(t.app, { onFullStep: () => undefined })).problems).toEqual([]);
});

test('a last partition that has rows, as after an import, ends behind them and stays append-only', async () => {
  const entry = { action: 'test', status: 'success' } as const;
  await nextId('admin_audit_log', 55_000_000);
  const { id } = await storeRow(t.app, 'AdminAuditLog', entry);
  await maintainPartitions(t.app);
  expect(await partitionsOf('admin_audit_log')).toEqual([
    ['admin_audit_log_1', null, 20_000_000],
    ['admin_audit_log_20000000', 20_000_000, 80_000_000],
    ['admin_audit_log_80000000', 80_000_000, null],
  ]);
  await nextId('admin_audit_log', 80_000_000);
  await storeRow(t.app, 'AdminAuditLog', entry);
  expect(await rowsIn('admin_audit_log_80000000')).toBe(1);
  for (const one of [id, 80_000_000])
    await expect(t.app.db.sql('DELETE FROM admin_audit_log WHERE id = $1::bigint RETURNING id', [one])).rejects.toThrow('append');
});

test('rows that have expired are deleted in their partition only, and a partition that they leave empty is removed', async () => {
  const event = { type: 'x', payload: {}, audience: 'staff' };
  const eventsAt = (createdAt: Date) =>
    storeRows(
      t.app,
      'DomainEventRow',
      [1, 2, 3].map(() => Object.assign({ createdAt }, event)),
    );
  await eventsAt(addDays(t.app.clock.now(), -30));
  await nextId('domain_events', 20_000_000);
  // At the same places of another partition.
  await eventsAt(t.app.clock.now());
  await maintainPartitions(t.app);
  await purgeOldRows(t.app);
  expect(await rowsIn('domain_events_20000000')).toBe(3);
  // Raw SQL: events of the other tests, which are not old, are in the first partition too.
  await t.app.db.sql('DELETE FROM domain_events WHERE id < 20000000 RETURNING id');
  expect((await maintainPartitions(t.app))!.removed).toEqual(['domain_events_1']);
  expect(await rowsIn('domain_events_20000000')).toBe(3);
});

test('the commands list them, and write the rows of one to a file', async () => {
  await storeRows(
    t.app,
    'ButtonClickLog',
    ['menu', 'buy'].map((buttonId) => ({ buttonId })),
  );
  const call = { app: t.app, terminal: {}, words: [], options: {} } as unknown as CommandCall;
  const { text, data } = await listPartitionsCommand.run(call);
  expect(text).toMatch(/^button_click_logs +button_click_logs_1 +below 20000000 +\d+ +0\.\d MiB$/m);
  expect(data).toEqual({ partitions: await listPartitions(t.app.db) });
  const to = join(folder, 'clicks.ndjson.gz');
  const exported = Object.assign({}, call, { words: ['button_click_logs_1'], options: { to } });
  expect(await exportPartitionCommand.run(exported)).toMatchObject({ data: { partition: 'button_click_logs_1', file: to } });
  const rows = gunzipSync(await readFile(to))
    .toString()
    .trimEnd()
    .split('\n');
  expect(rows.map((row) => JSON.parse(row))).toMatchObject([{ button_id: 'menu' }, { button_id: 'buy' }]);
  await expect(exportPartitionCommand.run(exported)).rejects.toThrow('exists already');
  await expect(exportPartitionCommand.run(Object.assign({}, exported, { words: ['users'] }))).rejects.toThrow(
    'no partition users',
  );
});
