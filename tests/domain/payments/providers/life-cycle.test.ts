import { afterEach, describe, expect, test } from 'vitest';
import type { InvoiceAction } from '../../../../packages/sandbox/src/payments/invoice.ts';
import { checkLedger } from '../../../../src/domain/ledger/check-ledger.ts';
import { checkPendingPayments, refreshPayment } from '../../../../src/domain/payments/check-payments.ts';
import { findPayment } from '../../../../src/domain/payments/repo.ts';
import { sampledProviders } from '../../../support/providers/all-cases.ts';
import { notApplicable, type ProviderCase } from '../../../support/providers/provider-case.ts';
import {
  aProviderFixture,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderFixture,
} from '../../../support/providers/provider-fixture.ts';

/** The life of an invoice at every provider, over HTTP through its adapter and its fake: by callback where it sends one, else by asking. */
let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.close();
  fixture = null;
});

const AMOUNT = 50_000;

/** Performs an action at the fake and lets the service hear of it: by the callbacks, twice each, else by the question of a check. */
async function happens(
  prepared: ProviderFixture,
  provider: ProviderCase,
  action: InvoiceAction,
  refundKopeks?: number,
): Promise<void> {
  const callbacks = await prepared.act(action, refundKopeks);
  expect(callbacks.length > 0).toBe(provider.reports.includes(action));
  for (const callback of callbacks) {
    for (let copy = 0; copy < 2; copy++) {
      expect(await prepared.deliver(callback)).toMatchObject(provider.acknowledges);
    }
  }
  if (callbacks.length > 0) return;
  const payment = await findPayment(prepared.app.db, prepared.current.paymentId);
  await refreshPayment(prepared.app, payment!);
}

describe.each(sampledProviders())('%s', (_method, provider) => {
  const possible = (action: InvoiceAction) => provider.impossible?.[action] === undefined;

  test('a payment is credited once, its record has the ids of the provider', async () => {
    fixture = await aProviderFixture(provider);
    await happens(fixture, provider, 'pay');
    expect(await factsOf(fixture)).toMatchObject({ balance: AMOUNT, deposits: 1, payment: { outcome: 'paid', isPaid: true } });
    await fixture.app.db.sql('UPDATE payments SET last_checked_at = NULL WHERE method = $1 RETURNING id', [fixture.method]);
    await checkPendingPayments(fixture.app);
    expect((await factsOf(fixture)).balance).toBe(AMOUNT);
    expect(await checkLedger(fixture.app)).toEqual([]);
  });

  test.each(['fail', 'expire'] as const)(
    'spec 03 H15: %s credits nothing, and money that comes late is credited',
    async (action) => {
      if (!possible(action)) return notApplicable(provider.impossible?.[action] ?? '');
      fixture = await aProviderFixture(provider);
      await happens(fixture, provider, action);
      expect(await factsOf(fixture)).toMatchObject({ balance: 0, deposits: 0, payment: { isPaid: false } });
      await happens(fixture, provider, 'pay');
      expect(await factsOf(fixture)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    },
  );

  test('spec 03 H10: too little is not credited and is a case', async () => {
    if (!possible('underpay')) return notApplicable(provider.impossible?.underpay ?? '');
    fixture = await aProviderFixture(provider);
    const lastCase = await lastCaseId(fixture);
    await happens(fixture, provider, 'underpay');
    expect(await factsOf(fixture)).toMatchObject({ balance: 0, payment: { outcome: 'amount_mismatch', isPaid: false } });
    expect(await openCasesOf(fixture, lastCase)).toEqual(['amount_mismatch']);
  });

  test('too much is credited with the amount of the invoice, and the rest is a case', async () => {
    if (!possible('overpay')) return notApplicable(provider.impossible?.overpay ?? '');
    fixture = await aProviderFixture(provider);
    const lastCase = await lastCaseId(fixture);
    await happens(fixture, provider, 'overpay');
    expect(await factsOf(fixture)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    expect(await openCasesOf(fixture, lastCase)).toEqual(['overpaid']);
  });

  test.each(['refund', 'chargeback'] as const)('a %s after the credit is taken from the balance once', async (action) => {
    if (!possible(action)) return notApplicable(provider.impossible?.[action] ?? '');
    fixture = await aProviderFixture(provider);
    await happens(fixture, provider, 'pay');
    await happens(fixture, provider, action);
    expect(await factsOf(fixture)).toMatchObject({ balance: 0, deposits: 1, payment: { outcome: 'refunded' } });
    expect(await checkLedger(fixture.app)).toEqual([]);
  });

  test('callbacks in the wrong order end in the same state', async () => {
    if (!possible('refund')) return notApplicable(provider.impossible?.refund ?? '');
    fixture = await aProviderFixture(provider);
    const inOrder = [...(await fixture.act('pay')), ...(await fixture.act('refund'))];
    for (const callback of inOrder.toReversed()) await fixture.deliver(callback);
    expect(await factsOf(fixture)).toMatchObject({ balance: 0, payment: { outcome: 'refunded' } });
    expect(await checkLedger(fixture.app)).toEqual([]);
  });

  test('a payment is credited although the method is switched off meanwhile', async () => {
    fixture = await aProviderFixture(provider);
    await fixture.app.db.sql('UPDATE payment_method_configs SET is_enabled = false WHERE method_id = $1 RETURNING method_id', [
      fixture.method,
    ]);
    await happens(fixture, provider, 'pay');
    expect((await factsOf(fixture)).balance).toBe(AMOUNT);
  });

  test('a provider that is down creates no invoice, and nothing is credited', async () => {
    if (provider.pays) return notApplicable('it is never called: the donor pays on its page');
    fixture = await aProviderFixture(provider);
    fixture.intercept(() => ({ status: 503, contentType: 'text/plain', body: 'down' }));
    await expect(fixture.open()).rejects.toMatchObject({ status: 502 });
    fixture.intercept(null);
    await happens(fixture, provider, 'pay');
    expect((await factsOf(fixture)).balance).toBe(AMOUNT);
  });
});
