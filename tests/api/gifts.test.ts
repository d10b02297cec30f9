import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import { fulfilPurchase } from '../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { type ActorClient, userClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { aGiftTariff, confirmGift, giftOf, giftsAreOn, messagesTo } from '../support/gift-samples.ts';
import { aName, anEmail, panelAnswers } from '../support/purchase-samples.ts';
import { aMembership, anOffer, aStoredSubscription, topUp } from '../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let provider: ScriptedProvider;
let buyer: ActorClient;
let friend: ActorClient;
let friendEmail: string;
let tariffId: number;

beforeAll(async () => {
  t = await testApp();
  provider = new ScriptedProvider();
  t.app = await withProvider(t.app, provider);
  server = await testServer(t.app);
});
afterAll(() => server.close());
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM rate_limit_windows');
  await t.app.db.sql('DELETE FROM guest_purchases');
  await t.app.db.sql('UPDATE tariffs SET is_active = false RETURNING id');
  await giftsAreOn(t.app);
  tariffId = await aGiftTariff(t.app, { name: 'Family', description: 'For everybody' });
  friendEmail = anEmail();
  buyer = await userClient(t.app, server, { language: 'en' });
  friend = await userClient(t.app, server, { language: 'en', email: friendEmail });
  await topUp(t.app, buyer.user.id, 100_000);
});

const anOrder = (fields: Record<string, unknown> = {}) => ({
  tariff_id: tariffId,
  period_days: 30,
  payment_mode: 'balance',
  ...fields,
});
const toFriend = () => ({ recipient_type: 'email', recipient_value: friendEmail });
const purchase = (fields: Record<string, unknown> = {}, client = buyer) => client.post('/cabinet/gift/purchase', anOrder(fields));
const balance = async ({ user }: ActorClient) => {
  const [row] = await t.app.db.sql<{ balanceKopeks: number }>('SELECT balance_kopeks FROM users WHERE id = $1::int', [user.id]);
  return row!.balanceKopeks;
};
const nameOf = async ({ user }: ActorClient) => {
  const [row] = await t.app.db.sql<{ username: string }>('SELECT username FROM users WHERE id = $1::int', [user.id]);
  return row!.username;
};

it('a user buys a code from the balance, a friend enters it, the panel answers, both lists show it', async () => {
  const bought = await purchase({ gift_message: ' Enjoy ' });
  const code = bought.body.purchase_token;
  expect([bought.status, bought.body]).toEqual([
    200,
    { status: 'ok', purchase_token: expect.stringMatching(/^[\w-]{22}$/), payment_url: null, warning: null },
  ]);
  expect(await balance(buyer)).toBe(70_000);
  const status = () => buyer.get(`/cabinet/gift/purchase/${code}`);
  expect((await status()).body).toEqual({
    status: 'paid',
    is_gift: true,
    is_code_only: true,
    purchase_token: code,
    recipient_contact_value: null,
    gift_message: 'Enjoy',
    tariff_name: 'Family',
    period_days: 30,
    warning: null,
  });
  expect((await friend.get('/cabinet/gift/pending')).body).toEqual([]);
  const activated = await friend.post('/cabinet/gift/activate', { code: `GIFT-${code}` });
  expect([activated.status, activated.body]).toEqual([200, { status: 'activated', tariff_name: 'Family', period_days: 30 }]);
  const { id } = await giftOf(t.app, code);
  await panelAnswers(t.app, id);
  expect((await status()).body.status).toBe('delivered');
  const gift = {
    token: code,
    tariff_name: 'Family',
    period_days: 30,
    device_limit: 3,
    status: 'delivered',
    gift_message: 'Enjoy',
    created_at: t.clock.now().toISOString(),
  };
  expect((await buyer.get('/cabinet/gift/sent')).body).toEqual([
    { ...gift, gift_recipient_value: null, activated_by_username: `@${await nameOf(friend)}` },
  ]);
  expect((await friend.get('/cabinet/gift/received')).body).toEqual([{ ...gift, sender_display: `@${await nameOf(buyer)}` }]);
  const mine = await friend.get('/cabinet/subscription');
  expect(mine.body.subscription).toMatchObject({ status: 'active', tariff_id: tariffId });
  const rows = (await buyer.get('/cabinet/balance/transactions')).body.items;
  expect(rows[0]).toMatchObject({ type: 'gift_payment', amount_kopeks: -30_000 });
});

