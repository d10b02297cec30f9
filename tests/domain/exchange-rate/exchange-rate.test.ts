import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays } from '../../../src/core/clock.ts';
import { fetchExchangeRates, readExchangeRate } from '../../../src/domain/exchange-rate/exchange-rate.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeEach(async () => {
  t = await testApp();
  await t.app.db.sql('DELETE FROM exchange_rates RETURNING currency');
});

/** The app outside of the sandbox, with rates that the central bank would answer. */
function answering(day: string, rates: Record<string, string>): App {
  const exchangeRates = {
    fetchRates: async () => ({ setOn: new Date(`${day}T00:00:00.000Z`), rates: new Map(Object.entries(rates)) }),
  };
  const instance = { ...t.app.ports.instance, sandboxKinds: () => [] };
  return { ...t.app, ports: { ...t.app.ports, exchangeRates, instance } };
}

describe('the exchange rate', () => {
  test('is the last official one, with the one before it', async () => {
    await fetchExchangeRates(answering('2026-10-01', { USD: '92.1234', KZT: '0.1725' }));
    expect(await readExchangeRate(t.app, 'usd')).toEqual({
      currency: 'USD',
      rate: '92.1234',
      setOn: new Date('2026-10-01T00:00:00.000Z'),
      previous: null,
    });
    await fetchExchangeRates(answering('2026-10-02', { USD: '100', KZT: '0.1725' }));
    await fetchExchangeRates(answering('2026-10-02', { USD: '100' }));
    // An older list, from a cache on the way, changes nothing.
    await fetchExchangeRates(answering('2026-09-30', { USD: '1' }));
    expect(await readExchangeRate(t.app, 'USD')).toEqual({
      currency: 'USD',
      rate: '100',
      setOn: new Date('2026-10-02T00:00:00.000Z'),
      previous: { rate: '92.1234', setOn: new Date('2026-10-01T00:00:00.000Z') },
    });
    expect(await readExchangeRate(t.app, 'XXX')).toBeNull();
  });

  test('spec 03a 16: is shown while it is asked for daily, and not after 3 days without an answer', async () => {
    const now = t.clock.now();
    await fetchExchangeRates(answering('2026-10-01', { USD: '92.1234' }));
    t.clock.set(addDays(now, 3));
    expect(await readExchangeRate(t.app, 'USD')).not.toBeNull();
    t.clock.set(addDays(now, 3 + 1 / 1440));
    expect(await readExchangeRate(t.app, 'USD')).toBeNull();
    // The same day's rate again, as on weekends and holidays: it is still the official one.
    await fetchExchangeRates(answering('2026-10-01', { USD: '92.1234' }));
    expect(await readExchangeRate(t.app, 'USD')).not.toBeNull();
  });

  test('is not asked for in the sandbox', async () => {
    const fetchRates = () => Promise.reject(new Error('called'));
    await fetchExchangeRates({ ...t.app, ports: { ...t.app.ports, exchangeRates: { fetchRates } } });
  });
});
