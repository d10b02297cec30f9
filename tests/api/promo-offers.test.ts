import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/core/clock.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aSegment } from '../support/audience-samples.ts';
import { aUser, unique } from '../support/builders.ts';
import { aMembership, aStoredSubscription, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let web: ApiClient;
let admin: ActorClient;
let user: ActorClient;

const UNKNOWN = 2_147_000_000;
const ADMIN = '/cabinet/admin/promo-offers';

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  web = await tokenClient(t.app, server);
  admin = await adminClient(t.app, server, ['promo_offers:read', 'promo_offers:edit', 'promo_offers:send']);
  user = await userClient(t.app, server, { language: 'en' });
});
afterAll(() => server.close());

const aBody = (fields: Record<string, unknown> = {}) => ({ notification_type: `type-${unique()}`, valid_hours: 24, ...fields });
const hour = () => new Date(t.app.clock.now().getTime() + 24 * HOUR_MS).toISOString();

async function anOffer(fields: Record<string, unknown> = {}) {
  const made = await web.post('/promo-offers', aBody({ user_id: user.user.id, discount_percent: 15, ...fields }));
  expect(made.body.detail).toBeUndefined();
  return made.body;
}

describe('promo-offers (Web API)', () => {
  it('makes an offer, shows it and overwrites the open one of its type', async () => {
    const subscriber = await aUser(t.app);
    const subscriptionId = await aStoredSubscription(t.app, subscriber.id);
    const body = aBody({
      messenger_id: subscriber.messengerId,
      notification_type: ' spring ',
      discount_percent: 15,
      bonus_amount_kopeks: 500,
      subscription_id: subscriptionId,
      extra_data: { a: [1, null] },
    });
    const made = await web.post('/promo-offers', body);
    const now = t.app.clock.now().toISOString();
    expect(made.body).toEqual({
      id: expect.any(Number),
      user_id: subscriber.id,
      subscription_id: subscriptionId,
      notification_type: 'spring',
      discount_percent: 15,
      bonus_amount_kopeks: 500,
      expires_at: hour(),
      claimed_at: null,
      is_active: true,
      effect_type: 'percent_discount',
      extra_data: { a: [1, null] },
      created_at: now,
      updated_at: now,
      user: {
        id: subscriber.id,
        messenger_id: subscriber.messengerId,
        username: expect.any(String),
        first_name: expect.any(String),
        last_name: null,
        full_name: expect.stringMatching(/^User \d+$/),
      },
      subscription: {
        id: subscriptionId,
        status: 'active',
        is_trial: false,
        start_date: expect.stringMatching(/Z$/),
        end_date: expect.stringMatching(/Z$/),
        autopay_enabled: false,
      },
    });
    expect((await web.get(`/promo-offers/${made.body.id}`)).body).toEqual(made.body);
    const again = await web.post('/promo-offers', aBody({ user_id: subscriber.id, notification_type: 'spring' }));
    expect(again.body).toMatchObject({ id: made.body.id, discount_percent: 0, subscription_id: null, extra_data: {} });
  });

  it('lists newest first, by user, messenger id, type and state, in pages', async () => {
    const other = await aUser(t.app);
    const [one, two] = [await anOffer({ user_id: other.id }), await anOffer({ user_id: other.id })];
    const ids = async (query: string) => {
      const reply = await web.get(`/promo-offers?${query}`);
      return [reply.body.total, reply.body.items.map((item: { id: number }) => item.id)];
    };
    expect(await ids(`user_id=${other.id}`)).toEqual([2, [two.id, one.id]]);
    expect(await ids(`messenger_id=${other.messengerId}&limit=1&offset=1`)).toEqual([2, [one.id]]);
    expect(await ids(`user_id=${other.id}&notification_type=${one.notification_type}`)).toEqual([1, [one.id]]);
    expect(await ids(`user_id=${other.id}&is_active=false`)).toEqual([0, []]);
    expect(await ids('user_id=9000000000')).toEqual([0, []]);
    expect(await ids(`user_id=${other.id}&offset=50`)).toEqual([2, []]);
    expect(await web.get('/promo-offers?messenger_id=1')).toMatchObject({ status: 404, body: { detail: 'User not found' } });
    expect(await web.get(`/promo-offers?messenger_id=${other.messengerId}&user_id=${user.user.id}`)).toMatchObject({
      status: 400,
      body: { detail: 'messenger_id does not match the provided user_id' },
    });
  });

  it.each([
    ['no user', {}, 400, 'user_id or messenger_id is required'],
    ['an unknown user', { user_id: UNKNOWN }, 404, 'User not found'],
    ['a user beyond any id', { user_id: 9_000_000_000 }, 404, 'User not found'],
    ['an unknown messenger id', { messenger_id: 1 }, 404, 'User not found'],
    [
      'a blank type, before the unknown user',
      { user_id: UNKNOWN, notification_type: ' ' },
      400,
      'notification_type must not be empty',
    ],
    ['a blank effect', { user_id: UNKNOWN, effect_type: ' ' }, 400, 'effect_type must not be empty'],
  ])('refuses %s', async (_what, fields, status, detail) => {
    expect(await web.post('/promo-offers', aBody(fields))).toMatchObject({ status, body: { detail } });
  });

  it.each([
    ['notification_type', { notification_type: 'x'.repeat(51) }],
    ['discount_percent', { discount_percent: 101 }],
    ['valid_hours', { valid_hours: 0 }],
    ['valid_hours', { valid_hours: 1e9 }],
    ['bonus_amount_kopeks', { bonus_amount_kopeks: -1 }],
    ['extra_data', { extra_data: [] }],
    ['effect_type', { effect_type: '' }],
    ['user_id', { user_id: 0 }],
  ])('spec 04 section 9.6: %s out of bounds is 422', async (field, fields) => {
    const reply = await web.post('/promo-offers', aBody({ user_id: user.user.id, ...fields }));
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(['body', field]);
    const sent = await web.post('/promo-offers/broadcast', aBody({ user_id: user.user.id, ...fields }));
    expect(sent.status).toBe(422);
  });

  it('broadcasts: answers created_offers, user_ids and the target by its name', async () => {
    const body = aBody({ messenger_id: user.user.messengerId });
    const reply = await web.post('/promo-offers/broadcast', body);
    expect(reply.body).toEqual({ created_offers: 1, user_ids: [user.user.id], target: null });
    const unsupported = await web.post('/promo-offers/broadcast', aBody({ target: 'tariff_1' }));
    expect(unsupported).toMatchObject({
      status: 422,
      body: {
        detail: [
          { loc: ['body', 'target'], type: 'value_error', msg: 'Value error, Unsupported target value', input: 'tariff_1' },
        ],
      },
    });
    expect((await web.post('/promo-offers/broadcast', aBody())).status).toBe(400);
  });

  it('an unknown offer or template is 404', async () => {
    for (const id of [UNKNOWN, 9_000_000_000, 0]) {
      expect(await web.get(`/promo-offers/${id}`)).toMatchObject({ status: 404, body: { detail: 'Promo offer not found' } });
      const gone = { status: 404, body: { detail: 'Promo offer template not found' } };
      expect(await web.get(`/promo-offers/templates/${id}`)).toMatchObject(gone);
      expect(await web.patch(`/promo-offers/templates/${id}`, {})).toMatchObject(gone);
      expect(await admin.get(`${ADMIN}/templates/${id}`)).toMatchObject({ status: 404, body: { detail: 'Template not found' } });
    }
  });
});

