import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Rows } from '../../src/core/db/columns.ts';
import { topupBalance } from '../../src/domain/payments/topup-balance.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { moneyFacts, paymentFacts } from '../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const PATH = '/cabinet/admin/payments';
const HOUR = 3_600_000;

let t: TestApp;
let app: TestApp['app'];
let provider: ScriptedProvider;
let server: FastifyInstance;
let admin: ActorClient;
let payer: ActorClient;
beforeAll(async () => {
  provider = new ScriptedProvider();
  t = await testApp();
  app = await withProvider(t.app, provider);
  server = await testServer(app);
  admin = await adminClient(app, server, ['payments:read', 'payments:edit']);
  await app.db.sql("UPDATE users SET language = 'en' WHERE id = $1::int RETURNING id", [admin.user.id]);
  payer = await userClient(app, server);
});
beforeEach(async () => {
  await app.db.sql('DELETE FROM payments WHERE transaction_id IS NULL RETURNING id');
  // A credited payment cannot be deleted.
  await app.db.sql("UPDATE payments SET created_at = '2001-01-01' RETURNING id");
});
afterAll(() => server.close());

interface Facts {
  method?: string;
  userId?: number | null;
  outcome?: Rows['Payment']['outcome'];
  status?: string;
  isPaid?: boolean;
  hoursAgo?: number;
  externalId?: string | null;
  orderId?: string;
  chargeId?: string | null;
  purpose?: string;
  paymentUrl?: string | null;
}

async function aPayment(facts: Facts = {}): Promise<number> {
  const { outcome = 'pending', hoursAgo = 1 } = facts;
  const row = await storeRow(app, 'Payment', {
    method: facts.method ?? 'yookassa',
    userId: facts.userId === undefined ? payer.user.id : facts.userId,
    orderId: facts.orderId ?? `order-${unique()}`,
    externalId: facts.externalId === undefined ? `ext-${unique()}` : facts.externalId,
    chargeId: facts.chargeId ?? null,
    amountKopeks: 12_345,
    status: facts.status ?? outcome,
    outcome,
    isPaid: facts.isPaid ?? false,
    purpose: facts.purpose ?? 'guest_purchase',
    paymentUrl: facts.paymentUrl ?? null,
    createdAt: new Date(app.clock.now().getTime() - hoursAgo * HOUR),
  });
  return row.id;
}

const waiting = { purpose: 'balance_topup' };
const idsOf = (answer: { body: { items: { id: number }[] } }) => answer.body.items.map(({ id }) => id);
const search = (query: Record<string, string | number> = {}) => admin.get(`${PATH}/search`, { query });
const found = async (query: Record<string, string | number> = {}) => idsOf(await search(query));

