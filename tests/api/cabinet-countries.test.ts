import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { type ActorClient, userClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { aMembership, aServer, aStoredSubscription, rowOf, topUp } from '../support/sale-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const ROOT = '/cabinet/subscription';
let t: TestApp;
let app: App;
let server: FastifyInstance;

beforeAll(async () => {
  t = await testApp();
  app = t.app;
  server = await testServer(app);
});
afterAll(() => server.close());

async function holder(columns: Record<string, unknown> = {}, balance = 100_000): Promise<ActorClient & { id: number }> {
  const client = await userClient(app, server, { language: 'en' });
  if (balance > 0) await topUp(app, client.user.id, balance);
  return { ...client, id: await aStoredSubscription(app, client.user.id, columns) };
}
/** Its only place is taken. */
async function aFullServer() {
  const full = await aServer(app, { max_users: 1 });
  await holder({ connected_squads: [full.uuid] }, 0);
  return full;
}
const inDays = (days: number) => new Date(t.clock.now().getTime() + days * 86_400_000);
const linked = (id: number) =>
  app.db.sql<{ uuid: string; paid: number }>(
    `SELECT q.squad_uuid AS uuid, l.paid_price_kopeks::int AS paid FROM subscription_servers l
     JOIN server_squads q ON q.id = l.server_squad_id WHERE l.subscription_id = $1::int ORDER BY q.id`,
    [id],
  );
const stateOf = (id: number) =>
  rowOf<{ connectedSquads: string[]; balance: number; version: number }>(
    app,
    `SELECT s.connected_squads, u.balance_kopeks::int AS balance, s.provision_version AS version
     FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.id = $1::int`,
    [id],
  );

describe('GET /cabinet/subscription/countries', () => {
  test('02 5.13: lists what the group may connect, at the price that is charged, and counts what is connected', async () => {
    const [open, full, closed] = [
      await aServer(app, { price_kopeks: 3_000, country_code: 'DE' }),
      await aFullServer(),
      await aServer(app, { is_available: false }),
    ];
    const client = await holder({ end_date: inDays(60.5), connected_squads: [open.uuid, closed.uuid] });
    await aMembership(app, client.user.id, { server_discount_percent: 20 });
    const { body } = await client.get(`${ROOT}/countries`);
    expect(body).toMatchObject({ connected_count: 2, has_subscription: true, days_left: 60, discount_percent: 20 });
    const shown = (uuid: string) => body.countries.find((entry: { uuid: string }) => entry.uuid === uuid);
    expect(shown(open.uuid)).toEqual({
      uuid: open.uuid,
      name: open.uuid,
      country_code: 'DE',
      base_price_kopeks: 3_000,
      price_kopeks: 4_800,
      price_per_month_kopeks: 2_400,
      price_rubles: 48,
      is_available: true,
      is_connected: true,
      has_discount: true,
      discount_percent: 20,
    });
    expect(shown(full.uuid)).toMatchObject({ is_available: false, is_connected: false, country_code: null });
    expect(shown(closed.uuid)).toBeUndefined();
    const stranger = await userClient(app, server);
    const alone = (await stranger.get(`${ROOT}/countries`)).body;
    expect(alone).toMatchObject({ connected_count: 0, has_subscription: false, days_left: 0 });
    expect(alone.countries.find((entry: { uuid: string }) => entry.uuid === open.uuid).price_kopeks).toBe(3_000);
  });

  test('02 H19: a server of another group is neither listed nor sold', async () => {
    const { id, uuid } = await aServer(app);
    const outsider = await holder();
    const member = await userClient(app, server);
    const group = await aMembership(app, member.user.id, {});
    await storeRow(app, 'ServerSquadPromoGroup', { serverSquadId: id, promoGroupId: group });
    const uuids = async (client: ActorClient) =>
      (await client.get(`${ROOT}/countries`)).body.countries.map((entry: { uuid: string }) => entry.uuid);
    expect(await uuids(member)).toContain(uuid);
    expect(await uuids(outsider)).not.toContain(uuid);
    const refused = await outsider.post(`${ROOT}/countries`, { countries: [uuid] });
    expect(refused).toMatchObject({ status: 400, body: { detail: `Country ${uuid} is not available` } });
  });
});

describe('POST /cabinet/subscription/countries', () => {
  test('02 H26: prices are found by uuid, duplicates dropped, rows of removed servers deleted', async () => {
    const [cheap, dear, old] = [
      await aServer(app, { price_kopeks: 3_000, sort_order: 9 }),
      await aServer(app, { price_kopeks: 9_000, sort_order: 1 }),
      await aServer(app),
    ];
    const client = await holder({ connected_squads: [old.uuid] });
    await storeRow(app, 'SubscriptionServer', { subscriptionId: client.id, serverSquadId: old.id, paidPriceKopeks: 7 });
    const before = await stateOf(client.id);
    const { status, body } = await client.post(`${ROOT}/countries`, { countries: [dear.uuid, cheap.uuid, dear.uuid] });
    expect([status, body]).toEqual([
      200,
      {
        message: 'Countries updated successfully',
        added: [dear.uuid, cheap.uuid],
        removed: [old.uuid],
        amount_paid_kopeks: 12_000,
        connected_squads: [dear.uuid, cheap.uuid],
      },
    ]);
    expect(await linked(client.id)).toEqual([
      { uuid: cheap.uuid, paid: 3_000 },
      { uuid: dear.uuid, paid: 9_000 },
    ]);
    expect(await stateOf(client.id)).toEqual({
      connectedSquads: [dear.uuid, cheap.uuid],
      balance: 88_000,
      version: before.version + 1,
    });
    // Added again after a removal: charged again. Removing alone: free, and no row among the transactions.
    await client.post(`${ROOT}/countries`, { countries: [cheap.uuid] });
    expect((await client.post(`${ROOT}/countries`, { countries: [cheap.uuid, dear.uuid] })).body.amount_paid_kopeks).toBe(9_000);
    const payments = await rowOf<{ sums: number[] }>(
      app,
      `SELECT array_agg(amount_kopeks::int ORDER BY id) AS sums FROM transactions
       WHERE user_id = $1::int AND type = 'subscription_payment' AND payment_method = 'balance'`,
      [client.user.id],
    );
    expect(payments.sums).toEqual([-12_000, -9_000]);
    const [row] = await app.db.sql<{ description: string }>(
      'SELECT description FROM transactions WHERE user_id = $1::int AND amount_kopeks = -12000',
      [client.user.id],
    );
    expect(row!.description).toBe(`Servers: ${dear.uuid}, ${cheap.uuid}`);
  });

  test('02 H26: a body that is no list of texts is 422', async () => {
    const client = await holder();
    for (const countries of ['x', [1], [null], { a: 1 }]) {
      expect((await client.post(`${ROOT}/countries`, { countries })).status, JSON.stringify(countries)).toBe(422);
    }
    for (const body of [{}, { countries: [] }]) {
      expect((await client.post(`${ROOT}/countries`, body)).body.detail).toBe('At least one country must be selected');
    }
  });

  test('02 H7: without enough money nothing changes, and the balance equals the sum of the ledger', async () => {
    const { uuid } = await aServer(app, { price_kopeks: 5_000 });
    const client = await holder({}, 4_999);
    const refused = await client.post(`${ROOT}/countries`, { countries: [uuid] });
    expect(refused).toMatchObject({
      status: 402,
      body: { detail: 'Insufficient balance. Need 50.00 RUB, have 49.99 RUB' },
    });
    expect(await stateOf(client.id)).toMatchObject({ connectedSquads: [], balance: 4_999 });
    expect(await linked(client.id)).toEqual([]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('02 H13: two equal requests under one key charge once', async () => {
    const { uuid } = await aServer(app, { price_kopeks: 5_000 });
    const client = await holder();
    const once = client.with({ 'idempotency-key': `countries-${client.id}` });
    const answers = await Promise.all([1, 2].map(() => once.post(`${ROOT}/countries`, { countries: [uuid] })));
    expect(answers[0]!.body).toEqual(answers[1]!.body);
    expect((await stateOf(client.id)).balance).toBe(95_000);
  });

  test('02 5.13: who may not change servers, and what is refused', async () => {
    const { uuid } = await aServer(app);
    const full = await aFullServer();
    const change = (client: ActorClient, countries: string[]) => client.post(`${ROOT}/countries`, { countries });
    const detail = async (columns: Record<string, unknown>, countries = [uuid]) => {
      const { status, body } = await change(await holder(columns), countries);
      return [status, body.detail];
    };
    expect(await detail({ is_trial: true })).toEqual([400, 'Country management is not available for trial subscriptions']);
    expect(await detail({ end_date: inDays(-1) })).toEqual([400, 'Subscription is not active']);
    expect(await detail({ status: 'disabled' })).toEqual([400, 'Subscription is not active']);
    expect(await detail({}, [full.uuid])).toEqual([400, `Country ${full.uuid} is not available`]);
    expect(await detail({}, ['no-such'])).toEqual([400, 'Country no-such is not available']);
    const connected = await holder({ connected_squads: [full.uuid], status: 'limited' });
    expect((await change(connected, [full.uuid])).body).toEqual({
      message: 'No changes detected',
      connected_squads: [full.uuid],
    });
    const nobody = await userClient(app, server);
    expect(await change(nobody, [uuid])).toMatchObject({ status: 404, body: { detail: 'No subscription found' } });
    const restricted = await holder();
    await app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int RETURNING id', [restricted.user.id]);
    expect((await change(restricted, [uuid])).status).toBe(403);
    expect((await clientOf(server).post(`${ROOT}/countries`, { countries: [uuid] })).status).toBe(401);
  });
});
