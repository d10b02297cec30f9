import { afterEach, describe, expect, test } from 'vitest';
import { refreshPayment } from '../../../src/domain/payments/check-payments.ts';
import { nextNonce } from '../../../src/domain/payments/next-nonce.ts';
import { findPayment } from '../../../src/domain/payments/repo.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { notificationSignature } from '../../../src/integrations/payments/freekassa/orders.ts';
import { aUser } from '../../support/builders.ts';
import { freekassaCase } from '../../support/providers/freekassa-case.ts';
import { answerOrder, notification } from '../../support/providers/order-api-case.ts';
import type { ProviderCase } from '../../support/providers/provider-case.ts';
import {
  aProviderFixture,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderFixture,
} from '../../support/providers/provider-fixture.ts';
import { testApp } from '../../support/test-app.ts';

let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.close();
  fixture = null;
});

const PATH = '/freekassa-webhook';
const NOW = new Date('2026-10-02T10:00:00.000Z');
const SECONDS = BigInt(NOW.getTime() / 1_000);
const plain = { now: NOW, start: '1' };

describe('nonces', () => {
  test('begin with the Unix seconds and grow by one within a second, each scope on its own', async () => {
    const { app } = await testApp();
    expect(await nextNonce(app.db, 'freekassa:1:a', plain)).toBe(SECONDS);
    expect(await nextNonce(app.db, 'freekassa:1:a', plain)).toBe(SECONDS + 1n);
    expect(await nextNonce(app.db, 'freekassa:1:b', plain)).toBe(SECONDS);
    const later = { ...plain, now: new Date(NOW.getTime() + 60_000) };
    expect(await nextNonce(app.db, 'freekassa:1:a', later)).toBe(SECONDS + 60n);
  });

  test('never shrink when the clock goes back', async () => {
    const { app } = await testApp();
    const first = await nextNonce(app.db, 'freekassa:2:a', plain);
    expect(await nextNonce(app.db, 'freekassa:2:a', { ...plain, now: new Date(0) })).toBe(first + 1n);
  });

  test('spec 03 H17: begin above the nanoseconds of other software, exactly', async () => {
    const { app } = await testApp();
    const start = '1790000000000000001';
    expect(await nextNonce(app.db, 'freekassa:3:a', { now: NOW, start })).toBe(BigInt(start));
    expect(await nextNonce(app.db, 'freekassa:3:a', { now: NOW, start })).toBe(BigInt(start) + 1n);
  });

  test('spec 03 H17: are given out once each to requests at the same time', async () => {
    const { app } = await testApp();
    const given = await Promise.all(Array.from({ length: 25 }, () => nextNonce(app.db, 'freekassa:4:a', plain)));
    expect(given.toSorted((left, right) => Number(left - right))).toEqual(given.map((_, index) => SECONDS + BigInt(index)));
  });

  test('the start is a setting of the process', async () => {
    const prepared = await aProviderFixture(freekassaCase, { environment: { FREEKASSA_NONCE_START: '1790000000000000001' } });
    fixture = prepared;
    const nonces: string[] = [];
    prepared.intercept(({ body }) => {
      nonces.push(/"nonce":(\d+)/.exec(body)![1]!);
      return null;
    });
    await refreshPayment(prepared.app, (await findPayment(prepared.app.db, prepared.current.paymentId))!);
    expect(nonces).toHaveLength(1);
    expect(BigInt(nonces[0]!)).toBeGreaterThan(1_790_000_000_000_000_001n);
  });
});

describe('Freekassa', () => {
  test.each([
    ['freekassa_sbp', '44'],
    ['freekassa_card', '36'],
  ])('the method %s is an order of payment system %s, credited by the provider freekassa', async (method, system) => {
    const provider: ProviderCase = {
      ...freekassaCase,
      settings: { FREEKASSA_SBP_ENABLED: 'true', FREEKASSA_CARD_ENABLED: 'true' },
    };
    const prepared = await aProviderFixture(provider);
    fixture = prepared;
    const { app, sandbox } = prepared;
    await app.db.sql('UPDATE payment_method_configs SET is_enabled = true WHERE method_id = $1 RETURNING method_id', [method]);
    const user = await aUser(app, { email: `variant-${Math.random()}@example.com` });
    const request = { amountKopeks: 50_000, method, option: null };
    const topup = await topupBalance(app, { kind: 'user', userId: user.id }, request, {
      idempotencyKey: null,
      ip: '203.0.113.7',
    });
    const payment = (await findPayment(app.db, topup.paymentId))!;
    const invoice = (await sandbox.list()).find(({ orderId }) => orderId === payment.orderId)!;
    expect([payment.method, invoice.option]).toEqual(['freekassa', system]);
    prepared.current = { user, paymentId: payment.id, orderId: payment.orderId, invoice };
    await prepared.deliver(await prepared.callbackOf('pay'));
    expect(await factsOf(prepared)).toMatchObject({ balance: 50_000, deposits: 1 });
  });

  test('a payment by the form is credited, and the movement has the id of the provider', async () => {
    const prepared = await aProviderFixture(freekassaCase);
    fixture = prepared;
    const { app, sandbox } = prepared;
    const user = await aUser(app, { email: `form-${Math.random()}@example.com` });
    const request = { amountKopeks: 50_000, method: 'freekassa', option: 'sbp' };
    // The address of a developer's plain machine is none of a payer.
    const topup = await topupBalance(app, { kind: 'user', userId: user.id }, request, { idempotencyKey: null, ip: '127.0.0.1' });
    const payment = (await findPayment(app.db, topup.paymentId))!;
    expect(payment.externalId).toBe(payment.orderId);
    expect(await refreshPayment(app, payment)).toBe('pending');
    expect((await fetch(topup.paymentUrl, { redirect: 'manual' })).status).toBe(303);
    const invoice = (await sandbox.list()).find(({ orderId }) => orderId === payment.orderId)!;
    expect(invoice.option).toBe('42');
    prepared.current = { user, paymentId: payment.id, orderId: payment.orderId, invoice };
    for (const copy of [await prepared.callbackOf('pay')].flatMap((one) => [one, one])) {
      expect(await prepared.deliver(copy)).toMatchObject({ status: 200, body: 'YES' });
    }
    expect(await factsOf(prepared)).toMatchObject({ balance: 50_000, deposits: 1 });
    expect((await findPayment(app.db, payment.id))!.chargeId).toBe(String(invoice.number));
  });

  test('money by a second order of the same invoice is credited when it is the first, and is a case when it is the second', async () => {
    const prepared = await aProviderFixture(freekassaCase);
    fixture = prepared;
    answerOrder(prepared, { fk_order_id: 900_001 });
    await prepared.deliver(notification(prepared, PATH, { intid: '900001' }));
    expect(await factsOf(prepared)).toMatchObject({ balance: 50_000, deposits: 1 });
    const lastCase = await lastCaseId(prepared);
    answerOrder(prepared, { fk_order_id: 900_002 });
    await prepared.deliver(notification(prepared, PATH, { intid: '900002' }));
    expect(await factsOf(prepared)).toMatchObject({ balance: 50_000, deposits: 1 });
    expect(await openCasesOf(prepared, lastCase)).toEqual(['second_payment']);
  });

  test('a notification that comes before the API shows the payment is asked about again', async () => {
    const prepared = await aProviderFixture(freekassaCase);
    fixture = prepared;
    const genuine = await prepared.callbackOf('pay');
    answerOrder(prepared, { status: 0 });
    expect(await prepared.deliver(genuine)).toMatchObject({ status: 200, body: 'YES' });
    expect((await factsOf(prepared)).balance).toBe(0);
    prepared.intercept(null);
    await prepared.process();
    expect((await factsOf(prepared)).balance).toBe(50_000);
  });
});

