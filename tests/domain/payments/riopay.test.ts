import { afterEach, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { requestRefund, sendRefund } from '../../../src/domain/payments/refunds.ts';
import {
  aProviderFixture,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderFixture,
} from '../../support/providers/provider-fixture.ts';
import { reported, riopayCase } from '../../support/providers/riopay-case.ts';

let fixture: ProviderFixture;
afterEach(() => fixture.close());

describe('RioPay (03a section 13)', () => {
  test.each([
    ['an order that the provider blocked', { status: 'BLOCKED' }, 'blocked', 'failed'],
    ['a payment of a test terminal', { isTest: true }, 'test_payment', 'pending'],
  ])('%s is a case and credits nothing', async (_name, change, kind, outcome) => {
    fixture = await aProviderFixture(riopayCase);
    const lastCase = await lastCaseId(fixture);
    expect(await fixture.deliver(reported(fixture, change))).toEqual(riopayCase.acknowledges);
    expect(await factsOf(fixture)).toMatchObject({ balance: 0, deposits: 0, payment: { isPaid: false, outcome } });
    expect(await openCasesOf(fixture, lastCase)).toEqual([kind]);
  });

  test('an order whose answer was lost is found by our id, and credited', async () => {
    fixture = await aProviderFixture(riopayCase);
    await fixture.app.db.sql('UPDATE payments SET external_id = NULL, merchant_id = NULL WHERE id = $1 RETURNING id', [
      fixture.current.paymentId,
    ]);
    for (const genuine of await fixture.act('pay')) await fixture.deliver(genuine);
    expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
  });

  test('a refund is taken from the balance once, and ends when the status of the order says it', async () => {
    fixture = await aProviderFixture(riopayCase);
    const { app } = fixture;
    await fixture.deliver(await fixture.callbackOf('pay'));
    const { refundId } = await requestRefund(app, {
      paymentId: fixture.current.paymentId,
      amountKopeks: null,
      reason: 'asked for',
      requestedBy: 'test',
    });
    await sendRefund(app, { reversalId: refundId });
    await sendRefund(app, { reversalId: refundId });
    const rows = await app.db.sql('SELECT kind, status, reversal_id FROM payment_reversals WHERE payment_id = $1', [
      fixture.current.paymentId,
    ]);
    expect(rows).toEqual([{ kind: 'refund', status: 'done', reversalId: `${fixture.current.invoice.id}:refund` }]);
    expect(await factsOf(fixture)).toMatchObject({ balance: 0, payment: { outcome: 'refunded' } });
    expect(await checkLedger(app)).toEqual([]);
  });
});
