/** Spec 07 section 4.2: payments of the existing product whose callbacks reach the imported service (hazards I4 and I5). */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { receiveStarsUpdate, type StarsMovement } from '../../../src/domain/payments/credit-stars.ts';
import { requestRefund, sendRefund } from '../../../src/domain/payments/refunds.ts';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import {
  type ImportedInvoices,
  type ImportedPayment,
  invoicesOf,
  processWaiting,
  SOURCE_PROVIDERS,
} from '../../support/imported-invoices.ts';
import { serverUrl } from '../../support/test-database.ts';

/** Opens the latest credited payment of each provider again, an hour ago: the generator makes an open one of a few only. */
async function openOneOfEach(source: pg.Client): Promise<void> {
  // The provider's ids are numbers, what the generator makes up is none.
  await source.query('UPDATE severpay_payments SET severpay_id = (700000 + id)::text');
  for (const [method, word] of SOURCE_PROVIDERS) {
    const table = `${method}_payments`;
    const flag = ['cryptobot', 'heleket'].includes(method) ? '' : 'is_paid = false,';
    const paidAt = method === 'yookassa' ? 'captured_at' : 'paid_at';
    await source.query(
      `UPDATE ${table} SET ${flag} ${paidAt} = NULL, transaction_id = NULL, status = $1, created_at = timestamptz '2026-11-28T08:00:00Z'
       WHERE id = (SELECT max(p.id) FROM ${table} p JOIN users u ON u.id = p.user_id JOIN transactions t ON t.id = p.transaction_id
         WHERE u.status = 'active' AND u.telegram_id IS NOT NULL AND t.external_id LIKE 'ext_%')`,
      [word],
    );
  }
}