describe('spec 03 sections 4.1 and 4.4: GET /cabinet/admin/payments', () => {
  it('lists what waits at every method in the last 24 hours, newest first, with the payer', async () => {
    await app.db.sql(
      "UPDATE users SET username = 'somebody', email = 'some@body.org', messenger_id = 4711 WHERE id = $1::int RETURNING id",
      [payer.user.id],
    );
    const old = await aPayment({ ...waiting, hoursAgo: 25 });
    const first = await aPayment({ ...waiting, hoursAgo: 3, method: 'severpay', status: 'processing' });
    const second = await aPayment({ ...waiting, hoursAgo: 2, paymentUrl: 'https://pay.example.com/1' });
    const stars = await aPayment({ ...waiting, method: 'messenger_stars', outcome: 'failed', hoursAgo: 1 });
    await aPayment({ ...waiting, outcome: 'expired' });
    await aPayment({ ...waiting, externalId: null });
    await aPayment({ ...waiting, userId: null });
    await aPayment({ purpose: 'guest_purchase' });
    const answer = await admin.get(PATH);
    expect(answer.status).toBe(200);
    expect(idsOf(answer)).toEqual([stars, second, first]);
    expect(idsOf(answer)).not.toContain(old);
    expect(answer.body).toMatchObject({ total: 3, page: 1, per_page: 20, pages: 1 });
    expect(answer.body.items[1]).toEqual({
      id: second,
      method: 'yookassa',
      method_display: 'YooKassa',
      identifier: expect.stringContaining('ext-'),
      amount_kopeks: 12_345,
      amount_rubles: 123.45,
      status: 'pending',
      status_emoji: '⏳',
      status_text: 'Waiting for payment',
      is_paid: false,
      is_checkable: false,
      created_at: expect.any(String),
      expires_at: null,
      payment_url: 'https://pay.example.com/1',
      user_id: payer.user.id,
      user_messenger_id: 4711,
      user_username: 'somebody',
      user_email: 'some@body.org',
    });
    expect(idsOf(await admin.get(PATH, { query: { method_filter: 'severpay' } }))).toEqual([first]);
    expect(idsOf(await admin.get(PATH, { query: { method_filter: 'nothing' } }))).toHaveLength(3);
    const second2 = await admin.get(PATH, { query: { page: 2, per_page: 2 } });
    expect([idsOf(second2), second2.body.pages, second2.body.total]).toEqual([[first], 2, 3]);
    expect((await admin.get(PATH, { query: { page: 9 } })).body).toMatchObject({ items: [], total: 3 });
    const stats = await admin.get(`${PATH}/stats`);
    expect(stats.body).toEqual({ total_pending: 3, by_method: { SeverPay: 1, YooKassa: 1, 'Messenger Stars': 1 } });
  });

  it('an empty list has one page', async () => {
    expect((await admin.get(PATH)).body).toEqual({ items: [], total: 0, page: 1, per_page: 20, pages: 1 });
    expect((await admin.get(`${PATH}/stats`)).body).toEqual({ total_pending: 0, by_method: {} });
  });

  it.each(['javascript:alert(1)', 'tg://resolve?domain=x', 'ftp://x'])('does not show the address %s', async (paymentUrl) => {
    await aPayment({ ...waiting, paymentUrl });
    expect((await admin.get(PATH)).body.items[0].payment_url).toBeNull();
  });
});

describe('spec 03 H20: one status table for all methods', () => {
  it('sorts payments of every method into paid, pending and cancelled', async () => {
    const ids: Record<string, number[]> = { paid: [], pending: [], cancelled: [] };
    for (const method of ['cryptobot', 'severpay', 'kassa_ai', 'riopay', 'heleket']) {
      ids.paid!.push(await aPayment({ method, outcome: 'paid', status: 'paid_over', isPaid: true }));
      ids.pending!.push(await aPayment({ method, outcome: 'pending', status: 'something new' }));
      for (const outcome of ['failed', 'expired', 'amount_mismatch'] as const) {
        ids.cancelled!.push(await aPayment({ method, outcome, status: 'decline' }));
      }
    }
    for (const bucket of ['paid', 'pending', 'cancelled']) {
      expect([...(await found({ status_filter: bucket, per_page: 100 }))].sort()).toEqual([...ids[bucket]!].sort());
      expect(await found({ status_filter: bucket, method_filter: 'severpay' })).toHaveLength(bucket === 'cancelled' ? 3 : 1);
    }
    expect(await found({ status_filter: 'other', per_page: 100 })).toHaveLength(25);
    const stats = await admin.get(`${PATH}/search/stats`, { query: { status_filter: 'paid' } });
    expect(stats.body).toEqual({
      total: 25,
      paid: 5,
      pending: 5,
      cancelled: 15,
      by_method: { cryptobot: 5, severpay: 5, kassa_ai: 5, riopay: 5, heleket: 5 },
    });
    // A word that no text exists for is still one of the known states.
    const { body } = await search({ status_filter: 'pending', method_filter: 'riopay' });
    expect(body.items[0]).toMatchObject({ status: 'something new', status_text: 'Waiting for payment' });
  });
});