describe('Freekassa without an API key', () => {
  const SHOP = {
    FREEKASSA_ENABLED: 'true',
    FREEKASSA_SHOP_ID: '7012',
    FREEKASSA_SECRET_WORD_1: 'word-one',
    FREEKASSA_SECRET_WORD_2: 'word-two',
  };

  test('it is off, unless the operator allows crediting without the API', async () => {
    const { ports } = await testApp({ environment: SHOP });
    expect(ports.payments.byMethod('freekassa')!.isConfigured()).toBe(false);
  });

  test.each([
    ['168.119.157.136', '500', 'word-two', 'YES', 50_000],
    ['8.8.8.8', '500', 'word-two', 'Error', 0],
    ['168.119.157.136', '500', 'word-one', 'Error', 0],
    ['168.119.157.136', '499.99', 'word-two', 'YES', 0],
  ])(
    'then a notification from %s of %s rubles signed with %s is answered %s and credits %i',
    async (ip, amount, word2, answer, balance) => {
      // The fixture of the fake only carries the callback; this provider is the real one.
      const prepared = await aProviderFixture(freekassaCase);
      fixture = prepared;
      const { payment, user, deliver } = await realPayment(prepared, { ...SHOP, FREEKASSA_CREDIT_WITHOUT_API: 'true' });
      const sign = notificationSignature({ merchantId: '7012', amount, orderId: payment.orderId, word2 });
      const fields = { MERCHANT_ID: '7012', AMOUNT: amount, intid: '77', MERCHANT_ORDER_ID: payment.orderId, SIGN: sign };
      const reply = await deliver(new URLSearchParams(fields).toString(), ip);
      expect(reply.body).toBe(answer);
      const [row] = await prepared.app.db.sql<{ balance: number }>(
        'SELECT balance_kopeks AS balance FROM users WHERE id = $1::int',
        [user.id],
      );
      expect(row!.balance).toBe(balance);
    },
  );
});

/** A payment through the payment form of a shop without a key, with what receives its notifications. */
async function realPayment(prepared: ProviderFixture, environment: Record<string, string>) {
  const { receiveProviderCallback } = await import('../../../src/domain/payments/receive-callback.ts');
  const { processCallback } = await import('../../../src/domain/payments/process-callback.ts');
  const { app } = await testApp({ environment });
  await app.db.sql("UPDATE payment_method_configs SET is_enabled = true WHERE method_id = 'freekassa' RETURNING method_id");
  const user = await aUser(app, { email: `no-key-${Math.random()}@example.com` });
  const request = { amountKopeks: 50_000, method: 'freekassa', option: null };
  const topup = await topupBalance(app, { kind: 'user', userId: user.id }, request, { idempotencyKey: null, ip: '203.0.113.7' });
  expect(topup.paymentUrl).toMatch(/^https:\/\/pay\.fk\.money\/\?m=7012&oa=500&/);
  const deliver = async (body: string, ip: string) => {
    const callback = { method: 'POST', subpath: '', query: {}, ip, rawBody: Buffer.from(body) };
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const reply = await receiveProviderCallback(app, 'freekassa', { ...callback, headers });
    const waiting = await prepared.app.db.sql<{ id: number }>(
      "SELECT id FROM provider_callbacks WHERE provider = 'freekassa' AND processed_at IS NULL",
    );
    for (const { id } of waiting) await processCallback(app, { callbackId: id });
    return reply!;
  };
  return { user, payment: (await findPayment(app.db, topup.paymentId))!, deliver };
}