describe.skipIf(!serverUrl)('callbacks after an import (left out without a server: TEST_DATABASE_URL)', () => {
  let imported: Imported;
  let invoices: ImportedInvoices;
  /** The open order of CloudPayments, before anybody pays it. */
  let order: ImportedPayment | undefined;
  beforeAll(async () => {
    imported = await importedFrom(['--seed', '4'], openOneOfEach);
    invoices = await invoicesOf(imported);
    [order] = await invoices.payments(`method = 'cloudpayments' AND outcome = 'pending'`);
  });
  afterAll(async () => {
    await invoices.close();
    await imported.drop();
  });

  /** Everything that a callback may change. */
  const moneyOf = async (userId: number | null) => {
    const [facts] = await imported.rows<{ balance: number; rows: number; sold: number; cases: number }>(
      `SELECT (SELECT coalesce(sum(balance_kopeks), 0)::bigint FROM users WHERE id = ${userId} OR ${userId} IS NULL) AS balance,
        (SELECT count(*)::int FROM transactions) AS rows, (SELECT count(*)::int FROM payment_cases) AS cases,
        (SELECT count(*)::int FROM guest_purchases WHERE paid_at IS NOT NULL) AS sold`,
    );
    return facts!;
  };

  /** What a provider repeats may come when the first callback is deleted here. */
  const forgetCallbacks = () => imported.app.db.sql('DELETE FROM provider_callbacks RETURNING id');

  test('I4: an open order of CloudPayments names no charge, since its next attempt has another one than the declined one', () => {
    expect(order).toMatchObject({ externalId: null, metadata: { import: { transaction_id_cp: expect.any(Number) } } });
  });

  test.each(SOURCE_PROVIDERS)('I4: an open payment of %s is credited once, however often it is reported', async (method) => {
    const open = `method = '${method}' AND outcome = 'pending' AND user_id IS NOT NULL`;
    const payments = await invoices.payments(open);
    expect(payments).not.toEqual([]);
    for (const payment of payments) {
      const before = await moneyOf(payment.userId);
      const credited = { ...before, balance: before.balance + payment.amountKopeks, rows: before.rows + 1 };
      for (let count = 0; count < 2; count++) {
        await invoices.report(payment);
        expect([payment, await moneyOf(payment.userId)]).toEqual([payment, credited]);
        await forgetCallbacks();
      }
    }
    expect(await invoices.payments(open)).toEqual([]);
    expect(await imported.rows('SELECT * FROM ledger_check()')).toEqual([]);
  });

  test('I4: an open invoice of a guest pays for its purchase once', async () => {
    const [payment] = await invoices.payments(`outcome = 'pending' AND purpose = 'guest_purchase'`);
    const before = await moneyOf(null);
    const sold = { ...before, rows: before.rows + 1, sold: before.sold + 1 };
    for (let count = 0; count < 2; count++) {
      await invoices.report(payment!);
      expect(await moneyOf(null)).toEqual(sold);
      await forgetCallbacks();
    }
  });

  test('a payment of CloudPayments that was credited there is refunded at the provider', async () => {
    const [payment] = await invoices.payments(
      `method = 'cloudpayments' AND is_paid AND user_id IS NOT NULL AND transaction_id IS NOT NULL AND imported_at IS NOT NULL AND external_id IS NOT NULL`,
    );
    await invoices.report(payment!);
    const refund = { paymentId: payment!.id, amountKopeks: null, reason: 'asked for', requestedBy: 'the operator' };
    const { refundId } = await requestRefund(invoices.app, refund);
    await sendRefund(invoices.app, { reversalId: refundId });
    const [done] = await imported.rows(`SELECT status, amount_kopeks FROM payment_reversals WHERE id = ${refundId}`);
    expect(done).toEqual({ status: 'done', amountKopeks: payment!.amountKopeks });
    expect(await imported.rows('SELECT * FROM ledger_check()')).toEqual([]);
  });

  describe('Stars', () => {
    const payer = async () => {
      const [row] = await imported.rows<{ id: number; messengerId: number }>(
        `SELECT id, messenger_id FROM users WHERE status = 'active' AND messenger_id IS NOT NULL ORDER BY id LIMIT 1`,
      );
      return row!;
    };
    const paid = (payload: string, chargeId: string, payerMessengerId: number): StarsMovement => ({
      kind: 'stars_paid',
      updateId: 1,
      payload,
      chargeId,
      payerMessengerId,
      stars: 100,
    });
    const receive = async (update: StarsMovement) => {
      await receiveStarsUpdate(invoices.app, update, '{}');
      await processWaiting(invoices.app);
    };

    test.each([
      'balance_{user}_13000',
      'balance_topup_{user}_13000_1764320000',
      'wheel_spin_{user}_1764320000',
      'trial_1',
      'trial_1_{user}',
      'guest_purchase_Zm9vYmFyYmF6',
      'simple_subscription_{user}_13000',
    ])('I4: a payload %s of the existing product is credited once with its full worth', async (pattern) => {
      const { id, messengerId } = await payer();
      const before = await moneyOf(id);
      const update = paid(pattern.replace('{user}', String(id)), `charge of ${pattern}`, messengerId);
      for (let count = 0; count < 2; count++) {
        await receive(update);
        // 100 stars at 1.3 rubles.
        expect(await moneyOf(id)).toEqual({ ...before, balance: before.balance + 13_000, rows: before.rows + 1 });
        await forgetCallbacks();
      }
    });

    test('I5: what was credited there is not credited again', async () => {
      const credited = await imported.rows<{ externalId: string; id: number; messengerId: number | null }>(
        `SELECT t.external_id, u.id, u.messenger_id FROM transactions t JOIN users u ON u.id = t.user_id
         WHERE t.payment_method = 'messenger_stars' AND t.imported_at IS NOT NULL AND u.messenger_id IS NOT NULL`,
      );
      expect(credited.length).toBeGreaterThan(5);
      const before = await moneyOf(null);
      for (const { externalId, id, messengerId } of credited) await receive(paid(`balance_${id}_100`, externalId, messengerId!));
      expect(await moneyOf(null)).toEqual(before);
    });
  });

  test('I5: no payment that was credited there is credited again, nor is an administrator asked to', async () => {
    const payments = await invoices.payments('is_paid AND imported_at IS NOT NULL');
    const before = await moneyOf(null);
    const again: ImportedPayment[] = [];
    for (const payment of payments) {
      await invoices.report(payment);
      const after = await moneyOf(null);
      if (JSON.stringify(after) !== JSON.stringify(before)) again.push(payment);
      Object.assign(before, after);
    }
    expect(payments.length).toBeGreaterThan(100);
    expect(new Set(payments.map(({ method }) => method)).size).toBe(SOURCE_PROVIDERS.length);
    expect(again).toEqual([]);
  });

  test('I5: of two payments with one movement neither is credited again', async () => {
    const shared = await invoices.payments('is_paid AND transaction_id IS NULL AND user_id IS NOT NULL');
    expect(shared).toHaveLength(imported.made.issues.payment_transaction_shared!);
    const before = await moneyOf(null);
    for (const payment of shared) await invoices.report(payment);
    expect(await moneyOf(null)).toEqual(before);
  });
});
