import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ActorClient, userClient } from '../support/actors.ts';
import { type ApiReply, testServer } from '../support/api.ts';
import { giftsAreOn } from '../support/gift-samples.ts';
import { initDataOf } from '../support/init-data.ts';
import { aServer, aStoredSubscription, aTariff, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let tariffs: TestApp;
let classic: TestApp;
const servers: FastifyInstance[] = [];
beforeAll(async () => {
  tariffs = await testApp();
  await giftsAreOn(tariffs.app);
  classic = await testApp({ environment: { SALES_MODE: 'classic' }, clock: tariffs.clock });
  for (const { app } of [tariffs, classic]) servers.push(await testServer(app));
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

interface Shopper {
  client: ActorClient;
  tariffId: number;
  otherId: number;
  initData: string;
}

/** A user with money and a paid tariff, who may buy everything. */
async function aShopper(t: TestApp): Promise<Shopper> {
  await aServer(t.app);
  const client = await userClient(t.app, servers[t === classic ? 1 : 0]!, { language: 'en' });
  const topups = { traffic_topup_enabled: true, traffic_topup_packages: { 10: 5_000 }, traffic_limit_gb: 100 };
  const tariffId = await aTariff(t.app, { ...topups, device_price_kopeks: 3_000 });
  const otherId = await aTariff(t.app, { period_prices: { 30: 90_000 } });
  await topUp(t.app, client.user.id, 1_000_000);
  if (t === tariffs) await aStoredSubscription(t.app, client.user.id, { tariff_id: tariffId });
  return { client, tariffId, otherId, initData: initDataOf(t, client.user) };
}

/** What is paid for the rest of the time has another price as soon as another day has begun. */
const LATE = expect.stringMatching(/^(expired|price)$/);

type Body = ApiReply['body'];
const CABINET = '/cabinet/subscription';
const MINIAPP = '/miniapp/subscription';
const period = (list: Body[]) => list.find(({ days, period_days }) => (days ?? period_days) === 30)!;

/** Every operation that accepts a quote: where the quote is shown, and what it charges. */
const WAYS: [
  path: string,
  salesMode: 'tariffs' | 'classic',
  shown: (shopper: Shopper) => Promise<string>,
  body: (shopper: Shopper) => Body,
][] = [
  [
    `${CABINET}/renew`,
    'tariffs',
    async ({ client }) => period((await client.get(`${CABINET}/renewal-options`)).body).quote,
    () => ({ period_days: 30 }),
  ],
  [
    `${CABINET}/purchase-tariff`,
    'tariffs',
    async ({ client, otherId }) =>
      period((await client.get(`${CABINET}/purchase-options`)).body.tariffs.find(({ id }: Body) => id === otherId).periods).quote,
    ({ otherId }) => ({ tariff_id: otherId, period_days: 30 }),
  ],
  [
    `${CABINET}/tariff/switch`,
    'tariffs',
    async ({ client, otherId }) =>
      (await client.post(`${CABINET}/tariff/switch/preview`, { tariff_id: otherId, period_days: 30 })).body.quote,
    ({ otherId }) => ({ tariff_id: otherId, period_days: 30 }),
  ],
  [
    `${CABINET}/traffic`,
    'tariffs',
    async ({ client }) => (await client.get(`${CABINET}/traffic-packages`)).body[0].quote,
    () => ({ gb: 10 }),
  ],
  ...([`${CABINET}/devices`, `${CABINET}/devices/purchase`] as const).map((path): (typeof WAYS)[number] => [
    path,
    'tariffs',
    async ({ client }) => (await client.get(`${CABINET}/devices/price`, { query: { devices: 2 } })).body.quote,
    () => ({ devices: 2 }),
  ]),
  [
    `${CABINET}/purchase`,
    'classic',
    async ({ client }) => (await client.post(`${CABINET}/purchase-preview`, { selection: { period_days: 30 } })).body.quote,
    () => ({ selection: { period_days: 30 } }),
  ],
  [
    '/cabinet/gift/purchase',
    'tariffs',
    async ({ client, tariffId }) =>
      period((await client.get('/cabinet/gift/config')).body.tariffs.find(({ id }: Body) => id === tariffId).periods).quote,
    ({ tariffId }) => ({ tariff_id: tariffId, period_days: 30, payment_mode: 'balance' }),
  ],
  [
    `${MINIAPP}/renewal`,
    'tariffs',
    async ({ client, initData }) => period((await client.post(`${MINIAPP}/renewal/options`, { initData })).body.periods).quote,
    ({ initData }) => ({ initData, periodDays: 30 }),
  ],
  [
    `${MINIAPP}/tariff/purchase`,
    'tariffs',
    async ({ client, initData, otherId }) =>
      period((await client.post(`${MINIAPP}/tariffs`, { initData })).body.tariffs.find(({ id }: Body) => id === otherId).periods)
        .quote,
    ({ initData, otherId }) => ({ initData, tariffId: otherId, periodDays: 30 }),
  ],
  [
    `${MINIAPP}/tariff/switch`,
    'tariffs',
    async ({ client, initData, otherId }) =>
      (await client.post(`${MINIAPP}/tariff/switch/preview`, { init_data: initData, tariff_id: otherId })).body.quote,
    ({ initData, otherId }) => ({ init_data: initData, tariff_id: otherId }),
  ],
  [
    `${MINIAPP}/traffic-topup`,
    'tariffs',
    async ({ client }) => (await client.get(`${CABINET}/traffic-packages`)).body[0].quote,
    ({ initData }) => ({ initData, gb: 10 }),
  ],
  [
    `${MINIAPP}/purchase`,
    'classic',
    async ({ client, initData }) =>
      (await client.post(`${MINIAPP}/purchase/preview`, { initData, selection: { period_days: 30 } })).body.preview.quote,
    ({ initData }) => ({ initData, selection: { period_days: 30 } }),
  ],
];

describe.each(WAYS)('POST %s', (path, salesMode, shown, body) => {
  test('charges the price of the quote, and nothing for another one', async () => {
    const t = salesMode === 'classic' ? classic : tariffs;
    const shopper = await aShopper(t);
    const { client } = shopper;
    const quote = await shown(shopper);
    const balance = async () => {
      const [row] = await t.app.db.sql<{ kopeks: number }>('SELECT balance_kopeks AS kopeks FROM users WHERE id = $1::int', [
        client.user.id,
      ]);
      return row!.kopeks;
    };
    const forged = await client.post(path, { ...body(shopper), quote: `${quote}x` });
    expect(forged).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'quote'], type: 'quote_invalid' }] } });
    t.clock.advance(11 * 60_000);
    const late = await client.post(path, { ...body(shopper), quote });
    expect(late).toMatchObject({ status: 409, body: { detail: { code: 'quote_changed', reason: LATE } } });
    expect(await balance()).toBe(1_000_000);
    const { quote: fresh, price_kopeks: price, message } = late.body.detail;
    expect(message).toMatch(/Nothing was charged/);
    expect((await client.post(path, { ...body(shopper), quote: fresh })).status).toBe(200);
    expect(price).toBeGreaterThan(0);
    expect(await balance()).toBe(1_000_000 - price);
  });
});