describe.each([
  ['/promo-offers', () => web],
  [ADMIN, () => admin],
] as const)('%s/templates', (base, client) => {
  it('starts with three, by type, and a change keeps what it does not name', async () => {
    const list = await client().get(`${base}/templates`);
    expect(list.body.items.map((item: { offer_type: string }) => item.offer_type)).toEqual([
      ...['extend_discount', 'purchase_discount', 'test_access'],
    ]);
    const { id, ...before } = list.body.items[2];
    expect(before).toMatchObject({ valid_hours: 24, test_duration_hours: 24, discount_percent: 0, test_squad_uuids: [] });
    const changed = await client().patch(`${base}/templates/${id}`, { test_squad_uuids: [' a ', '', 'b'], name: null });
    expect(changed.body).toMatchObject({ name: before.name, test_squad_uuids: ['a', 'b'] });
    expect((await client().get(`${base}/templates/${id}`)).body).toEqual(changed.body);
    expect((await client().patch(`${base}/templates/${id}`, { discount_percent: 101 })).status).toBe(422);
    expect((await client().patch(`${base}/templates/${id}`, { name: ' ' })).status).toBe(422);
    await client().patch(`${base}/templates/${id}`, { test_squad_uuids: [] });
  });
});

describe('Admin Promo Offers', () => {
  it('broadcasts with e-mail in the list and before and after in the audit log', async () => {
    const { target, users } = await aSegment(t.app, 2);
    const type = `audit-${unique()}`;
    const reply = await admin.post(`${ADMIN}/broadcast`, aBody({ notification_type: type, target, discount_percent: 10 }));
    const ids = users.map(({ id }) => id).sort((a, b) => a - b);
    expect(reply.body).toEqual({ created_offers: 2, user_ids: ids, target, notifications_sent: 0, notifications_failed: 0 });
    const list = await admin.get(`${ADMIN}?user_id=${users[0]!.id}&is_active=true`);
    expect(list.body).toMatchObject({ total: 1, items: [{ notification_type: type, user: { id: users[0]!.id, email: null } }] });
    expect(list.body.items[0]).not.toHaveProperty('subscription');
    const [row] = await t.app.db.sql<{ details: { before: unknown; after: Record<string, unknown> } }>(
      `SELECT details FROM admin_audit_log WHERE user_id = $1::int AND request_method = 'POST' ORDER BY id DESC LIMIT 1`,
      [admin.user.id],
    );
    expect(row!.details).toMatchObject({ after: { notificationType: type, target, discountPercent: 10 } });
  });

  it('counts users who cannot be notified as failed', async () => {
    const mailOnly = await aUser(t.app, { email: `offer${unique()}@example.com` });
    await t.app.db.sql('UPDATE users SET messenger_id = NULL WHERE id = $1::int RETURNING id', [mailOnly.id]);
    const reply = await admin.post(`${ADMIN}/broadcast`, aBody({ user_id: mailOnly.id, send_notification: true }));
    expect(reply.body).toMatchObject({ created_offers: 1, notifications_sent: 0, notifications_failed: 1 });
  });

  it('records a changed template with before and after', async () => {
    const { id, name } = (await admin.get(`${ADMIN}/templates`)).body.items[0];
    await admin.patch(`${ADMIN}/templates/${id}`, { name: `${name}!` });
    const [row] = await t.app.db.sql<{ details: Record<string, unknown> }>(
      `SELECT details FROM admin_audit_log WHERE user_id = $1::int AND request_method = 'PATCH' ORDER BY id DESC LIMIT 1`,
      [admin.user.id],
    );
    expect(row!.details).toMatchObject({ before: { name }, after: { name: `${name}!` } });
    await admin.patch(`${ADMIN}/templates/${id}`, { name });
  });

  it('needs its permissions', async () => {
    const reader = await adminClient(t.app, server, ['promo_offers:read']);
    expect((await reader.get(ADMIN)).status).toBe(200);
    expect((await reader.post(`${ADMIN}/broadcast`, aBody({ target: 'all' }))).status).toBe(403);
    expect((await reader.patch(`${ADMIN}/templates/1`, {})).status).toBe(403);
    expect((await user.get(ADMIN)).status).toBe(403);
    for (const path of [ADMIN, '/promo-offers', '/cabinet/promo/offers'])
      expect((await clientOf(server).get(path)).status).toBe(401);
  });
});

