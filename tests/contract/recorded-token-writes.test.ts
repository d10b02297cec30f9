/**
 * API tokens have no rights that could be withheld, so what one of them does to the configuration is in the audit log with the
 * token's id (spec 06 section 17, hazard 19). The operations are read from the router: one is either recorded or named here with what
 * keeps it instead.
 */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildRouteTable } from '../../src/rest/route-table.ts';
import { appRouter } from '../../src/routers/root.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { NEW_BODIES } from './existing-things.ts';

const LEDGER = 'the ledger names who moved the money';
const CUSTOMER = 'one customer, many calls: the row and its events tell it';
const HISTORY = 'the layout keeps a history with author and content';
const NOTHING = 'changes nothing';
const TICKET = 'the ticket keeps its messages with their author';

/** Writes by token that the audit log does not keep, and why. */
const ELSEWHERE: Record<string, string> = {
  'POST /users': CUSTOMER,
  'PATCH /users/{user_id}': CUSTOMER,
  'POST /users/{user_id}/balance': LEDGER,
  'POST /users/{user_id}/subscription': CUSTOMER,
  'DELETE /users/{user_id}/subscription': CUSTOMER,
  'POST /subscriptions': CUSTOMER,
  'DELETE /subscriptions/{subscription_id}': CUSTOMER,
  'POST /subscriptions/{subscription_id}/extend': CUSTOMER,
  'POST /subscriptions/{subscription_id}/traffic': CUSTOMER,
  'POST /subscriptions/{subscription_id}/devices': CUSTOMER,
  'POST /subscriptions/{subscription_id}/squads': CUSTOMER,
  'DELETE /subscriptions/{subscription_id}/squads/{squad_uuid}': CUSTOMER,
  'POST /promo-offers': CUSTOMER,
  'POST /notifications/subscriptions': CUSTOMER,
  'POST /ban-notifications/send': NOTHING,
  'POST /upload': 'the file has its row, and affects nobody by itself',
};

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient & { tokenId: number };

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
});
afterAll(() => server.close());

function whyNotRecorded(name: string): string | undefined {
  if (name in ELSEWHERE) return ELSEWHERE[name];
  if (/ \/tickets\//.test(name)) return TICKET;
  if (/ \/menu-layout\/(validate|preview|stats\/log-click)$/.test(name)) return NOTHING;
  if (/ \/menu-layout\b/.test(name)) return HISTORY;
  return undefined;
}

test('every write by token is in the audit log, or kept elsewhere for a reason', () => {
  const writes = buildRouteTable(appRouter).filter((route) => route.meta.auth === 'KEY' && route.method !== 'GET');
  const names = writes.filter((route) => !route.meta.recordedAs).map((route) => `${route.method} ${route.path}`);
  expect(names.filter((name) => whyNotRecorded(name) === undefined)).toEqual([]);
  expect(Object.keys(ELSEWHERE).filter((name) => !names.includes(name))).toEqual([]);
  expect(writes.length - names.length).toBeGreaterThan(30);
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

test('a setting: what it was and is; a secret one only that it changed', async () => {
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
