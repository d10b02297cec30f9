import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays, DAY_MS } from '../../src/core/clock.ts';
import { fulfilPurchase } from '../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { type ActorClient, userClient } from '../support/actors.ts';
import type { ApiClient } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { LANDINGS, type LandingFixture, landingFixture } from '../support/landing-fixture.ts';
import { confirmPayment, panelAnswers } from '../support/purchase-samples.ts';
import { aStoredSubscription } from '../support/sale-samples.ts';
import type { ScriptedProvider } from '../support/scripted-provider.ts';
import type { TestApp } from '../support/test-app.ts';

const base = LANDINGS;

let t: TestApp;
let server: FastifyInstance;
let guest: ApiClient;
let admin: ActorClient;
let provider: ScriptedProvider;
let aSalesPage: LandingFixture['aSalesPage'];
let reset: LandingFixture['reset'];

beforeAll(async () => {
  ({ t, server, guest, admin, provider, aSalesPage, reset } = await landingFixture());
});
afterAll(() => server.close());
beforeEach(() => reset());

const anOrder = (tariffId: number, fields: Record<string, unknown> = {}) => ({
  tariff_id: tariffId,
  period_days: 30,
  contact_type: 'email',
  contact_value: `guest${unique()}@example.com`,
  payment_method: 'sandbox',
  ...fields,
});

async function purchaseRow(token: string) {
  const [row] = await t.app.db.sql<{ id: number; userId: number | null; externalId: string; paymentId: number }>(
    `SELECT p.id, p.user_id, y.external_id AS "externalId", y.id AS "paymentId" FROM guest_purchases p JOIN payments y ON y.id = p.payment_id
     WHERE p.token = $1`,
    [token],
  );
  return row!;
}

async function deliver(token: string) {
  const row = await purchaseRow(token);
  await confirmPayment(t.app, provider, { token, ...row });
  await fulfilPurchase(t.app, { purchaseId: row.id });
  await panelAnswers(t.app, row.id);
  return row;
}

