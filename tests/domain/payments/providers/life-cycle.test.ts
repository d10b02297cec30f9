import { afterEach, describe, expect, test } from 'vitest';
import type { InvoiceAction } from '../../../../packages/sandbox/src/payments/invoice.ts';
import { checkLedger } from '../../../../src/domain/ledger/check-ledger.ts';
import { checkPendingPayments, refreshPayment } from '../../../../src/domain/payments/check-payments.ts';
import { findPayment } from '../../../../src/domain/payments/repo.ts';
import { PROVIDER_CASES } from '../../../support/providers/all-cases.ts';
import { notApplicable, type ProviderCase } from '../../../support/providers/provider-case.ts';
import {
  aProviderStage,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderStage,
} from '../../../support/providers/provider-stage.ts';

/** The life of an invoice at every provider, over HTTP through its adapter and its fake: by callback where it sends one, else by asking. */
let stage: ProviderStage | null = null;
afterEach(async () => {
  await stage?.close();
  stage = null;
});

const AMOUNT = 50_000;

/** Performs an action at the fake and lets the service hear of it: by the callbacks, twice each, else by the question of a check. */
async function happens(
  staged: ProviderStage,
  provider: ProviderCase,
  action: InvoiceAction,
  refundKopeks?: number,
): Promise<void> {
  const callbacks = await staged.act(action, refundKopeks);
  expect(callbacks.length > 0).toBe(provider.reports.includes(action));
  for (const callback of callbacks) {
    for (let copy = 0; copy < 2; copy++) {
      expect(await staged.deliver(callback)).toMatchObject(provider.acknowledges);
    }
  }
  if (callbacks.length > 0) return;
  const payment = await findPayment(staged.app.db, staged.current.paymentId);
  await refreshPayment(staged.app, payment!);
}

describe.each(PROVIDER_CASES.map((provider) => [provider.method, provider] as const))('%s', (_method, provider) => {
  const possible = (action: InvoiceAction) => provider.impossible?.[action] === undefined;

  test('a payment is credited once, its record has the ids of the provider', async () => {
    stage = await aProviderStage(provider);
    await happens(stage, provider, 'pay');
    expect(await factsOf(stage)).toMatchObject({ balance: AMOUNT, deposits: 1, payment: { outcome: 'paid', isPaid: true } });
    await stage.app.db.sql('UPDATE payments SET last_checked_at = NULL WHERE method = $1 RETURNING id', [stage.method]);
    await checkPendingPayments(stage.app);
    expect((await factsOf(stage)).balance).toBe(AMOUNT);
    expect(await checkLedger(stage.app)).toEqual([]);
  });

  test.each(['fail', 'expire'] as const)('spec 03 H15: %s credits nothing; money that comes late is credited', async (action) => {
    if (!possible(action)) return notApplicable(provider.impossible?.[action] ?? '');
    stage = await aProviderStage(provider);
    await happens(stage, provider, action);
    expect(await factsOf(stage)).toMatchObject({ balance: 0, deposits: 0, payment: { isPaid: false } });
    await happens(stage, provider, 'pay');
    expect(await factsOf(stage)).toMatchObject({ balance: AMOUNT, deposits: 1 });
  });

  test('spec 03 H10: too little is not credited and is a case', async () => {
    if (!possible('underpay')) return notApplicable(provider.impossible?.underpay ?? '');
    stage = await aProviderStage(provider);
    const lastCase = await lastCaseId(stage);
    await happens(stage, provider, 'underpay');
    expect(await factsOf(stage)).toMatchObject({ balance: 0, payment: { outcome: 'amount_mismatch', isPaid: false } });
    expect(await openCasesOf(stage, lastCase)).toEqual(['amount_mismatch']);
  });

  test('too much is credited with the amount of the invoice, and the rest is a case', async () => {
    if (!possible('overpay')) return notApplicable(provider.impossible?.overpay ?? '');
    stage = await aProviderStage(provider);
    const lastCase = await lastCaseId(stage);
    await happens(stage, provider, 'overpay');
    expect(await factsOf(stage)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    expect(await openCasesOf(stage, lastCase)).toEqual(['overpaid']);
  });

  test.each(['refund', 'chargeback'] as const)('a %s after the credit is taken from the balance once', async (action) => {
    if (!possible(action)) return notApplicable(provider.impossible?.[action] ?? '');
    stage = await aProviderStage(provider);
    await happens(stage, provider, 'pay');
    await happens(stage, provider, action);
    expect(await factsOf(stage)).toMatchObject({ balance: 0, deposits: 1, payment: { outcome: 'refunded' } });
    expect(await checkLedger(stage.app)).toEqual([]);
  });

  test('callbacks in the wrong order end in the same state', async () => {
    if (!possible('refund')) return notApplicable(provider.impossible?.refund ?? '');
    stage = await aProviderStage(provider);
    const inOrder = [...(await stage.act('pay')), ...(await stage.act('refund'))];
    for (const callback of inOrder.toReversed()) await stage.deliver(callback);
    expect(await factsOf(stage)).toMatchObject({ balance: 0, payment: { outcome: 'refunded' } });
    expect(await checkLedger(stage.app)).toEqual([]);
  });

  test('a payment is credited although the method is switched off meanwhile', async () => {
    stage = await aProviderStage(provider);
    await stage.app.db.sql('UPDATE payment_method_configs SET is_enabled = false WHERE method_id = $1 RETURNING method_id', [
      stage.method,
    ]);
    await happens(stage, provider, 'pay');
    expect((await factsOf(stage)).balance).toBe(AMOUNT);
  });

  test('a provider that is down creates no invoice, and nothing is credited', async () => {
    if (provider.pays) return notApplicable('it is never called: the donor pays on its page');
    stage = await aProviderStage(provider);
    stage.intercept(() => ({ status: 503, contentType: 'text/plain', body: 'down' }));
    await expect(stage.open()).rejects.toMatchObject({ status: 502 });
    stage.intercept(null);
    await happens(stage, provider, 'pay');
    expect((await factsOf(stage)).balance).toBe(AMOUNT);
  });
});