describe('GET /cabinet/admin/payments/search: the window', () => {
  it('takes a period, unknown ones are 24h, and at most a year', async () => {
    const ids = [];
    for (const hoursAgo of [1, 25, 24 * 8, 24 * 31, 24 * 366]) ids.push(await aPayment({ hoursAgo }));
    expect(await found()).toEqual(ids.slice(0, 1));
    expect(await found({ period: 'century' })).toEqual(ids.slice(0, 1));
    expect(await found({ period: '7d' })).toEqual(ids.slice(0, 2));
    expect(await found({ period: '30d' })).toEqual(ids.slice(0, 3));
    expect(await found({ period: 'all' })).toEqual(ids.slice(0, 4));
    expect(await found({ date_from: '2001-01-01T00:00:00Z' })).toEqual(ids.slice(0, 4));
  });

  it('both ends are included, a timestamp without a zone is UTC, and date_to alone keeps the start of the period', async () => {
    const id = await aPayment({ hoursAgo: 5 });
    const at = new Date(app.clock.now().getTime() - 5 * HOUR).toISOString();
    expect(await found({ date_from: at, date_to: at })).toEqual([id]);
    expect(await found({ date_from: at.slice(0, -1) })).toEqual([id]);
    const later = new Date(new Date(at).getTime() + 1).toISOString();
    const earlier = new Date(new Date(at).getTime() - 1).toISOString();
    expect(await found({ date_from: later })).toEqual([]);
    expect(await found({ date_from: '2020-01-01', date_to: earlier })).toEqual([]);
    expect(await found({ date_to: at })).toEqual([id]);
    expect(await found({ date_to: new Date(Date.now() - 100 * 24 * HOUR).toISOString() })).toEqual([]);
    const refused = await search({ date_from: later, date_to: at });
    expect([refused.status, refused.body]).toEqual([400, { detail: 'date_from must be before date_to' }]);
    const stats = await admin.get(`${PATH}/search/stats`, { query: { date_from: later, date_to: at } });
    expect(stats.status).toBe(400);
    expect((await search({ date_from: 'soon' })).status).toBe(422);
  });

  it.each([
    {},
    { method_filter: 'wata' },
    { status_filter: 'pending' },
    { status_filter: 'cancelled', method_filter: 'wata' },
  ] as Record<string, string>[])(
    'spec 03 H19: pages of %j are each payment once, in order, with the exact total',
    async (filter) => {
      const outcomes = ['pending', 'failed', 'paid'] as const;
      for (let n = 0; n < 36; n++) {
        await aPayment({ method: n % 2 ? 'wata' : 'pal24', outcome: outcomes[n % 3]!, hoursAgo: Math.floor(n / 2) * 7 });
      }
      const everything = await search({ ...filter, period: 'all', per_page: 100 });
      const expected = idsOf(everything);
      expect(everything.body.total).toBe(expected.length);
      const times = everything.body.items.map((item: { created_at: string; id: number }) => [item.created_at, item.id]);
      expect(times).toEqual([...times].sort((a, b) => (a[0] === b[0] ? b[1] - a[1] : a[0] < b[0] ? 1 : -1)));
      const pages = [];
      for (let page = 1; page <= Math.ceil(expected.length / 5) + 1; page++) {
        const answer = await search({ ...filter, period: 'all', per_page: 5, page });
        expect([answer.body.total, answer.body.pages]).toEqual([expected.length, Math.ceil(expected.length / 5)]);
        pages.push(...idsOf(answer));
      }
      expect(pages).toEqual(expected);
      const stats = await admin.get(`${PATH}/search/stats`, { query: { ...filter, period: 'all' } });
      const { total, paid, pending, cancelled } = stats.body;
      expect(total).toBe(filter.method_filter ? 18 : 36);
      expect([paid, pending, cancelled]).toEqual([total / 3, total / 3, total / 3]);
    },
  );

  it.each([...[{ page: 0 }, { per_page: 101 }, { per_page: 0 }, { page: 'x' }, { search: 'x'.repeat(257) }]] as Record<
    string,
    string | number
  >[])('refuses %j', async (query) => {
    expect((await search(query)).status).toBe(422);
  });

  it('a page far behind the end is empty', async () => {
    await aPayment();
    expect((await search({ page: 9_007_199_254_740_991 })).body).toMatchObject({ items: [], total: 1 });
    expect((await search({ page: 9_007_199_254_740_991, search: 'order' })).body).toMatchObject({ items: [], total: 1 });
  });
});

