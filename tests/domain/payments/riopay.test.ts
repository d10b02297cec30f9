import { afterEach, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { requestRefund, sendRefund } from '../../../src/domain/payments/refunds.ts';
import { aProviderStage, factsOf, lastCaseId, openCasesOf, type ProviderStage } from '../../support/providers/provider-stage.ts';
import { reported, riopayCase } from '../../support/providers/riopay-case.ts';

let stage: ProviderStage;
afterEach(() => stage.close());

describe('RioPay (03a section 13)', () => {
  test.each([
    ['an order that the provider blocked', { status: 'BLOCKED' }, 'blocked', 'failed'],
    ['a payment of a test terminal', { isTest: true }, 'test_payment', 'pending'],
  ])('%s is a case and credits nothing', async (_name, change, kind, outcome) => {
    stage = await aProviderStage(riopayCase);
    const lastCase = await lastCaseId(stage);
    expect(await stage.deliver(reported(stage, change))).toEqual(riopayCase.acknowledges);
    expect(await factsOf(stage)).toMatchObject({ balance: 0, deposits: 0, payment: { isPaid: false, outcome } });
    expect(await openCasesOf(stage, lastCase)).toEqual([kind]);
  });

  test('an order whose answer was lost is found by our id, and credited', async () => {
    stage = await aProviderStage(riopayCase);
    await stage.app.db.sql('UPDATE payments SET external_id = NULL, merchant_id = NULL WHERE id = $1 RETURNING id', [
      stage.current.paymentId,
    ]);
    for (const genuine of await stage.act('pay')) await stage.deliver(genuine);
    expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
  });

  test('a refund is taken from the balance once, and ends when the status of the order says it', async () => {
    stage = await aProviderStage(riopayCase);
    const { app } = stage;
    await stage.deliver(await stage.callbackOf('pay'));
    const { refundId } = await requestRefund(app, {
      ...{ paymentId: stage.current.paymentId, amountKopeks: null, reason: 'asked for', requestedBy: 'test' },
    });
    await sendRefund(app, { reversalId: refundId });
    await sendRefund(app, { reversalId: refundId });
    const rows = await app.db.sql('SELECT kind, status, reversal_id FROM payment_reversals WHERE payment_id = $1', [
      stage.current.paymentId,
    ]);
    expect(rows).toEqual([{ kind: 'refund', status: 'done', reversalId: `${stage.current.invoice.id}:refund` }]);
    expect(await factsOf(stage)).toMatchObject({ balance: 0, payment: { outcome: 'refunded' } });
    expect(await checkLedger(app)).toEqual([]);
  });
});
