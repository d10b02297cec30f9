import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import type { ApiClient } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { aLandingBody, aSlug, LANDINGS, type LandingFixture, landingFixture } from '../support/landing-fixture.ts';
import { aPaidPurchase, aPurchase } from '../support/purchase-samples.ts';
import type { ScriptedProvider } from '../support/scripted-provider.ts';
import type { TestApp } from '../support/test-app.ts';

const UNKNOWN = 2_147_000_000;
const base = LANDINGS;

let t: TestApp;
let server: FastifyInstance;
let guest: ApiClient;
let admin: ActorClient;
let provider: ScriptedProvider;
let create: LandingFixture['create'];
let aSalesPage: LandingFixture['aSalesPage'];
let reset: LandingFixture['reset'];

beforeAll(async () => {
  ({ t, server, guest, admin, provider, create, aSalesPage, reset } = await landingFixture());
});
afterAll(() => server.close());
beforeEach(() => reset());

describe('administration', () => {
  it('creates with defaults and reads back', async () => {
    const made = await admin.post(base, { slug: 'plain' });
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({
      slug: 'plain',
      title: { ru: '' },
      subtitle: null,
      is_active: true,
      display_order: 0,
      features: [],
      allowed_tariff_ids: [],
      allowed_periods: {},
      payment_methods: [],
      gift_enabled: true,
      discount_percent: null,
      background_config: null,
      created_at: t.app.clock.now().toISOString(),
    });
    expect((await admin.get(`${base}/${made.body.id}`)).body).toEqual(made.body);
  });

  it('keeps everything it is sent', async () => {
    const now = t.app.clock.now();
    const full = {
      slug: aSlug(),
      title: { ru: 'а', en: 'b' },
      subtitle: 'sub',
      is_active: false,
      features: [{ icon: 'i', title: { ru: 't' }, description: { en: 'd' } }],
      footer_text: { fa: 'f' },
      allowed_tariff_ids: [1, 2],
      allowed_periods: { 1: [30, 90] },
      payment_methods: [
        {
          method_id: 'yookassa',
          display_name: 'Card',
          description: 'd',
          icon_url: '/icons/card.svg',
          sort_order: 3,
          min_amount_kopeks: 0,
          max_amount_kopeks: 100,
          currency: 'rub',
          return_url: 'https://shop.example.com/{token}',
          sub_options: { sbp: false },
        },
      ],
      gift_enabled: false,
      custom_css: 'a{}',
      meta_title: { zh: 'm' },
      meta_description: 'md',
      discount_percent: 5,
      discount_overrides: { 2: 99 },
      discount_starts_at: '2026-05-01T00:00:00',
      discount_ends_at: '2026-06-01T00:00:00+03:00',
      discount_badge_text: 'b',
      background_config: { enabled: true, type: 'grid', settings: { gap: 1 } },
    };
    const made = await admin.post(base, full);
    expect(made.body).toEqual({
      ...full,
      id: expect.any(Number),
      display_order: 0,
      subtitle: { ru: 'sub' },
      meta_description: { ru: 'md' },
      discount_badge_text: { ru: 'b' },
      discount_starts_at: '2026-05-01T00:00:00.000Z',
      discount_ends_at: '2026-05-31T21:00:00.000Z',
      payment_methods: [{ ...full.payment_methods[0], currency: 'RUB' }],
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    });
  });

  const method = (fields: object) => ({ payment_methods: [{ method_id: 'x', display_name: 'X', ...fields }] });
  it.each([
    { slug: 'Big' },
    { slug: 'a_b' },
    { slug: '' },
    { slug: 'x'.repeat(101) },
    { title: { de: 'x' } },
    { title: { ru: 'x'.repeat(501) } },
    { subtitle: 'x'.repeat(1001) },
    { footer_text: { en: 'x'.repeat(5001) } },
    { meta_title: 'x'.repeat(201) },
    { meta_description: 'x'.repeat(501) },
    { discount_badge_text: 'x'.repeat(201) },
    { features: [{ title: 'x'.repeat(201) }] },
    { features: [{ description: 'x'.repeat(501) }] },
    { features: Array.from({ length: 21 }, () => ({})) },
    { allowed_tariff_ids: Array.from({ length: 51 }, (_, index) => index) },
    { allowed_periods: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [index, [30]])) },
    { allowed_periods: { 1: Array.from({ length: 21 }, (_, index) => index + 1) } },
    { custom_css: 'x'.repeat(10_001) },
    { discount_percent: 0 },
    { discount_overrides: { x: 5 } },
    { discount_overrides: { 1: 100 } },
    { background_config: { enabled: true, type: 'fireworks' } },
    { background_config: { enabled: true, type: 'dots', opacity: 2 } },
    method({ min_amount_kopeks: -1 }),
    method({ min_amount_kopeks: 2, max_amount_kopeks: 1 }),
    method({ sub_options: { ['k'.repeat(51)]: true } }),
    method({ sub_options: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, true])) }),
  ])('422 on creation and change: %j', async (fields) => {
    const { id } = await create();
    expect((await admin.post(base, aLandingBody(fields))).status).toBe(422);
    expect((await admin.put(`${base}/${id}`, fields)).status).toBe(422);
  });

  it.each([
    method({ icon_url: 'http://x.example.com/i.png' }),
    method({ icon_url: 'javascript:alert(1)' }),
    method({ icon_url: '//evil.example.com/i.png' }),
    method({ return_url: 'http://x.example.com/' }),
    method({ return_url: 'https://user:pass@x.example.com/' }),
    method({ return_url: 'https://' }),
    method({ return_url: 'javascript:alert(1)' }),
    method({ icon_url: 'data:image/svg+xml,<svg onload=alert(1)>' }),
  ])('spec 03 H23: an address that strangers get is https: 422 for %j', async (fields) => {
    const { id } = await create();
    expect((await admin.post(base, aLandingBody(fields))).status).toBe(422);
    expect((await admin.put(`${base}/${id}`, fields)).status).toBe(422);
  });

  it.each([
    { discount_starts_at: '2026-05-01T00:00:00Z' },
    { discount_percent: 5 },
    { discount_percent: 5, discount_starts_at: '2026-05-01T00:00:00Z' },
    { discount_percent: 5, discount_starts_at: '2026-05-02T00:00:00Z', discount_ends_at: '2026-05-01T00:00:00Z' },
    {
      discount_percent: 5,
      discount_starts_at: '2026-05-01T00:00:00Z',
      discount_ends_at: '2026-05-02T00:00:00Z',
      allowed_tariff_ids: [1],
      discount_overrides: { 2: 5 },
    },
  ])('422 for a new page with %j', async (fields) => {
    expect((await admin.post(base, aLandingBody(fields))).status).toBe(422);
  });

  it('spec 10 X24: a discount without end is refused at the body', async () => {
    const fields = { discount_percent: 5, discount_starts_at: '2026-05-01T00:00:00Z' };
    expect((await admin.post(base, aLandingBody(fields))).body.detail).toMatchObject([{ loc: ['body'], type: 'value_error' }]);
  });

  it('refuses reserved and taken slugs', async () => {
    const [one, two] = [await create(), await create()];
    const reserved = await admin.post(base, aLandingBody({ slug: 'purchase' }));
    expect([reserved.status, reserved.body.detail]).toEqual([400, 'Slug "purchase" is reserved and cannot be used']);
    const taken = { detail: `Landing page with slug "${one.slug}" already exists` };
    const again = await admin.post(base, aLandingBody({ slug: one.slug }));
    expect([again.status, again.body]).toEqual([409, taken]);
    const renamed = await admin.put(`${base}/${two.id}`, { slug: one.slug });
    expect([renamed.status, renamed.body]).toEqual([409, taken]);
    expect((await admin.put(`${base}/${two.id}`, { slug: 'admin' })).status).toBe(400);
    expect((await admin.put(`${base}/${one.id}`, { slug: one.slug })).status).toBe(200);
  });

  it('changes what is sent, clears by null what may be empty, and takes a discount as a whole or not at all', async () => {
    const { id } = await create({ subtitle: 'sub', title: { ru: 'а' } });
    const put = (body: object) => admin.put(`${base}/${id}`, body);
    expect((await put({ is_active: false })).body).toMatchObject({
      is_active: false,
      subtitle: { ru: 'sub' },
      title: { ru: 'а' },
    });
    expect((await put({ subtitle: null, title: null, features: null })).body).toMatchObject({
      subtitle: null,
      title: { ru: 'а' },
    });
    const half = await put({ discount_percent: 10 });
    expect(half.status).toBe(400);
    const dates = { discount_starts_at: '2026-05-01T00:00:00Z', discount_ends_at: '2026-05-02T00:00:00Z' };
    expect((await put({ discount_percent: 10, ...dates, discount_overrides: { 1: 5 }, discount_badge_text: 'x' })).status).toBe(
      200,
    );
    const reversed = await put({ discount_ends_at: '2026-04-01T00:00:00Z' });
    expect([reversed.status, reversed.body.detail]).toEqual([400, 'discount_starts_at must be before discount_ends_at']);
    expect((await put({ discount_starts_at: null })).status).toBe(400);
    expect((await put({ discount_percent: null })).body).toMatchObject({
      discount_percent: null,
      discount_overrides: null,
      discount_starts_at: null,
      discount_ends_at: null,
      discount_badge_text: null,
    });
  });

  it('orders, toggles, deletes and lists', async () => {
    const [one, two, three] = [await create(), await create(), await create()];
    expect((await admin.put(`${base}/order`, { landing_ids: [three.id, one.id, UNKNOWN, three.id, 2 ** 40] })).body).toEqual({
      success: true,
    });
    const listed = async () => (await admin.get(base)).body.map((item: { id: number }) => item.id);
    expect(await listed()).toEqual([three.id, one.id, two.id]);
    expect((await admin.post(`${base}/${one.id}/toggle`)).body).toMatchObject({ id: one.id, is_active: false });
    expect((await admin.post(`${base}/${one.id}/toggle`)).body).toMatchObject({ is_active: true });
    expect((await admin.delete(`${base}/${one.id}`)).body).toEqual({ success: true });
    expect(await listed()).toEqual([three.id, two.id]);
  });

  it('counts purchases in the list and in the statistics', async () => {
    const { landing, tariffId } = await aSalesPage();
    const storefront = { landing: { ...landing, slug: landing.slug }, tariffId } as never;
    await aPurchase(t.app, storefront);
    const paid = await aPaidPurchase(t.app, provider, storefront);
    const gift = await aPaidPurchase(t.app, provider, storefront, {
      isGift: true,
      recipient: { type: 'email', value: `gift${unique()}@example.com` },
    });
    await t.app.db.sql("UPDATE guest_purchases SET status = 'failed' WHERE id = $1::int RETURNING id", [paid.id]);
    const [item] = (await admin.get(base)).body;
    expect(item).toMatchObject({
      tariff_count: 1,
      method_count: 1,
      has_active_discount: false,
      purchase_stats: { total: 3, pending: 1, paid: 1, failed: 1, delivered: 0, expired: 0, pending_activation: 0 },
    });
    const stats = (await admin.get(`${base}/${landing.id}/stats`)).body;
    expect(stats).toMatchObject({
      total_purchases: 3,
      total_created: 3,
      total_successful: 1,
      total_revenue_kopeks: 30_000,
      total_gifts: 1,
      total_regular: 0,
      avg_purchase_kopeks: 30_000,
      conversion_rate: 33.3,
      tariff_stats: [{ tariff_id: tariffId, purchases: 1, revenue_kopeks: 30_000 }],
    });
    expect(stats.daily_stats).toHaveLength(31);
    const today = t.app.clock.now().toISOString().slice(0, 10);
    expect(stats.daily_stats.at(-1)).toEqual({ date: today, created: 3, purchases: 1, revenue_kopeks: 30_000, gifts: 1 });
    expect(stats.daily_stats[0]).toMatchObject({ created: 0, purchases: 0 });
    const page = async (query: string) => (await admin.get(`${base}/${landing.id}/purchases?${query}`)).body;
    expect(await page('status=paid')).toMatchObject({ total: 1, items: [{ id: gift.id, is_gift: true }] });
    expect((await page('limit=1&offset=1')).items).toMatchObject([{ id: paid.id }]);
    expect(await page('offset=99')).toEqual({ items: [], total: 3 });
    await t.app.db.sql('UPDATE guest_purchases SET tariff_id = NULL WHERE id = $1::int RETURNING id', [gift.id]);
    expect((await page('status=paid')).items[0].tariff_name).toBe('Unknown');
    expect((await admin.get(`${base}/${landing.id}/stats`)).body.tariff_stats).toMatchObject([
      { tariff_id: null, tariff_name: 'Unknown' },
    ]);
    for (const query of ['limit=0', 'limit=101', 'offset=-1', 'status=refunded']) {
      expect((await admin.get(`${base}/${landing.id}/purchases?${query}`)).status).toBe(422);
    }
  });

  it('is 404 for an unknown page', async () => {
    const calls = [
      ...[UNKNOWN, 2 ** 40].map((id) => admin.get(`${base}/${id}`)),
      admin.put(`${base}/${UNKNOWN}`, {}),
      admin.delete(`${base}/${UNKNOWN}`),
      admin.post(`${base}/${UNKNOWN}/toggle`),
      admin.get(`${base}/${UNKNOWN}/stats`),
      admin.get(`${base}/${UNKNOWN}/purchases`),
    ];
    for (const reply of await Promise.all(calls)) {
      expect([reply.status, reply.body]).toEqual([404, { detail: 'Landing page not found' }]);
    }
  });

  it('needs the permission of each action, and leaves audit rows with before and after', async () => {
    const { id } = await create();
    const reader = await adminClient(t.app, server, ['landings:read']);
    expect((await reader.get(`${base}/${id}`)).status).toBe(200);
    for (const reply of [
      await reader.post(base, aLandingBody()),
      await reader.put(`${base}/${id}`, {}),
      await reader.put(`${base}/order`, { landing_ids: [] }),
      await reader.post(`${base}/${id}/toggle`),
      await reader.delete(`${base}/${id}`),
      await guest.with({ authorization: `Bearer ${(await userClient(t.app, server)).accessToken}` }).get(base),
    ]) {
      expect(reply.status).toBe(403);
    }
    expect((await guest.get(base)).status).toBe(401);
    await admin.put(`${base}/${id}`, { gift_enabled: false });
    const [row] = await t.app.db.sql<{ details: { before: object; after: object } }>(
      "SELECT details FROM admin_audit_log WHERE resource_type = 'landings' AND resource_id = $1 AND action = 'landings:edit' AND status = 'success' ORDER BY id DESC LIMIT 1",
      [String(id)],
    );
    expect(row!.details).toMatchObject({ before: { giftEnabled: true }, after: { giftEnabled: false } });
  });
});