describe('GET /cabinet/admin/payments/search: the text', () => {
  it('finds ids by their beginning in any case, with wildcards taken literally', async () => {
    const order = await aPayment({ orderId: 'ABC_100%x' });
    const external = await aPayment({ externalId: 'abcDEF' });
    const charge = await aPayment({ chargeId: 'Abc\\9' });
    await aPayment({ orderId: 'xabc' });
    expect(await found({ search: 'abc' })).toEqual([charge, external, order]);
    expect(await found({ search: ' ABC_100% ' })).toEqual([order]);
    expect(await found({ search: 'abc%' })).toEqual([]);
    expect(await found({ search: 'ab_' })).toEqual([]);
    expect(await found({ search: 'abc\\' })).toEqual([charge]);
    expect(await found({ search: 'ab' })).toEqual([]);
    const two = await aPayment({ externalId: 'z9' });
    expect(await found({ search: 'Z9' })).toEqual([two]);
    expect(await found({ search: '   ' })).toHaveLength(5);
  });

  it('digits find the payer by messenger id as well as ids, and beyond an int64 ids only', async () => {
    const user = await userClient(app, server);
    const messengerId = 5_000_000_000 + unique();
    await app.db.sql('UPDATE users SET messenger_id = $2::bigint WHERE id = $1::int RETURNING id', [user.user.id, messengerId]);
    const theirs = await aPayment({ userId: user.user.id });
    const byId = await aPayment({ externalId: `${messengerId}77` });
    expect(await found({ search: String(messengerId) })).toEqual([byId, theirs]);
    const long = await aPayment({ orderId: '9223372036854775808' });
    expect(await found({ search: '9223372036854775808' })).toEqual([long]);
    expect((await search({ search: '9'.repeat(256) })).body.total).toBe(0);
  });

  it('a text with @ is part of a username or of an e-mail', async () => {
    const mark = `m${unique()}`;
    const user = await userClient(app, server);
    await app.db.sql('UPDATE users SET username = $2, email = $3 WHERE id = $1::int RETURNING id', [
      ...[user.user.id, `Some_${mark}`, `first.${mark}@example.org`],
    ]);
    const theirs = await aPayment({ userId: user.user.id });
    await aPayment({ orderId: `some_${mark}` });
    expect(await found({ search: `@me_${mark.toUpperCase()}` })).toEqual([theirs]);
    expect(await found({ search: `@someX${mark}` })).toEqual([]);
    expect(await found({ search: `${mark}@exAMPLE` })).toEqual([theirs]);
    expect(await found({ search: `${mark}@exAMPLE`, status_filter: 'paid' })).toEqual([]);
    expect(await found({ search: '@' })).toHaveLength(2);
    const stats = await admin.get(`${PATH}/search/stats`, { query: { search: `@me_${mark}` } });
    expect(stats.body).toEqual({ total: 1, pending: 1, paid: 0, cancelled: 0, by_method: { yookassa: 1 } });
    const none = await admin.get(`${PATH}/search/stats`, { query: { search: '@nobody-at-all' } });
    expect(none.body).toEqual({ total: 0, pending: 0, paid: 0, cancelled: 0, by_method: {} });
  });

  it('shows payments of people without an account', async () => {
    const id = await aPayment({ userId: null, orderId: 'guest-order-1' });
    const { body } = await search({ search: 'guest-order' });
    expect(body.items).toMatchObject([{ id, user_id: null, user_messenger_id: null, user_username: null, user_email: null }]);
    expect((await admin.get(`${PATH}/yookassa/${id}`)).body).toEqual(body.items[0]);
  });
});

