/**
 * API tokens have no rights that could be withheld, so what one of them changes is in the audit log with the
 * token's id (spec 06 section 17, hazard 19; spec 10 O1). The operations are read from the router.
 */

import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { servedRoutes } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { NEW_BODIES } from './existing-things.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient & { tokenId: number };

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
});
afterAll(() => server.close());

test('spec 10 O1: every write by token is in the audit log', () => {
  const writes = servedRoutes.filter((route) => route.meta.auth === 'KEY' && route.method !== 'GET');
  const names = writes.filter(({ meta }) => !meta.recordedAs && !meta.unaudited).map((route) => `${route.method} ${route.path}`);
  expect(names).toEqual([]);
});

interface Row {
  action: string;
  token: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  text: string;
}

/** The newest row of the path. */
async function recorded(path: string): Promise<Row> {
  const [row] = await t.app.db.sql<Row>(
    `SELECT action, details->>'api_token_id' AS token, details->'before' AS before, details->'after' AS after, details::text AS text
     FROM admin_audit_log WHERE request_path = $1 AND status = 'success' ORDER BY id DESC LIMIT 1`,
    [path],
  );
  expect(row, path).toMatchObject({ token: String(api.tokenId) });
  return row!;
}

test.each([
  ['/tokens', null],
  ['/webhooks', { name: 'Other till' }],
  ['/promo-groups', { server_discount_percent: 9 }],
  ['/promo-codes', { max_uses: 7 }],
  ['/campaigns', { name: 'Autumn' }],
  ['/servers', { priceKopeks: 12_300 }],
  ['/contests/referral', { prize_text: 'Two years of service' }],
  ['/polls', null],
  ['/main-menu/buttons', { text: 'Shop' }],
  ['/main-menu/messages', { message_text: 'Bye' }],
  ['/welcome-texts', { is_enabled: false }],
])('%s: made, changed and deleted are three rows that tell what was and what is', async (path, change) => {
  const made = await api.post(path, NEW_BODIES[path]!());
  expect(made.status, made.text).toBeLessThan(300);
  const creation = await recorded(path);
  expect(creation.before ?? null).toBeNull();
  expect(creation.after).not.toBeNull();
  expect(creation.text).not.toContain('never-in-a-log');
  const one = `${path}/${made.body.id}`;
  if (change) {
    expect(await api.patch(one, change)).toMatchObject({ status: 200 });
    const { before, after } = await recorded(one);
    expect(before).not.toBeNull();
    expect(after).not.toEqual(before);
  }
  expect((await api.delete(one)).status).toBeLessThan(300);
  const { action, before } = await recorded(one);
  expect(action).toMatch(/:(delete|edit)$/);
  expect(before).not.toBeNull();
});

test('a setting: what it was and is, but of a secret one only that it changed', async () => {
  const path = '/settings/SMTP_PASSWORD';
  expect((await api.put(path, { value: 'a-mail-box-secret' })).status).toBe(200);
  expect(await recorded(path)).toMatchObject({ action: 'settings:edit', text: expect.not.stringContaining('mail-box') });
  expect((await api.delete(path)).status).toBe(200);
  expect((await recorded(path)).text).not.toContain('mail-box');
  const plain = '/settings/MAINTENANCE_MESSAGE';
  await api.put(plain, { value: 'Back at ten' });
  expect((await recorded(plain)).after).toMatchObject({ key: 'MAINTENANCE_MESSAGE', value: 'Back at ten' });
  await api.delete(plain);
  expect((await recorded(plain)).before).toMatchObject({ value: 'Back at ten' });
});