describe('Cabinet Promo', () => {
  it('shows own offers that have not run out, claims one, and shows it claimed', async () => {
    const me = await userClient(t.app, server, { language: 'en' });
    const over = await anOffer({ user_id: me.user.id });
    await t.app.db.sql('UPDATE discount_offers SET expires_at = $2::timestamptz WHERE id = $1::int RETURNING id', [
      over.id,
      t.app.clock.now(),
    ]);
    const offer = await anOffer({ user_id: me.user.id, extra_data: { active_discount_hours: 6 } });
    const fresh = {
      id: offer.id,
      notification_type: offer.notification_type,
      discount_percent: 15,
      effect_type: 'percent_discount',
      expires_at: offer.expires_at,
      is_active: true,
      is_claimed: false,
      claimed_at: null,
      extra_data: { active_discount_hours: 6 },
    };
    expect((await me.get('/cabinet/promo/offers')).body).toEqual([fresh]);
    const now = t.app.clock.now().getTime();
    const expiresAt = new Date(now + 6 * HOUR_MS).toISOString();
    const claimed = await me.post('/cabinet/promo/claim', { offer_id: offer.id });
    expect(claimed.body).toEqual({
      success: true,
      message: 'Your 15% discount is on',
      discount_percent: 15,
      expires_at: expiresAt,
    });
    expect((await me.get('/cabinet/promo/offers')).body).toEqual([
      { ...fresh, is_active: false, is_claimed: true, claimed_at: new Date(now).toISOString() },
    ]);
    expect(await me.post('/cabinet/promo/claim', { offer_id: offer.id })).toMatchObject({
      status: 400,
      body: { detail: 'This offer has already been claimed' },
    });
    expect(await me.post('/cabinet/promo/claim', { offer_id: over.id })).toMatchObject({
      status: 400,
      body: { detail: 'This offer has expired' },
    });
    expect(await user.post('/cabinet/promo/claim', { offer_id: offer.id })).toMatchObject({
      status: 404,
      body: { detail: 'Offer not found' },
    });
    expect((await me.get('/cabinet/promo/active-discount')).body).toEqual({
      discount_percent: 15,
      source: offer.notification_type,
      expires_at: expiresAt,
      is_active: true,
    });
    expect((await me.delete('/cabinet/promo/active-discount')).body).toEqual({ message: 'Active discount cleared' });
    expect((await me.get('/cabinet/promo/active-discount')).body).toMatchObject({ discount_percent: 0, is_active: false });

    const logs = async (query: string) => (await web.get(`/promo-offers/logs?user_id=${me.user.id}&${query}`)).body;
    expect((await logs('')).items).toMatchObject([{ action: 'disabled' }, { action: 'claimed' }]);
    expect(await logs('action=claimed')).toMatchObject({
      total: 1,
      items: [
        {
          offer_id: offer.id,
          source: offer.notification_type,
          percent: 15,
          effect_type: 'percent_discount',
          user: { id: me.user.id },
          offer: { id: offer.id, is_active: false, discount_percent: 15 },
        },
      ],
    });
    expect(await logs(`offer_id=${over.id}&source=${over.notification_type}`)).toMatchObject({ total: 1 });
    expect(await logs('source=none')).toMatchObject({ total: 0 });
    expect((await admin.get(`${ADMIN}/logs?user_id=${me.user.id}&action=disabled`)).body).toMatchObject({ total: 1 });
  });

  it('group discounts: zeros without a group, else those of the primary one', async () => {
    const me = await userClient(t.app, server);
    await t.app.db.sql('UPDATE users SET promo_group_id = NULL WHERE id = $1::int RETURNING id', [me.user.id]);
    const path = '/cabinet/promo/group-discounts';
    expect((await me.get(path)).body).toEqual({
      group_name: null,
      server_discount_percent: 0,
      traffic_discount_percent: 0,
      device_discount_percent: 0,
      period_discounts: {},
    });
    await aMembership(t.app, me.user.id, { name: `Gold ${unique()}`, server_discount_percent: 7, period_discounts: { 30: 5 } });
    expect((await me.get(path)).body).toMatchObject({
      group_name: expect.stringMatching(/^Gold/),
      server_discount_percent: 7,
      period_discounts: { '30': 5 },
    });
  });

  it('loyalty tiers: by spending, whatever the group', async () => {
    const me = await userClient(t.app, server);
    const path = '/cabinet/promo/loyalty-tiers';
    expect((await me.get(path)).body).toMatchObject({ tiers: [], progress_percent: 0, current_spent_rubles: 0 });
    const tier = (name: string, kopeks: number) =>
      aMembership(t.app, user.user.id, {
        name: `${name} ${unique()}`,
        auto_assign_total_spent_kopeks: kopeks,
        period_discounts: { 30: 5 },
      });
    const [low, high] = [await tier('Low', 10_000), await tier('High', 40_000)];
    await topUp(t.app, me.user.id, 10_050);
    await postMovement(t.app, {
      userId: me.user.id,
      type: 'subscription_payment',
      amountKopeks: -10_050,
      contra: { kind: 'sales_revenue', product: 'tariff' },
      paymentMethod: 'balance',
      description: null,
    });
    const { body } = await me.get(path);
    expect(body).toMatchObject({
      tiers: [
        { id: low, threshold_rubles: 100, is_current: true, is_achieved: true, period_discounts: { '30': 5 } },
        { id: high, threshold_rubles: 400, is_current: false, is_achieved: false },
      ],
      current_spent_rubles: 100.5,
      current_tier_name: expect.stringMatching(/^Low/),
      next_tier_name: expect.stringMatching(/^High/),
      next_tier_threshold_rubles: 400,
      progress_percent: 25.12,
    });
    await t.app.db.sql('UPDATE promo_groups SET auto_assign_total_spent_kopeks = NULL RETURNING id');
  });
});
