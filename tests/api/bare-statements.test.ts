import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADJUST_BALANCE, AUDIT_READ, PURCHASE, STORE_CALLBACK } from '../../packages/measures/src/bench/bare-statements.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { adminClient, userClient } from '../support/actors.ts';
import { testServer, tokenClient } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { callback } from '../support/payment-samples.ts';
import { recordedEvents } from '../support/recorded-events.ts';
import { aServer, aTariff, topUp } from '../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
});
afterAll(() => server.close());

/** Rows for money, by kind: what the service and the baseline of the benchmark must both leave (docs/performance.md). */
async function moneyRows(): Promise<Record<string, number>> {
  const rows = await t.app.db.sql<{ kind: string; total: number }>(
    `SELECT 'key with answer' AS kind, count(*)::int AS total FROM idempotency_keys WHERE response IS NOT NULL
     UNION ALL SELECT 'key without answer', count(*)::int FROM idempotency_keys WHERE response IS NULL
     UNION ALL SELECT 'transaction', count(*)::int FROM transactions
     UNION ALL SELECT 'ledger entry', count(*)::int FROM ledger_entries
     UNION ALL SELECT 'subscription', count(*)::int FROM subscriptions
     UNION ALL SELECT 'callback', count(*)::int FROM provider_callbacks
     UNION ALL SELECT 'job of a callback', count(*)::int FROM jobs.job WHERE name = 'payments.callback'`,
  );
  const byKind = Object.fromEntries(rows.map(({ kind, total }) => [kind, total]));
  for (const type of ['payment.completed', 'transaction.created', 'balance.change'] as const)
    byKind[`event ${type}`] = (await recordedEvents(t.app, type)).length;
  return byKind;
}

/** Kinds of which `work` adds rows, with their numbers. */
async function addedBy(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await moneyRows();
  await work();
  const after = Object.entries(await moneyRows());
  return Object.fromEntries(after.map(([kind, total]) => [kind, total - (before[kind] ?? 0)]).filter(([, added]) => added !== 0));
}

const sql = (text: string, values: unknown[]) => t.app.db.sql<{ response?: object }>(text, values);
const guard = () => ['bare', `key-${unique()}`, 'hash'];

describe('the hand-written statements leave the rows for money that the service leaves', () => {
  test('a balance write', async () => {
    const { user } = await userClient(t.app, server);
    const api = (await tokenClient(t.app, server)).with({ 'idempotency-key': `service-${unique()}` });
    const byService = await addedBy(async () => {
      const reply = await api.post(`/users/${user.id}/balance`, { amount_kopeks: 100, description: 'Benchmark' });
      expect(reply).toMatchObject({ status: 200, body: { balance_kopeks: 100 } });
    });
    const values = [user.id, 100, 'Benchmark', t.clock.now(), ...guard()];
    const byHand = await addedBy(async () => {
      expect(await sql(ADJUST_BALANCE, values)).toMatchObject([{ response: { balance_kopeks: 200 } }]);
    });
    expect(byHand).toEqual(byService);
    const events = { 'event payment.completed': 1, 'event balance.change': 1 };
    expect(byHand).toEqual({ 'key with answer': 1, transaction: 1, 'ledger entry': 2, ...events });
    // A repeat of the key takes the whole movement back.
    expect(await addedBy(() => expect(sql(ADJUST_BALANCE, values)).rejects.toMatchObject({ code: '23505' }))).toEqual({});
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('a purchase', async () => {
    const { uuid } = await aServer(t.app);
    const tariffId = await aTariff(t.app, { allowed_squads: [uuid] });
    const order = { tariff_id: tariffId, period_days: 30 };
    const [buyer, bareBuyer] = [await userClient(t.app, server), await userClient(t.app, server)];
    for (const { user } of [buyer, bareBuyer]) await topUp(t.app, user.id, 100_000);
    const buy = () =>
      buyer.with({ 'idempotency-key': `service-${unique()}` }).post('/cabinet/subscription/purchase-tariff', order);
    const buyByHand = () => sql(PURCHASE, [bareBuyer.user.id, tariffId, 30, t.clock.now(), ...guard()]);
    const money = { 'key with answer': 1, transaction: 1, 'ledger entry': 2 };
    const events = { 'event transaction.created': 1, 'event balance.change': 1 };
    for (const subscription of [{ subscription: 1 }, {}]) {
      const byService = await addedBy(async () => expect(await buy()).toMatchObject({ status: 200 }));
      const byHand = await addedBy(async () => expect(await buyByHand()).toMatchObject([{ response: { status: 'active' } }]));
      expect(byHand).toEqual(byService);
      expect(byHand).toEqual({ ...money, ...events, ...subscription });
    }
    const ends = await t.app.db.sql<{ endDate: Date }>('SELECT end_date FROM subscriptions WHERE user_id = ANY ($1::int[])', [
      [buyer.user.id, bareBuyer.user.id],
    ]);
    expect(ends[0]!.endDate).toEqual(ends[1]!.endDate);
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('a callback of a provider, once', async () => {
    const app = await withProvider(t.app, new ScriptedProvider());
    const byService = await addedBy(() => callback(app, `invoice-${unique()}`));
    const values = [`event-${unique()}`, `invoice-${unique()}`, '{}', '{}', t.clock.now()];
    const byHand = await addedBy(() => sql(STORE_CALLBACK, values));
    expect(byHand).toEqual(byService);
    expect(byHand).toEqual({ callback: 1, 'job of a callback': 1 });
    expect(await addedBy(() => sql(STORE_CALLBACK, values))).toEqual({});
  });

  test('the audit row of a list that an administrator reads', async () => {
    const admin = await adminClient(t.app, server, ['users:read']);
    expect(await admin.get('/cabinet/admin/users?limit=50')).toMatchObject({ status: 200 });
    await t.app.ports.audit.flush();
    await sql(AUDIT_READ, [admin.user.id, t.clock.now()]);
    const rows = await t.app.db.sql(
      `SELECT user_id, actor_name, action, resource_type, details, status, request_method FROM admin_audit_log WHERE user_id = $1::int`,
      [admin.user.id],
    );
    expect(rows).toHaveLength(2);
    expect(rows[1]).toMatchObject({ action: 'users:read', resourceType: 'users', status: 'success', requestMethod: 'GET' });
    expect(Object.keys(rows[0]!)).toEqual(Object.keys(rows[1]!));
  });
});
