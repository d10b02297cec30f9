import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, DAY_MS } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { makeLedgerReport } from '../../../src/domain/ledger/report/make-report.ts';
import { type Discrepancy, reconcilePayments, sumProviderTurnover } from '../../../src/domain/payments/provider-report.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { aUser } from '../../support/builders.ts';
import { callback, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
const provider = new ScriptedProvider();
beforeAll(async () => {
  t = await testApp();
  app = await withProvider(t.app, provider);
});

async function aTopup(amountKopeks: number) {
  const user = await aUser(app);
  const request = { amountKopeks, method: 'sandbox', option: null };
  const { paymentId } = await topupBalance(app, { kind: 'user', userId: user.id }, request, { idempotencyKey: null });
  const externalId = (await paymentFacts(app, paymentId)).externalId!;
  provider.set(externalId, 'paid');
  await callback(app, externalId);
  await runCallbackJobs(app, externalId);
  return { userId: user.id, paymentId, externalId };
}

const spend = (userId: number, kopeks: number) =>
  inTransaction(app, (inner) =>
    postMovement(inner, {
      userId,
      type: 'subscription_payment',
      amountKopeks: -kopeks,
      description: 'bought',
      paymentMethod: 'balance',
      contra: { kind: 'sales_revenue', product: 'tariff' },
    }),
  );

describe('ledger report', () => {
  test('opening and closing are the sums of the entries, turnover by type explains the difference', async () => {
    const before = await aTopup(70_000);
    t.clock.advance(DAY_MS);
    const from = t.clock.now();
    const within = await aTopup(50_000);
    await spend(within.userId, 20_000);
    await spend(before.userId, 5_000);
    t.clock.advance(DAY_MS);
    const to = t.clock.now();
    await aTopup(90_000);

    const report = await makeLedgerReport(app, from, to);
    expect([report.openingSumKopeks, report.closingSumKopeks]).toEqual([0, 0]);
    for (const line of report.accounts) {
      const [sum] = await app.db.sql<{ opening: bigint; closing: bigint }>(
        `SELECT coalesce(sum(e.kopeks) FILTER (WHERE e.created_at < $1::timestamptz), 0)::bigint AS opening, coalesce(sum(e.kopeks), 0)::bigint AS closing
         FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
         WHERE e.created_at < $2::timestamptz AND a.kind = $3 AND ($4::text IS NULL OR a.key = $4)`,
        [from, to, line.kind, line.key],
      );
      expect([line.openingKopeks, line.closingKopeks]).toEqual([Number(sum!.opening), Number(sum!.closing)]);
    }
    const wallets = report.accounts.find((line) => line.kind === 'user_wallet')!;
    expect([wallets.inKopeks, wallets.outKopeks]).toEqual([50_000, -25_000]);
    expect(report.turnover).toEqual([
      { type: 'deposit', kind: 'provider_clearing', key: 'provider:sandbox', entries: 1, inKopeks: 0, outKopeks: -50_000 },
      { type: 'deposit', kind: 'user_wallet', key: null, entries: 1, inKopeks: 50_000, outKopeks: 0 },
      { type: 'subscription_payment', kind: 'sales_revenue', key: 'sales:tariff', entries: 2, inKopeks: 25_000, outKopeks: 0 },
      { type: 'subscription_payment', kind: 'user_wallet', key: null, entries: 2, inKopeks: 0, outKopeks: -25_000 },
    ]);
    expect(await sumProviderTurnover(app, from, to)).toEqual([
      { method: 'sandbox', payments: 1, paidKopeks: 50_000, feeKopeks: 0, paymentsWithFee: 0, reversals: 0, reversedKopeks: 0 },
    ]);
  });
});

describe('reconciliation with the export of a provider', () => {
  test('says what matches, differs, and is missing on either side', async () => {
    t.clock.advance(DAY_MS);
    const from = t.clock.now();
    const [matched, different, missing] = [await aTopup(11_000), await aTopup(12_000), await aTopup(13_000)];
    const [row] = await app.db.sql<{ orderId: string }>('SELECT order_id FROM payments WHERE id = $1::int', [
      different.paymentId,
    ]);
    const dollars = await aTopup(14_000);
    const exported = [
      { id: matched.externalId, amountKopeks: 11_000, currency: null },
      { id: matched.externalId, amountKopeks: 11_000, currency: 'RUB' },
      { id: row!.orderId, amountKopeks: 12_001, currency: 'RUB' },
      { id: 'nobody', amountKopeks: 500, currency: 'RUB' },
      { id: dollars.externalId, amountKopeks: 14_000, currency: 'USD' },
    ];
    const found: Discrepancy[] = [];
    const period = { from, to: addDays(from, 1) };
    const totals = await reconcilePayments(app, 'sandbox', period, exported, (one) => found.push(one));
    expect(totals).toEqual({ matched: 1, matchedKopeks: 11_000, discrepancies: 4 });
    expect(found).toMatchObject([
      {
        state: 'different',
        payment: { paymentId: different.paymentId, amountKopeks: 12_000 },
        exported: { amountKopeks: 12_001 },
      },
      { state: 'missingHere', payment: null, exported: { id: 'nobody', amountKopeks: 500 } },
      { state: 'otherCurrency', payment: { paymentId: dollars.paymentId }, exported: { currency: 'USD' } },
      { state: 'missingThere', payment: { paymentId: missing.paymentId, amountKopeks: 13_000 }, exported: null },
    ]);
  });
});