it('a user pays a provider for a gift to a friend with a subscription, who agrees', async () => {
  await aStoredSubscription(t.app, friend.user.id);
  const bought = await purchase({ payment_mode: 'gateway', payment_method: 'sandbox', ...toFriend(), gift_message: 'Enjoy' });
  const code = bought.body.purchase_token;
  expect(bought.body).toEqual({
    status: 'created',
    purchase_token: expect.stringMatching(/^[\w-]{22}$/),
    payment_url: expect.stringMatching(/^https:\/\/pay\.example\.com\//),
    warning: null,
  });
  expect((await buyer.get('/cabinet/gift/sent')).body).toMatchObject([{ status: 'pending', gift_recipient_value: friendEmail }]);
  await confirmGift(t.app, provider, code);
  const { id } = await giftOf(t.app, code);
  await fulfilPurchase(t.app, { purchaseId: id });
  expect((await friend.get('/cabinet/gift/pending')).body).toEqual([
    {
      token: code,
      tariff_name: 'Family',
      period_days: 30,
      gift_message: 'Enjoy',
      sender_display: `@${await nameOf(buyer)}`,
      created_at: t.clock.now().toISOString(),
    },
  ]);
  expect((await buyer.get(`/cabinet/gift/purchase/${code}`)).body).toMatchObject({
    status: 'pending_activation',
    is_code_only: false,
    purchase_token: null,
    recipient_contact_value: friendEmail,
  });
  expect((await friend.post('/cabinet/gift/activate', { code })).status).toBe(200);
  await panelAnswers(t.app, id);
  expect((await friend.get('/cabinet/gift/pending')).body).toEqual([]);
  expect((await friend.get('/cabinet/gift/received')).body).toMatchObject([{ status: 'delivered' }]);
  expect(await messagesTo(t.app, buyer.user.messengerId)).toEqual([]);
});

describe('GET /cabinet/gift/config', () => {
  it('shows tariffs, prices for this user and payment methods', async () => {
    await aGiftTariff(t.app, { name: 'Not given', show_in_gift: false });
    await aGiftTariff(t.app, { name: 'Daily', is_daily: true, daily_price_kopeks: 100 });
    await aGiftTariff(t.app, { name: 'Without price', period_prices: {} });
    await aMembership(t.app, buyer.user.id, { name: `Friends ${unique()}`, period_discounts: { 90: 10 } });
    await anOffer(t.app, buyer.user.id, 5);
    const [group] = await t.app.db.sql<{ name: string }>(
      'SELECT g.name FROM promo_groups g JOIN user_promo_groups m ON m.promo_group_id = g.id WHERE m.user_id = $1::int',
      [buyer.user.id],
    );
    expect((await buyer.get('/cabinet/gift/config')).body).toEqual({
      is_enabled: true,
      tariffs: [
        {
          id: tariffId,
          name: 'Family',
          description: 'For everybody',
          traffic_limit_gb: 50,
          device_limit: 3,
          periods: [
            {
              days: 30,
              price_kopeks: 28_500,
              price_label: '285 ₽',
              original_price_kopeks: 30_000,
              discount_percent: 5,
              quote: expect.any(String),
            },
            {
              days: 90,
              price_kopeks: 68_400,
              price_label: '684 ₽',
              original_price_kopeks: 80_000,
              discount_percent: 14,
              quote: expect.any(String),
            },
          ],
        },
      ],
      payment_methods: [
        {
          method_id: 'sandbox',
          display_name: 'Sandbox',
          description: null,
          icon_url: null,
          min_amount_kopeks: 1_000,
          max_amount_kopeks: 100_000_000,
          sub_options: null,
        },
      ],
      balance_kopeks: 100_000,
      currency_symbol: '₽',
      promo_group_name: group!.name,
      active_discount_percent: 5,
      active_discount_expires_at: new Date(t.clock.now().getTime() + 3_600_000).toISOString(),
    });
  });

  it('shows no discount where there is none, and an expired one is none', async () => {
    await anOffer(t.app, buyer.user.id, 50);
    await t.app.db.sql('UPDATE users SET promo_offer_discount_expires_at = $2::timestamptz WHERE id = $1::int RETURNING id', [
      buyer.user.id,
      addDays(t.clock.now(), -1),
    ]);
    const { body } = await buyer.get('/cabinet/gift/config');
    expect(body).toMatchObject({ active_discount_percent: null, active_discount_expires_at: null });
    expect(body.tariffs[0].periods[0]).toMatchObject({
      price_kopeks: 30_000,
      original_price_kopeks: null,
      discount_percent: null,
    });
  });

  it('while gifts are off shows the balance alone, and the switch is read in any case', async () => {
    const noDiscount = { promo_group_name: null, active_discount_percent: null, active_discount_expires_at: null };
    const nothingForSale = { is_enabled: false, tariffs: [], payment_methods: [] };
    const off = { ...nothingForSale, ...noDiscount, balance_kopeks: 100_000, currency_symbol: '₽' };
    for (const value of ['false', 'yes', '', 'null']) {
      await giftsAreOn(t.app, value);
      expect((await buyer.get('/cabinet/gift/config')).body).toEqual(off);
    }
    await t.app.db.sql("DELETE FROM system_settings WHERE key = 'CABINET_GIFT_ENABLED' RETURNING key");
    expect((await buyer.get('/cabinet/gift/config')).body).toEqual(off);
    await giftsAreOn(t.app, 'TRUE');
    expect((await buyer.get('/cabinet/gift/config')).body.is_enabled).toBe(true);
  });

  it('leaves out a tariff that would give no server', async () => {
    await t.app.db.sql("UPDATE tariffs SET allowed_squads = '[]' WHERE id = $1::int RETURNING id", [tariffId]);
    await t.app.db.sql('UPDATE server_squads SET is_available = false RETURNING id');
    expect((await buyer.get('/cabinet/gift/config')).body.tariffs).toEqual([]);
    const refused = await purchase();
    expect([refused.status, refused.body.detail.code]).toEqual([400, 'no_servers']);
  });
});

describe('POST /cabinet/gift/purchase', () => {
  const refusals: [name: string, fields: Record<string, unknown>, status: number, detail: string][] = [
    ['an address', { recipient_type: 'email', recipient_value: 'nobody' }, 400, 'Invalid email format'],
    ['a name', { recipient_type: 'messenger', recipient_value: 'a-b' }, 400, 'Invalid messenger username format'],
    ['a tariff that does not exist', { tariff_id: 2_000_000_000 }, 404, 'Tariff not found or inactive'],
    ['an id beyond the column', { tariff_id: 9_999_999_999 }, 404, 'Tariff not found or inactive'],
    ['a period without a price', { period_days: 31 }, 400, 'Price is not configured for this period'],
    ['too little money', { period_days: 90 }, 400, 'Insufficient balance'],
    ['an unknown method', { payment_mode: 'gateway', payment_method: 'cash' }, 400, 'Invalid or unavailable payment method'],
  ];
  it.each(refusals)('refuses %s', async (_name, fields, status, detail) => {
    await topUp(t.app, friend.user.id, 1);
    const refused = await purchase(fields, fields.period_days === 90 ? friend : buyer);
    expect([refused.status, refused.body]).toEqual([status, { detail }]);
    expect(await t.app.db.sql('SELECT id FROM guest_purchases')).toEqual([]);
    expect(await balance(buyer)).toBe(100_000);
  });

  it('refuses a tariff that is inactive or not for gifts', async () => {
    for (const change of ['is_active = false', 'is_active = true, show_in_gift = false']) {
      await t.app.db.sql(`UPDATE tariffs SET ${change} WHERE id = $1::int RETURNING id`, [tariffId]);
      const refused = await purchase();
      expect([refused.status, refused.body]).toEqual([404, { detail: 'Tariff not found or inactive' }]);
    }
  });

  it('refuses in the order of the specification', async () => {
    const wrong = { recipient_type: 'email', recipient_value: 'nobody', tariff_id: 2_000_000_000, period_days: 31 };
    await giftsAreOn(t.app, 'false');
    expect((await purchase(wrong)).body).toEqual({ detail: 'Gift feature is not enabled' });
    await giftsAreOn(t.app);
    await t.app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int RETURNING id', [buyer.user.id]);
    const restricted = await purchase(wrong);
    expect([restricted.status, restricted.body]).toEqual([403, { detail: 'Purchases are restricted for this account' }]);
    await t.app.db.sql('UPDATE users SET restriction_subscription = false WHERE id = $1::int RETURNING id', [buyer.user.id]);
    expect((await purchase(wrong)).body).toEqual({ detail: 'Invalid email format' });
    const self = { recipient_type: 'messenger', recipient_value: await nameOf(buyer) };
    expect((await purchase({ ...wrong, ...self })).body).toEqual({ detail: 'Cannot gift to yourself' });
    expect((await purchase({ ...wrong, ...toFriend() })).body).toEqual({ detail: 'Tariff not found or inactive' });
  });

  it('is limited to five a minute for a user', async () => {
    for (let call = 0; call < 5; call++) expect((await purchase({ period_days: 31 })).status).toBe(400);
    const refused = await purchase();
    expect([refused.status, refused.body, refused.headers['retry-after']]).toEqual([
      429,
      { detail: 'Too many requests' },
      expect.stringMatching(/^\d+$/),
    ]);
    expect((await purchase({ period_days: 31 }, friend)).status).toBe(400);
  });

  const invalid: [name: string, fields: Record<string, unknown>, loc: string[]][] = [
    ['no method for a provider', { payment_mode: 'gateway' }, ['body', 'payment_method']],
    ['a recipient without a value', { recipient_type: 'email' }, ['body', 'recipient_value']],
    ['a recipient without a type', { recipient_value: 'a@example.com' }, ['body', 'recipient_type']],
    ['another mode', { payment_mode: 'card' }, ['body', 'payment_mode']],
    ['another type', { recipient_type: 'phone', recipient_value: '1' }, ['body', 'recipient_type']],
    ['no days', { period_days: 0 }, ['body', 'period_days']],
    ['too many days', { period_days: 3651 }, ['body', 'period_days']],
    ['a long message', { gift_message: 'x'.repeat(1001) }, ['body', 'gift_message']],
  ];
  it.each(invalid)('422 for %s', async (_name, fields, loc) => {
    const refused = await purchase(fields);
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, loc]);
  });

  it('warns of a name that the messenger does not know', async () => {
    const bought = await purchase({ recipient_type: 'messenger', recipient_value: aName() });
    expect(bought.body).toMatchObject({ status: 'ok', warning: 'messenger_unresolvable' });
    expect((await buyer.get(`/cabinet/gift/purchase/${bought.body.purchase_token}`)).body.warning).toBe('messenger_unresolvable');
  });

  it('502 when the provider is down, and nothing stays', async () => {
    provider.createFaults = ['unavailable'];
    const refused = await purchase({ payment_mode: 'gateway', payment_method: 'sandbox' });
    expect([refused.status, refused.body]).toEqual([502, { detail: 'Payment provider is unavailable, please try again later' }]);
    expect(await t.app.db.sql('SELECT id FROM guest_purchases')).toEqual([]);
  });

  it('is answered once for an Idempotency-Key', async () => {
    const keyed = buyer.with({ 'idempotency-key': `gift-${unique()}` });
    const first = await keyed.post('/cabinet/gift/purchase', anOrder());
    const again = await keyed.post('/cabinet/gift/purchase', anOrder());
    expect(again.body).toEqual(first.body);
    expect(await balance(buyer)).toBe(70_000);
    expect((await keyed.post('/cabinet/gift/purchase', anOrder({ period_days: 90 }))).status).toBe(422);
  });
});

