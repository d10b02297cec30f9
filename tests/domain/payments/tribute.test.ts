import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { seedPaymentMethods } from '../../../src/domain/payments/payment-methods.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { donationState, tributeSignature } from '../../../src/integrations/payments/tribute-provider.ts';
import { parseWireObject } from '../../../src/integrations/payments/wire/json.ts';
import type { Vector } from '../../support/providers/provider-case.ts';
import {
  aProviderFixture,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderFixture,
} from '../../support/providers/provider-fixture.ts';
import { donation, tributeCase } from '../../support/providers/tribute-case.ts';
import { testApp } from '../../support/test-app.ts';

/** What Tribute has besides the tables of all providers (03a section 2, spec 03 H8). */
let fixture: ProviderFixture;
beforeEach(async () => {
  fixture = await aProviderFixture(tributeCase);
});
afterEach(() => fixture.close());

describe('a donation', () => {
  test('of any sum is credited as paid, also below the minimum of the method (F4)', async () => {
    await fixture.deliver(donation(fixture, { payload: { amount: 1 } }));
    expect(await factsOf(fixture)).toMatchObject({ balance: 1, deposits: 1, payment: { isPaid: true } });
    expect(await checkLedger(fixture.app)).toEqual([]);
  });

  test('is credited once, whenever it is delivered again, and a second one of the same link, donor and sum too (spec 03 H8)', async () => {
    await fixture.deliver(donation(fixture));
    await fixture.deliver(donation(fixture, { sentAt: '2026-03-21T05:20:58.9Z' }));
    fixture.t.clock.advance(48 * 3_600_000);
    await fixture.deliver(donation(fixture, { sentAt: '2026-03-29T05:20:58.9Z' }));
    expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
    await fixture.deliver(donation(fixture, { createdAt: '2026-03-20T02:40:11.10000Z' }));
    expect(await factsOf(fixture)).toMatchObject({ balance: 100_000, deposits: 2 });
  });

  test('that recurs is credited each time', async () => {
    await fixture.deliver(donation(fixture));
    await fixture.deliver(donation(fixture, { name: 'recurrent_donation', createdAt: '2026-04-20T01:15:58.33246Z' }));
    expect(await factsOf(fixture)).toMatchObject({ balance: 100_000, deposits: 2 });
  });

  test('of an unknown or hidden person is a case with their id, once', async () => {
    const lastCase = await lastCaseId(fixture);
    const payload = { telegram_user_id: 9_200_000_000 + fixture.current.user.id };
    await fixture.deliver(donation(fixture, { payload }));
    await fixture.deliver(donation(fixture, { payload, sentAt: '2026-03-21T05:20:58.9Z' }));
    await fixture.deliver(donation(fixture, { payload: { telegram_user_id: null, anonymously: true } }));
    expect(await openCasesOf(fixture, lastCase)).toEqual(['unknown_payment', 'unknown_payment']);
    const rows = await fixture.app.db.sql(
      'SELECT amount_kopeks, currency, details FROM payment_cases WHERE id > $1::int ORDER BY id',
      [lastCase],
    );
    const facts = { amountKopeks: 50_000, currency: 'RUB' };
    expect(rows).toEqual([
      { ...facts, details: { payerMessengerId: payload.telegram_user_id } },
      { ...facts, details: { payerMessengerId: null } },
    ]);
  });

  test.each([0, -5, 1.5, '1e3', null])('with the amount %j is refused', async (amount) => {
    expect(await fixture.deliver(donation(fixture, { payload: { amount } }))).toMatchObject({ status: 400 });
  });

  test.each([
    ['flat', (body: Record<string, object>) => body.payload],
    ['with a status', (body: Record<string, object>) => ({ payload: { ...body.payload, id: 1, status: 'paid' } })],
  ])('in the %s form of other software is not accepted', async (_form, change) => {
    const genuine = donation(fixture);
    const body = JSON.stringify(change(JSON.parse(String(genuine.body))));
    const signature = tributeSignature(Buffer.from(body), fixture.secret).toString('hex');
    const reply = await fixture.deliver({ ...genuine, body, headers: { ...genuine.headers, 'trbt-signature': signature } });
    expect(reply.status).toBe(400);
    expect((await factsOf(fixture)).balance).toBe(0);
  });
});

describe('spec 03 H8: nothing is credited', () => {
  test.each([
    ['an event of another name', { name: 'new_digital_product' }],
    ['an event of an unknown name', { name: 'donation_paid' }],
    ['a cancelled repetition', { name: 'cancelled_donation' }],
    ['an event without a name', { name: '' }],
    ['dollars', { payload: { currency: 'usd' } }],
    ['euros', { payload: { currency: 'EUR' } }],
    ['a donation without a currency', { payload: { currency: '' } }],
  ])('for %s', async (_what, change) => {
    await fixture.deliver(donation(fixture, change));
    expect(await factsOf(fixture)).toMatchObject({ balance: 0, deposits: 0, payment: { isPaid: false } });
  });

  test.each([
    ['without a key', { TRIBUTE_API_KEY: '' }, ''],
    ['with another key', { TRIBUTE_API_KEY: 'the-key-of-the-account' }, ''],
    ['with another key', { TRIBUTE_API_KEY: 'the-key-of-the-account' }, 'another-key'],
  ])('%s: %j, signed with "%s"', async (_what, settings, signedWith) => {
    const environment = { TRIBUTE_ENABLED: 'true', TRIBUTE_DONATE_LINK: 'https://t.example/donate', ...settings };
    const real = (await testApp({ environment })).app;
    const genuine = donation(fixture, {}, signedWith);
    const headers = signedWith === '' ? { 'content-type': 'application/json' } : genuine.headers;
    const callback = { method: 'POST', subpath: '', query: {}, ip: '127.0.0.1', headers, rawBody: Buffer.from(genuine.body) };
    const provider = real.ports.payments.byMethod('tribute')!;
    expect(provider.isConfigured()).toBe(settings.TRIBUTE_API_KEY !== '');
    expect((await provider.receiveCallback(callback)).accepted).toBe(false);
    expect((await factsOf(fixture)).balance).toBe(0);
  });
});

test('a top-up leads to the page of donations and stores nothing before the money comes', async () => {
  const { app, current } = fixture;
  await seedPaymentMethods(app);
  const topup = await topupBalance(
    app,
    { kind: 'user', userId: current.user.id },
    { amountKopeks: 50_000, method: 'tribute', option: null },
    { idempotencyKey: null },
  );
  expect(topup).toEqual({
    paymentId: 0,
    paymentUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/tribute\/donate$/),
    amountKopeks: 50_000,
  });
  expect(await app.db.sql('SELECT id FROM payments WHERE user_id = $1::int', [current.user.id])).toEqual([]);
});

test('V:donation-resend is the same payment as V:donation-hex, V:donation-second-payment another', () => {
  const file = join(import.meta.dirname, '../../../docs/spec/vectors/provider-vectors.json');
  const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] };
  const keyOf = (id: string) => {
    const vector = vectors.find((known) => known.id === `tribute.${id}`);
    return donationState(parseWireObject(String(vector?.input))!)?.externalId;
  };
  expect(keyOf('donation-hex')).toBe('1042:12321321:50000:rub:2026-03-20T01:15:58.33246Z');
  expect(keyOf('donation-resend')).toBe(keyOf('donation-hex'));
  expect(keyOf('donation-second-payment')).not.toBe(keyOf('donation-hex'));
});