it('an administrator makes a page, a guest buys, the provider is paid, the page shows the subscription', async () => {
  const { tariffId, landing } = await aSalesPage({ title: 'Весна' }, { name: 'Family' });
  const page = await guest.get(`/cabinet/landing/${landing.slug}`);
  expect(page.body).toMatchObject({
    slug: landing.slug,
    title: 'Весна',
    tariffs: [
      {
        id: tariffId,
        name: 'Family',
        traffic_limit_gb: 50,
        device_limit: 3,
        tier_level: 2,
        periods: [
          {
            days: 30,
            label: '1 month',
            price_kopeks: 30_000,
            price_label: '300 ₽',
            original_price_kopeks: null,
            discount_percent: null,
          },
          {
            days: 90,
            label: '3 months',
            price_kopeks: 80_000,
            price_label: '800 ₽',
            original_price_kopeks: null,
            discount_percent: null,
          },
        ],
      },
    ],
    payment_methods: [{ method_id: 'sandbox', display_name: 'Sandbox', sort_order: 0, sub_options: null }],
    gift_enabled: true,
    custom_css: null,
    discount: null,
  });
  const order = anOrder(tariffId);
  const bought = await guest.post(`/cabinet/landing/${landing.slug}/purchase`, order);
  expect([bought.status, Object.keys(bought.body)]).toEqual([200, ['purchase_token', 'payment_url']]);
  const token = bought.body.purchase_token;
  expect(bought.body.payment_url).toMatch(/^https:\/\/pay\.example\.com\//);
  const show = async () => (await guest.get(`/cabinet/landing/purchase/${token}`)).body;
  expect(await show()).toMatchObject({ status: 'pending', period_days: 30, tariff_name: 'Family', subscription_url: null });
  await deliver(token);
  const shown = await show();
  expect(shown).toMatchObject({ status: 'delivered', contact_type: 'email', cabinet_email: order.contact_value, is_gift: false });
  expect(shown.subscription_url).toMatch(/^https?:/);
  expect(shown.auto_login_token).toEqual(expect.any(String));
  expect((await show()).auto_login_token).toBeNull();
  const login = await guest.post('/cabinet/auth/login/auto', { token: shown.auto_login_token });
  expect(login.status).toBe(200);
  const mine = await guest.with({ authorization: `Bearer ${login.body.access_token}` }).get('/cabinet/subscription');
  expect(mine.body.subscription).toMatchObject({ status: 'active', tariff_id: tariffId });

  const list = await admin.get(`${base}/${landing.id}/purchases`);
  expect(list.body).toMatchObject({
    total: 1,
    items: [{ token: `${token.slice(0, 8)}...`, contact_value: order.contact_value, status: 'delivered', amount_kopeks: 30_000 }],
  });
});

describe('GET /cabinet/landing/{slug}', () => {
  it('is 404 for an unknown page and one that is off', async () => {
    const { landing } = await aSalesPage({ is_active: false });
    for (const slug of [landing.slug, 'no-such-page', '%27']) {
      const page = await guest.get(`/cabinet/landing/${slug}`);
      expect([page.status, page.body]).toEqual([404, { detail: 'Landing page not found' }]);
    }
    expect((await guest.get(`/cabinet/landing/${'x'.repeat(101)}`)).status).toBe(422);
    expect((await guest.get('/cabinet/landing/x?lang=toolong')).status).toBe(422);
  });

  it('answers in the requested language, shows the discount while it is active, and only available methods', async () => {
    const now = t.app.clock.now();
    const { landing, tariffId } = await aSalesPage({
      title: { ru: 'Весна', en: 'Spring' },
      features: [{ icon: 'x', title: { ru: 'Быстро' }, description: 'Очень' }],
      payment_methods: [
        { method_id: 'sandbox', display_name: 'Card' },
        { method_id: 'heleket', display_name: 'Off' },
        { method_id: 'messenger_stars', display_name: 'Stars' },
      ],
      discount_percent: 10,
      discount_starts_at: now.toISOString(),
      discount_ends_at: addDays(now, 1).toISOString(),
      discount_badge_text: { en: 'Now!' },
    });
    const get = async () => (await guest.get(`/cabinet/landing/${landing.slug}?lang=en`)).body;
    const page = await get();
    expect(page).toMatchObject({
      title: 'Spring',
      features: [{ icon: 'x', title: 'Быстро', description: 'Очень' }],
      discount: { percent: 10, ends_at: addDays(now, 1).toISOString(), badge_text: 'Now!' },
    });
    expect(page.payment_methods.map((method: { method_id: string }) => method.method_id)).toEqual(['sandbox']);
    expect(page.tariffs[0].periods[0]).toMatchObject({
      price_kopeks: 27_000,
      original_price_kopeks: 30_000,
      discount_percent: 10,
    });
    t.clock.advance(DAY_MS);
    expect(await get()).toMatchObject({ discount: null });
    await t.app.db.sql('UPDATE tariffs SET is_active = false WHERE id = $1::int RETURNING id', [tariffId]);
    expect((await get()).tariffs).toEqual([]);
  });

  it('spec 03 H23: style and background reach strangers cleaned', async () => {
    const css = 'a{color:red}</style><script>alert(1)</script>@import url(http://evil.example.com/x);';
    const { landing } = await aSalesPage({
      custom_css: css,
      background_config: { enabled: true, type: 'dots', onload: 'alert(1)' },
    });
    expect(landing).toMatchObject({ custom_css: css, background_config: { enabled: true, type: 'dots' } });
    const page = (await guest.get(`/cabinet/landing/${landing.slug}`)).body;
    expect(page.background_config).toEqual({ enabled: true, type: 'dots' });
    expect(page.custom_css).toContain('a{color:red}');
    expect(page.custom_css).not.toMatch(/<|@import|http:/);
  });
});

describe('POST /cabinet/landing/{slug}/purchase', () => {
  it.each([
    ['en-GB,en;q=0.9', 'en', /^[^а-яё]*$/i],
    ['ru,en;q=0.5', 'ru', /[а-яё]/i],
  ])(
    '08 C3: account, ledger row and the three mails of a guest have the language of the page: %s',
    async (accepted, language, words) => {
      const { tariffId, landing } = await aSalesPage({}, { name: 'Family' });
      const order = anOrder(tariffId);
      const bought = await guest.with({ 'accept-language': accepted }).post(`/cabinet/landing/${landing.slug}/purchase`, order);
      expect(bought.status).toBe(200);
      const { id } = await deliver(bought.body.purchase_token);
      const [facts] = await t.app.db.sql<{ language: string; description: string; titles: string[] }>(
        `SELECT u.language, x.description, ARRAY(SELECT m.subject FROM outgoing_mails m WHERE m.recipient = u.email ORDER BY m.id) AS titles
       FROM guest_purchases p JOIN users u ON u.id = p.user_id JOIN transactions x ON x.id = p.transaction_id WHERE p.id = $1::int`,
        [id],
      );
      expect(facts!.language).toBe(language);
      expect(facts!.titles).toHaveLength(3);
      for (const text of [facts!.description, ...facts!.titles]) expect(text).toMatch(words);
    },
  );

  it.each([
    ['contact_value', { contact_value: 'nobody' }],
    ['contact_value', { contact_type: 'messenger', contact_value: '@abc' }],
    ['contact_value', { contact_value: '' }],
    ['contact_value', { contact_value: 'x'.repeat(256) }],
    ['contact_type', { contact_type: 'phone' }],
    ['payment_method', { payment_method: 'Sandbox' }],
    ['payment_method', { payment_method: 'x'.repeat(51) }],
    ['gift_recipient_value', { is_gift: true }],
    ['gift_recipient_value', { is_gift: true, gift_recipient_type: 'email' }],
    ['gift_recipient_value', { is_gift: true, gift_recipient_type: 'email', gift_recipient_value: 'x' }],
    ['gift_recipient_type', { is_gift: true, gift_recipient_type: 'sms', gift_recipient_value: 'x' }],
    ['gift_message', { gift_message: 'x'.repeat(1001) }],
    ['tariff_id', { tariff_id: '1' }],
    ['period_days', { period_days: null }],
  ])('422 for %s: %j', async (field, fields) => {
    const { landing, tariffId } = await aSalesPage();
    const bad = await guest.post(`/cabinet/landing/${landing.slug}/purchase`, anOrder(tariffId, fields));
    expect([bad.status, bad.body.detail[0].loc]).toEqual([422, ['body', field]]);
    expect(bad.body.detail[0]).toHaveProperty('input');
    expect(await t.app.db.sql('SELECT id FROM guest_purchases')).toEqual([]);
  });

  it('accepts a user name and a gift, and masks its recipient on the page', async () => {
    const { landing, tariffId } = await aSalesPage();
    const gift = { is_gift: true, gift_recipient_type: 'messenger', gift_recipient_value: 'friend_one', gift_message: 'Hi' };
    const order = anOrder(tariffId, { contact_type: 'messenger', contact_value: 'buyer_one', ...gift });
    const bought = await guest.post(`/cabinet/landing/${landing.slug}/purchase`, order);
    const page = await guest.get(`/cabinet/landing/purchase/${bought.body.purchase_token}`);
    expect(page.body).toMatchObject({
      is_gift: true,
      contact_value: '@bu***',
      recipient_contact_value: '@fr***',
      contact_type: 'messenger',
      gift_message: 'Hi',
      recipient_in_bot: false,
      bot_link: 'https://t.me/test_bot',
    });
  });

  it('answers a repeat under one Idempotency-Key with the first answer', async () => {
    const { landing, tariffId } = await aSalesPage();
    const order = anOrder(tariffId);
    const headers = { 'idempotency-key': `k-${unique()}` };
    const first = await guest.post(`/cabinet/landing/${landing.slug}/purchase`, order, { headers });
    const again = await guest.post(`/cabinet/landing/${landing.slug}/purchase`, order, { headers });
    expect(again.body).toEqual(first.body);
    expect(await t.app.db.sql('SELECT id FROM guest_purchases')).toHaveLength(1);
  });

  it('is 502 while the provider is down', async () => {
    const { landing, tariffId } = await aSalesPage();
    provider.createFaults = ['unavailable'];
    const bought = await guest.post(`/cabinet/landing/${landing.slug}/purchase`, anOrder(tariffId));
    expect([bought.status, bought.body.detail]).toEqual([502, 'Payment provider is unavailable, please try again later']);
  });
});

describe('limits by address', () => {
  it.each([
    ['page', 60, 'Too many requests', () => guest.get('/cabinet/landing/no-such-page'), 404],
    ['status', 30, 'Too many requests', () => guest.get('/cabinet/landing/purchase/none'), 404],
    ['activate', 5, 'Too many requests', () => guest.post('/cabinet/landing/activate/none'), 404],
    [
      'purchase',
      30,
      'Too many purchase attempts, please try again later',
      () => guest.post('/cabinet/landing/no-such-page/purchase', anOrder(1)),
      404,
    ],
  ] as const)('%s: %i a minute', async (action, limit, detail, attempt, usual) => {
    await attempt();
    await t.app.db.sql("UPDATE rate_limit_windows SET hits = $2::int WHERE key LIKE '%landing/' || $1 RETURNING key", [
      action,
      limit - 1,
    ]);
    expect((await attempt()).status).toBe(usual);
    const refused = await attempt();
    expect([refused.status, refused.body.detail, refused.headers['retry-after']]).toEqual([429, detail, '60']);
  });

  it('a counter that cannot count refuses with 429', async () => {
    await t.app.db.sql('ALTER TABLE rate_limit_windows RENAME TO rate_limit_windows_away');
    try {
      const refused = await guest.get('/cabinet/landing/no-such-page');
      expect([refused.status, refused.body]).toEqual([429, { detail: 'Too many requests' }]);
    } finally {
      await t.app.db.sql('ALTER TABLE rate_limit_windows_away RENAME TO rate_limit_windows');
    }
  });
});

describe('POST /cabinet/landing/activate/{token}', () => {
  it('spec 03 H22, spec 10 U4: of a gift needs the recipient where a subscription runs, signed in or by the mailed link, while the giver sees its state', async () => {
    const recipient = await userClient(t.app, server, { email: `own${unique()}@example.com` });
    const stranger = await userClient(t.app, server);
    await aStoredSubscription(t.app, recipient.user.id);
    const [{ email }] = (await t.app.db.sql<{ email: string }>('SELECT email FROM users WHERE id = $1::int', [
      recipient.user.id,
    ])) as [{ email: string }];
    const { landing, tariffId } = await aSalesPage();
    const gift = { is_gift: true, gift_recipient_type: 'email', gift_recipient_value: email };
    const bought = await guest.post(`/cabinet/landing/${landing.slug}/purchase`, anOrder(tariffId, gift));
    const token = bought.body.purchase_token;
    const row = await purchaseRow(token);
    const path = `/cabinet/landing/activate/${token}`;
    const early = await guest.post(path);
    expect([early.status, early.body]).toEqual([400, { detail: 'Purchase is not pending activation' }]);
    await confirmPayment(t.app, provider, { token, ...row });
    await fulfilPurchase(t.app, { purchaseId: row.id });
    const anonymous = await guest.post(path);
    expect([anonymous.status, anonymous.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect((await stranger.post(path)).status).toBe(403);
    expect((await guest.with({ authorization: 'Bearer nonsense' }).post(path)).status).toBe(401);
    expect((await guest.get(`/cabinet/landing/purchase/${token}`)).body).toMatchObject({
      status: 'pending_activation',
      is_gift: true,
    });
    const done = await recipient.post(path);
    expect([done.status, done.body]).toEqual([200, expect.objectContaining({ status: 'paid', cabinet_password: null })]);
    await panelAnswers(t.app, row.id);
    expect((await guest.post(path)).status).toBe(429);
    await t.app.db.sql('DELETE FROM rate_limit_windows');
    expect((await guest.post(path)).body).toMatchObject({ status: 'delivered' });
  });

  it('spec 10 U4: for oneself needs no sign-in, which clients cannot send here', async () => {
    const email = `own${unique()}@example.com`;
    const { user } = await userClient(t.app, server, { email });
    await aStoredSubscription(t.app, user.id);
    const { landing, tariffId } = await aSalesPage();
    const bought = await guest.post(`/cabinet/landing/${landing.slug}/purchase`, anOrder(tariffId, { contact_value: email }));
    const row = await purchaseRow(bought.body.purchase_token);
    await confirmPayment(t.app, provider, { token: bought.body.purchase_token, ...row });
    await fulfilPurchase(t.app, { purchaseId: row.id });
    const done = await guest.post(`/cabinet/landing/activate/${bought.body.purchase_token}`);
    expect([done.status, done.body.status]).toEqual([200, 'paid']);
  });
});
