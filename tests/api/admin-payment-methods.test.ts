import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { METHODS, seedPaymentMethods } from '../../src/domain/payments/payment-methods.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const PATH = '/cabinet/admin/payment-methods';
const SHOWN = '/cabinet/balance/payment-methods';
const YOOKASSA = { YOOKASSA_ENABLED: 'true', YOOKASSA_SHOP_ID: 'shop', YOOKASSA_SECRET_KEY: 'test_secret_key_0123456789' };

let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;
let payer: ActorClient;
beforeAll(async () => {
  t = await testApp({ environment: YOOKASSA });
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['payment_methods:read', 'payment_methods:edit']);
  payer = await userClient(t.app, server, { language: 'en' });
});
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM payment_method_configs RETURNING method_id');
  await seedPaymentMethods(t.app);
});
afterAll(() => server.close());

const shown = async (client = payer) => (await client.get(SHOWN)).body as { id: string; [field: string]: unknown }[];
const shownYookassa = async (client = payer) => (await shown(client)).find(({ id }) => id === 'yookassa');
const change = (body: object, id = 'yookassa') => admin.put(`${PATH}/${id}`, body);

describe('spec 03 section 5.1: the list', () => {
  it('has every method in its order, with the stored values and the defaults', async () => {
    const { status, body } = await admin.get(PATH);
    expect(status).toBe(200);
    expect(body.map((row: { method_id: string }) => row.method_id)).toEqual(['sandbox', ...METHODS.map(({ id }) => id)]);
    expect(body.find((row: { method_id: string }) => row.method_id === 'yookassa')).toEqual({
      method_id: 'yookassa',
      sort_order: expect.any(Number),
      is_enabled: true,
      display_name: null,
      default_display_name: 'YooKassa',
      sub_options: { card: true, sbp: true },
      available_sub_options: [
        { id: 'card', name: expect.any(String) },
        { id: 'sbp', name: expect.any(String) },
      ],
      min_amount_kopeks: null,
      max_amount_kopeks: null,
      default_min_amount_kopeks: 5_000,
      default_max_amount_kopeks: 1_000_000,
      user_type_filter: 'all',
      first_topup_filter: 'any',
      promo_group_filter_mode: 'all',
      allowed_promo_group_ids: [],
      is_provider_configured: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const tribute = body.find((row: { method_id: string }) => row.method_id === 'tribute');
    expect(tribute).toMatchObject({
      available_sub_options: null,
      sub_options: null,
      is_provider_configured: false,
      is_enabled: false,
    });
    expect((await admin.get(`${PATH}/tribute`)).body).toEqual(tribute);
  });

  it('shows a stored method that is not known here with its id and the usual limits', async () => {
    await storeRow(t.app, 'PaymentMethodConfig', { methodId: 'old', sortOrder: 99 });
    expect((await admin.get(`${PATH}/old`)).body).toMatchObject({
      default_display_name: 'old',
      default_min_amount_kopeks: 1_000,
      default_max_amount_kopeks: 10_000_000,
      available_sub_options: null,
      is_provider_configured: false,
    });
  });

  it('lists promo groups by priority and name', async () => {
    const names = [`b${unique()}`, `a${unique()}`, `z${unique()}`];
    for (const [index, name] of names.entries()) {
      await storeRow(t.app, 'PromoGroup', { name, priority: index === 2 ? 900 : 800 });
    }
    const { body } = await admin.get(`${PATH}/promo-groups`);
    expect(body.filter(({ name }: { name: string }) => names.includes(name))).toEqual([
      { id: expect.any(Number), name: names[2] },
      { id: expect.any(Number), name: names[1] },
      { id: expect.any(Number), name: names[0] },
    ]);
  });

  it('refuses unknown methods, other permissions and people without them', async () => {
    for (const answer of [await admin.get(`${PATH}/nothing`), await change({ is_enabled: true }, 'nothing')]) {
      expect([answer.status, answer.body]).toEqual([404, { detail: 'Payment method not found: nothing' }]);
    }
    const reader = await adminClient(t.app, server, ['payment_methods:read']);
    expect((await reader.get(PATH)).status).toBe(200);
    expect((await reader.put(`${PATH}/yookassa`, { is_enabled: false })).status).toBe(403);
    expect((await reader.put(`${PATH}/order`, { method_ids: [] })).status).toBe(403);
    const other = await adminClient(t.app, server, ['payments:read', 'payments:edit']);
    for (const path of [PATH, `${PATH}/promo-groups`, `${PATH}/yookassa`]) {
      expect((await other.get(path)).status).toBe(403);
      expect((await payer.get(path)).status).toBe(403);
    }
  });
});

describe('PUT /order', () => {
  it('is not a method named order, and sets places by index, skipping unknown ids', async () => {
    const before = (await admin.get(PATH)).body.map((row: { method_id: string }) => row.method_id);
    const order = ['yookassa', 'nothing', 'tribute', 'yookassa'];
    const { status, body } = await admin.put(`${PATH}/order`, { method_ids: order });
    expect([status, body]).toEqual([200, { success: true }]);
    const places = Object.fromEntries(
      (await admin.get(PATH)).body.map((row: { method_id: string; sort_order: number }) => [row.method_id, row.sort_order]),
    );
    expect(places).toMatchObject({ yookassa: 0, tribute: 2 });
    await admin.put(`${PATH}/order`, { method_ids: [...before].reverse() });
    expect((await admin.get(PATH)).body.map((row: { method_id: string }) => row.method_id)).toEqual([...before].reverse());
    expect((await shown()).map(({ id }) => id)).toEqual(['yookassa', 'messenger_stars', 'sandbox']);
    expect((await admin.put(`${PATH}/order`, {})).status).toBe(422);
  });
});

describe('PUT /{method_id}', () => {
  it('decides what users see at once: name, limits, sub-options and whether it is offered', async () => {
    const { status, body } = await change({
      display_name: '  Card  ',
      min_amount_kopeks: 7_000,
      max_amount_kopeks: 70_000,
      sub_options: { card: false, sbp: true },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      display_name: 'Card',
      min_amount_kopeks: 7_000,
      max_amount_kopeks: 70_000,
      sub_options: { card: false, sbp: true },
      is_enabled: true,
    });
    expect(await shownYookassa()).toMatchObject({
      name: 'Card',
      min_amount_kopeks: 7_000,
      max_amount_kopeks: 70_000,
      options: [{ id: 'sbp', name: expect.any(String), description: expect.any(String) }],
    });
    await change({ is_enabled: false });
    expect(await shownYookassa()).toBeUndefined();
  });

  it('null and absent change nothing, while a blank name and the reset flags put the defaults back', async () => {
    const set = { display_name: 'Card', min_amount_kopeks: 7_000, max_amount_kopeks: 70_000, user_type_filter: 'email' };
    await change(set);
    const same = await change({
      is_enabled: null,
      display_name: null,
      sub_options: null,
      min_amount_kopeks: null,
      max_amount_kopeks: null,
      user_type_filter: null,
      first_topup_filter: null,
      promo_group_filter_mode: null,
      allowed_promo_group_ids: null,
    });
    expect(same.body).toMatchObject({ ...set, sub_options: { card: true, sbp: true } });
    expect((await change({ sub_options: {} })).body).toMatchObject({ sub_options: { card: true, sbp: true } });
    expect((await change({ display_name: ' ' })).body).toMatchObject({ display_name: null, min_amount_kopeks: 7_000 });
    await change({ display_name: 'Card' });
    const reset = await change({
      reset_display_name: true,
      reset_min_amount: true,
      reset_max_amount: true,
      display_name: 'Other',
    });
    expect(reset.body).toMatchObject({ display_name: null, min_amount_kopeks: null, max_amount_kopeks: null });
  });

  it('a minimum above the maximum is 422, also against a stored limit or a default, and changes nothing', async () => {
    const refused = async (body: object) => {
      const answer = await change(body);
      expect([answer.status, answer.body.detail?.[0]?.type]).toEqual([422, 'value_error']);
    };
    await refused({ min_amount_kopeks: 2_000, max_amount_kopeks: 1_999 });
    // The defaults are 5,000 and 1,000,000.
    await refused({ min_amount_kopeks: 1_000_001 });
    await refused({ max_amount_kopeks: 4_999 });
    expect((await change({ min_amount_kopeks: 60_000, max_amount_kopeks: 60_000 })).status).toBe(200);
    await refused({ max_amount_kopeks: 59_999 });
    await change({ max_amount_kopeks: 2_000_000 });
    await change({ min_amount_kopeks: 1_500_000 });
    await refused({ reset_max_amount: true });
    expect((await admin.get(`${PATH}/yookassa`)).body).toMatchObject({
      min_amount_kopeks: 1_500_000,
      max_amount_kopeks: 2_000_000,
    });
    // What the settings say may change later; a request about something else is not refused for it.
    await change({ min_amount_kopeks: 4_000, reset_max_amount: true });
    await t.app.db.sql(
      "UPDATE payment_method_configs SET min_amount_kopeks = 3000000 WHERE method_id = 'yookassa' RETURNING method_id",
    );
    expect((await change({ is_enabled: false })).status).toBe(200);
  });

  it.each([
    [{ sub_options: { crypto: true } }, 'value_error'],
    [{ sub_options: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`o${n}`, true])) }, 'value_error'],
    [{ sub_options: { ['x'.repeat(51)]: true } }, 'value_error'],
    [{ display_name: 'x'.repeat(256) }, 'string_too_long'],
    [{ min_amount_kopeks: -1 }, 'greater_than_equal'],
    [{ max_amount_kopeks: 1.5 }, 'int_from_float'],
    [{ user_type_filter: 'telegram' }, 'string_pattern_mismatch'],
    [{ first_topup_filter: 'maybe' }, 'string_pattern_mismatch'],
    [{ promo_group_filter_mode: 'some' }, 'string_pattern_mismatch'],
  ])('refuses %j with 422 %s', async (body, type) => {
    const answer = await change(body);
    expect([answer.status, answer.body.detail?.[0]?.type]).toEqual([422, type]);
  });

  it('a method without sub-options takes none', async () => {
    expect((await change({ sub_options: { card: true } }, 'tribute')).status).toBe(422);
  });

  it('filters by groups: unknown ids are left out, an empty set admits everyone', async () => {
    const group = await storeRow(t.app, 'PromoGroup', { name: `g${unique()}` });
    const { body } = await change({
      promo_group_filter_mode: 'selected',
      allowed_promo_group_ids: [2_147_483_000, group.id, 9e15],
    });
    expect(body).toMatchObject({ promo_group_filter_mode: 'selected', allowed_promo_group_ids: [group.id] });
    expect(await shownYookassa()).toBeUndefined();
    await storeRow(t.app, 'UserPromoGroup', { userId: payer.user.id, promoGroupId: group.id });
    expect(await shownYookassa()).toBeDefined();
    const other = await userClient(t.app, server);
    expect(await shownYookassa(other)).toBeUndefined();
    expect((await change({ allowed_promo_group_ids: [] })).body).toMatchObject({ allowed_promo_group_ids: [] });
    expect(await shownYookassa(other)).toBeDefined();
  });

  it('records in the audit log what was and what is', async () => {
    await change({ display_name: 'Audited' });
    const [row] = await t.app.db.sql<{ details: { before: object; after: object }; resourceId: string; action: string }>(
      'SELECT details, resource_id, action FROM admin_audit_log ORDER BY id DESC LIMIT 1',
    );
    expect(row).toMatchObject({
      action: 'payment_methods:edit',
      resourceId: 'yookassa',
      details: { before: { displayName: null }, after: { displayName: 'Audited' } },
    });
  });
});