describe('one payment and its check', () => {
  async function anInvoice() {
    const user = await userClient(app, server);
    const { paymentId } = await topupBalance(
      app,
      { kind: 'user', userId: user.user.id },
      { amountKopeks: 50_000, method: 'sandbox', option: null },
      { idempotencyKey: null },
    );
    return { user, paymentId, externalId: (await paymentFacts(app, paymentId)).externalId! };
  }

  it('refuses unknown methods and payments', async () => {
    const id = await aPayment();
    expect(await admin.get(`${PATH}/nothing/${id}`)).toMatchObject({ status: 400, body: { detail: 'Invalid payment method' } });
    for (const [method, number] of [
      ['wata', id],
      ['yookassa', 9_000_000_000],
    ]) {
      expect(await admin.get(`${PATH}/${method}/${number}`)).toMatchObject({
        status: 404,
        body: { detail: 'Payment not found' },
      });
      expect(await admin.post(`${PATH}/${method}/${number}/check`)).toMatchObject({ status: 404 });
    }
    expect((await admin.get(`${PATH}/yookassa/x`)).status).toBe(422);
    expect((await admin.post(`${PATH}/nothing/${id}/check`)).status).toBe(400);
  });

  it('asks the provider and credits what it confirms, once', async () => {
    const { user, paymentId, externalId } = await anInvoice();
    const path = `${PATH}/sandbox/${paymentId}`;
    expect((await admin.get(path)).body).toMatchObject({ id: paymentId, is_checkable: true, is_paid: false });
    const unchanged = await admin.post(`${path}/check`);
    expect(unchanged.body).toMatchObject({ success: true, status_changed: false, old_status: 'pending', new_status: 'pending' });
    provider.set(externalId, 'paid');
    const [one, two] = await Promise.all([admin.post(`${path}/check`), admin.post(`${path}/check`)]);
    expect([one.status, two.status]).toEqual([200, 200]);
    expect((await moneyFacts(app, user.user.id)).balance).toBe(50_000);
    const after = await admin.post(`${path}/check`);
    expect(after.body).toMatchObject({ success: false, status_changed: false, payment: { is_paid: true, is_checkable: false } });
    expect((await moneyFacts(app, user.user.id)).deposits).toBe(1);
    const [row] = await app.db.sql<{ details: Record<string, unknown> }>(
      `SELECT details FROM admin_audit_log WHERE action = 'payments:edit' AND details ->> 'before' IS NOT NULL ORDER BY id DESC LIMIT 1`,
    );
    expect(row!.details).toMatchObject({ before: { status: 'pending' }, after: { status: 'succeeded' } });
  });

  it('a provider that does not answer is no error of the service', async () => {
    const { paymentId } = await anInvoice();
    provider.fetchFaults = ['unavailable'];
    const { status, body } = await admin.post(`${PATH}/sandbox/${paymentId}/check`);
    expect([status, body]).toMatchObject([200, { success: false, status_changed: false, old_status: null, new_status: null }]);
    expect(body.message).not.toBe('');
  });

  it('needs payments:read to read and payments:edit to check', async () => {
    const { paymentId } = await anInvoice();
    const reader = await adminClient(app, server, ['payments:read']);
    const other = await adminClient(app, server, ['users:read']);
    const reads = [PATH, `${PATH}/stats`, `${PATH}/search`, `${PATH}/search/stats`, `${PATH}/sandbox/${paymentId}`];
    for (const path of reads) {
      expect([path, (await reader.get(path)).status]).toEqual([path, 200]);
      expect([path, (await other.get(path)).status]).toEqual([path, 403]);
      expect([path, (await payer.get(path)).status]).toEqual([path, 403]);
    }
    const asked = provider.asked;
    expect((await reader.post(`${PATH}/sandbox/${paymentId}/check`)).status).toBe(403);
    expect(provider.asked).toBe(asked);
  });
});
