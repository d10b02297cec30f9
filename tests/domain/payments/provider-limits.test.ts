import { afterEach, expect, test } from 'vitest';
import type { LoopbackRequest } from '../../../packages/sandbox/src/loopback-server.ts';
import { HOUR_MS } from '../../../src/core/clock.ts';
import { listPaymentMethodsFor } from '../../../src/domain/payments/payment-methods.ts';
import { readProviderLimits } from '../../../src/domain/payments/provider-limits.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { aUser } from '../../support/builders.ts';
import { freekassaCase } from '../../support/providers/freekassa-case.ts';
import { aProviderFixture, type ProviderFixture } from '../../support/providers/provider-fixture.ts';

/** Limits of Freekassa's payment systems (03a section 10): from /currencies, read by a job and never while somebody waits. */
let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.app.db.sql("DELETE FROM service_state WHERE key LIKE 'payments:limits:%' RETURNING key");
  await fixture?.close();
  fixture = null;
});

const SETTINGS = { FREEKASSA_SBP_ENABLED: 'true', FREEKASSA_CARD_ENABLED: 'true', FREEKASSA_MIN_AMOUNT_KOPEKS: '100' };

async function aFixture(): Promise<ProviderFixture> {
  fixture = await aProviderFixture({ ...freekassaCase, settings: SETTINGS });
  await fixture.app.db.sql(
    "UPDATE payment_method_configs SET is_enabled = true WHERE method_id LIKE 'freekassa%' RETURNING method_id",
  );
  return fixture;
}

/** What the provider says of its payment systems from now on. */
function answer(prepared: ProviderFixture, systems: Record<string, { is_enabled: number; limits?: object }>): LoopbackRequest[] {
  const currencies = Object.entries(systems).map(([id, system]) => ({ id: Number(id), name: id, currency: 'RUB', ...system }));
  const asked: LoopbackRequest[] = [];
  prepared.intercept((request) => {
    asked.push(request);
    if (request.path !== '/v1/currencies') return null;
    return { status: 200, contentType: 'application/json', body: JSON.stringify({ type: 'success', currencies }) };
  });
  return asked;
}

const limitsOf = async ({ app, current }: ProviderFixture) => {
  const offered = await listPaymentMethodsFor(app, current.user.id);
  return Object.fromEntries(
    offered
      .filter(({ id }) => id.startsWith('freekassa'))
      .map(({ id, minAmountKopeks, maxAmountKopeks, options }) => [
        id,
        [minAmountKopeks, maxAmountKopeks, ...(options ?? []).map((option) => option.id)],
      ]),
  );
};

const topup = async ({ app }: ProviderFixture, amountKopeks: number, option: string) => {
  const { id: userId } = await aUser(app, { email: `limits-${Math.random()}@example.com` });
  const request = { amountKopeks, method: 'freekassa', option };
  return topupBalance(app, { kind: 'user', userId }, request, { idempotencyKey: null, ip: '203.0.113.7' });
};

const SETTINGS_LIMITS = [100, 100_000_000];

test('the settings count until the provider was asked, and again when its answer is old', async () => {
  const prepared = await aFixture();
  const asked = answer(prepared, {
    44: { is_enabled: 1, limits: { min: 10, max: 1_000 } },
    36: { is_enabled: 1, limits: { min: 50, max: 3_000 } },
  });
  expect(await limitsOf(prepared)).toMatchObject({ freekassa_sbp: SETTINGS_LIMITS, freekassa_card: SETTINGS_LIMITS });
  expect(asked).toHaveLength(0);
  await readProviderLimits(prepared.app);
  prepared.app.cache.drop(['payments:limits:freekassa']);
  expect(await limitsOf(prepared)).toEqual({
    freekassa: [1_000, 300_000, 'sbp', 'card'],
    freekassa_sbp: [1_000, 100_000],
    freekassa_card: [5_000, 300_000],
  });
  expect(asked).toHaveLength(1);
  prepared.t.clock.advance(3 * HOUR_MS);
  expect(await limitsOf(prepared)).toMatchObject({ freekassa_sbp: SETTINGS_LIMITS, freekassa_card: SETTINGS_LIMITS });
});

test('a top-up outside the limits of its way to pay is refused before anything is stored', async () => {
  const prepared = await aFixture();
  answer(prepared, {
    44: { is_enabled: 1, limits: { min: 10, max: 1_000 } },
    36: { is_enabled: 1, limits: { min: 50, max: 3_000 } },
  });
  await readProviderLimits(prepared.app);
  prepared.app.cache.drop(['payments:limits:freekassa']);
  await expect(topup(prepared, 200_000, 'sbp')).rejects.toMatchObject({ status: 400, detail: 'Maximum amount is 1000.00 RUB' });
  await expect(topup(prepared, 2_000, 'card')).rejects.toMatchObject({ status: 400, detail: 'Minimum amount is 50.00 RUB' });
  expect(await topup(prepared, 200_000, 'card')).toMatchObject({ amountKopeks: 200_000 });
  expect(await topup(prepared, 2_000, 'sbp')).toMatchObject({ amountKopeks: 2_000 });
});

test('a way to pay that is closed there is not offered, while one without limits leaves those of the method', async () => {
  const prepared = await aFixture();
  answer(prepared, { 44: { is_enabled: 1 }, 36: { is_enabled: 0, limits: { min: 50, max: 3_000 } } });
  await readProviderLimits(prepared.app);
  prepared.app.cache.drop(['payments:limits:freekassa']);
  expect(await limitsOf(prepared)).toEqual({ freekassa: [...SETTINGS_LIMITS, 'sbp'], freekassa_sbp: SETTINGS_LIMITS });
  await expect(topup(prepared, 10_000, 'card')).rejects.toMatchObject({ status: 400 });
});

test('a provider that fails keeps the limits that were read before', async () => {
  const prepared = await aFixture();
  answer(prepared, { 44: { is_enabled: 1, limits: { min: 10, max: 1_000 } } });
  await readProviderLimits(prepared.app);
  prepared.intercept(() => ({ status: 503, contentType: 'text/plain', body: 'down' }));
  await readProviderLimits(prepared.app);
  prepared.app.cache.drop(['payments:limits:freekassa']);
  expect(await limitsOf(prepared)).toMatchObject({ freekassa_sbp: [1_000, 100_000] });
});

test('the fake answers as the provider does', async () => {
  const prepared = await aFixture();
  expect(await prepared.app.ports.payments.byMethod('freekassa')!.fetchLimits!()).toEqual([
    { option: 'sbp', isOn: true, minKopeks: 1_000, maxKopeks: 10_000_000 },
    { option: 'card', isOn: true, minKopeks: 5_000, maxKopeks: 30_000_000 },
  ]);
});