test('pages: each write tells what was and what is', async () => {
  await api.put('/pages/public-offer', { language: 'audited', content: 'one' });
  expect(await recorded('/pages/public-offer')).toMatchObject({ before: null, after: { content: 'one' } });
  await api.put('/pages/public-offer', { language: 'audited', content: 'two' });
  expect(await recorded('/pages/public-offer')).toMatchObject({ before: { content: 'one' }, after: { content: 'two' } });

  const { id } = (await api.post('/pages/faq', { language: 'audited', title: 'How?', content: 'So.' })).body;
  expect(await recorded('/pages/faq')).toMatchObject({ action: 'pages:create', before: null, after: { title: 'How?' } });
  await api.post('/pages/faq/reorder', { language: 'audited', items: [] });
  expect(await recorded('/pages/faq/reorder')).toMatchObject({ before: { order: [id] }, after: { order: [id] } });
  await api.put('/pages/faq/status', { language: 'audited', is_enabled: false });
  expect(await recorded('/pages/faq/status')).toMatchObject({ before: { isEnabled: true }, after: { isEnabled: false } });
  await api.put(`/pages/faq/${id}`, { title: 'Why?' });
  expect(await recorded(`/pages/faq/${id}`)).toMatchObject({ before: { title: 'How?' }, after: { title: 'Why?' } });
  await api.delete(`/pages/faq/${id}`);
  expect(await recorded(`/pages/faq/${id}`)).toMatchObject({ action: 'pages:delete', before: { title: 'Why?' }, after: null });

  const rules = '/pages/service-rules';
  const first = (await api.put(rules, { language: 'audited', content: 'one' })).body;
  await api.put(rules, { language: 'audited', content: 'two' });
  expect(await recorded(rules)).toMatchObject({ before: { content: 'one' }, after: { content: 'two' } });
  await api.post(`${rules}/history/${first.id}/restore`, undefined, { query: { language: 'audited' } });
  expect(await recorded(`${rules}/history/${first.id}/restore`)).toMatchObject({ before: { content: 'two' } });
  await api.delete(rules, { query: { language: 'audited' } });
  expect(await recorded(rules)).toMatchObject({ before: { content: 'one' }, after: null });
});

test('a token switched off and on, and a commission', async () => {
  const { id } = (await api.post('/tokens', { name: `Till ${unique()}` })).body;
  for (const [verb, isActive] of [
    ['revoke', false],
    ['activate', true],
  ] as const) {
    expect((await api.post(`/tokens/${id}/${verb}`)).status).toBe(200);
    const { before, after } = await recorded(`/tokens/${id}/${verb}`);
    expect([before, after]).toMatchObject([{ isActive: !isActive }, { isActive }]);
  }
  const commission = `/partners/referrers/${(await aUser(t.app)).id}/commission`;
  expect((await api.patch(commission, { referral_commission_percent: 41 })).status).toBe(200);
  expect(await recorded(commission)).toMatchObject({ action: 'partners:edit', after: { commissionPercent: 41 } });
});

test('spec 10 O1: what moves the money and the access of a customer names token, operation and customer', async () => {
  const user = await aUser(t.app);
  const one = `/users/${user.id}`;
  const added = await api.post(`${one}/balance`, { amount_kopeks: 12_300, description: 'Paid in the shop' });
  expect(added.status).toBe(200);
  expect(await recorded(`${one}/balance`)).toMatchObject({ action: 'users:balance', text: expect.stringContaining('12300') });
  for (const status of ['blocked', 'active']) {
    expect((await api.patch(one, { status })).status).toBe(200);
    expect(await recorded(one)).toMatchObject({ action: 'users:edit', text: expect.stringContaining(status) });
  }
  const made = await api.post(`${one}/subscription`, { duration_days: 30 });
  expect(made.status, made.text).toBe(200);
  expect(await recorded(`${one}/subscription`)).toMatchObject({ action: 'users:subscription' });
  const { id } = made.body.subscription ?? made.body;
  expect((await api.post(`/subscriptions/${id}/extend`, { days: 5 })).status).toBe(200);
  expect(await recorded(`/subscriptions/${id}/extend`)).toMatchObject({ action: 'users:subscription' });
  const offer = { user_id: user.id, notification_type: 'loyalty', valid_hours: 24, discount_percent: 10 };
  expect((await api.post('/promo-offers', offer)).status).toBeLessThan(300);
  expect(await recorded('/promo-offers')).toMatchObject({ action: 'promo_offers:create' });
});

test('spec 10 O1: a refused write is recorded too, with its status', async () => {
  const path = `/users/${(await aUser(t.app)).id}/balance`;
  expect((await api.post(path, { amount_kopeks: -100 })).status).toBe(400);
  const rows = await t.app.db.sql<{ status: string; token: string; code: string }>(
    "SELECT status, details->>'api_token_id' AS token, details->>'status_code' AS code FROM admin_audit_log WHERE request_path = $1",
    [path],
  );
  expect(rows).toEqual([{ status: 'error', token: String(api.tokenId), code: '400' }]);
});