describe('POST /cabinet/gift/activate', () => {
  const activate = (code: string, client = friend) => client.post('/cabinet/gift/activate', { code });

  it('refuses with the texts of the specification', async () => {
    const code = (await purchase()).body.purchase_token;
    const answers = [
      await activate('GIFT-1234567'),
      await activate('________'),
      await activate('%'.repeat(22)),
      await activate(code, buyer),
    ];
    expect(answers.map(({ status, body }) => [status, body.detail])).toEqual([
      [400, 'Code too short'],
      [404, 'Gift not found'],
      [404, 'Gift not found'],
      [400, 'Cannot activate your own gift'],
    ]);
    const unpaid = (await purchase({ payment_mode: 'gateway', payment_method: 'sandbox' })).body.purchase_token;
    expect((await activate(unpaid)).body).toEqual({ detail: 'This gift cannot be activated' });
    for (const value of ['', 'x'.repeat(101)]) expect((await activate(value)).status).toBe(422);
  });

  it('is limited to ten a minute for a user', async () => {
    for (let call = 0; call < 10; call++) expect((await activate('short')).status).toBe(400);
    const refused = await activate('short');
    expect([refused.status, refused.body, refused.headers['retry-after']]).toEqual([
      429,
      { detail: 'Too many requests' },
      expect.stringMatching(/^\d+$/),
    ]);
  });

  it('repeats its answer for an Idempotency-Key', async () => {
    const code = (await purchase()).body.purchase_token;
    const keyed = friend.with({ 'idempotency-key': `claim-${unique()}` });
    const answers = [await keyed.post('/cabinet/gift/activate', { code }), await keyed.post('/cabinet/gift/activate', { code })];
    expect(answers[1]!.body).toEqual(answers[0]!.body);
    expect((await keyed.post('/cabinet/gift/activate', { code: 'another-code' })).status).toBe(422);
  });

  it('answers while gifts are off: what was bought can be used', async () => {
    const code = (await purchase()).body.purchase_token;
    await giftsAreOn(t.app, 'false');
    expect((await activate(code)).status).toBe(200);
  });
});

it('GET /cabinet/gift/purchase/{token}: 404 for the gift of another user, and what is none', async () => {
  const code = (await purchase()).body.purchase_token;
  for (const [client, token] of [
    [friend, code],
    [buyer, 'unknown-code'],
    [buyer, code.slice(0, 11)],
    [buyer, '%25%25%25%25%25%25%25%25%25%25%25%25'],
  ] as const) {
    const refused = await client.get(`/cabinet/gift/purchase/${token}`);
    expect([refused.status, refused.body]).toEqual([404, { detail: 'Purchase not found' }]);
  }
});

it('all operations need a signed-in user', async () => {
  const anonymous = clientOf(server);
  const answers = [
    ...(await Promise.all(
      ['config', 'pending', 'sent', 'received', 'purchase/x'].map((p) => anonymous.get(`/cabinet/gift/${p}`)),
    )),
    await anonymous.post('/cabinet/gift/purchase', anOrder()),
    await anonymous.post('/cabinet/gift/activate', { code: 'some-code' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(401));
});
