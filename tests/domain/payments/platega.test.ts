import { afterEach, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { listPaymentMethodsFor } from '../../../src/domain/payments/payment-methods.ts';
import { requestRefund, sendRefund } from '../../../src/domain/payments/refunds.ts';
import { claimed, plategaCase } from '../../support/providers/platega-case.ts';
import { aProviderFixture, factsOf, type ProviderFixture } from '../../support/providers/provider-fixture.ts';

let fixture: ProviderFixture;
afterEach(() => fixture.close());

const AMOUNT = 50_000;

describe('Platega (03a section 8)', () => {
  test('right headers and CONFIRMED, but the API says PENDING: nothing is credited', async () => {
    fixture = await aProviderFixture(plategaCase);
    expect(await fixture.deliver(claimed(fixture))).toMatchObject({ status: 200 });
    expect(await factsOf(fixture)).toMatchObject({ balance: 0, deposits: 0, payment: { isPaid: false, outcome: 'pending' } });
  });

  test('the code 10 is not offered although the setting still names it', async () => {
    fixture = await aProviderFixture(plategaCase, { environment: { PLATEGA_ACTIVE_METHODS: '2,10,11' } });
    const methods = await listPaymentMethodsFor(fixture.app, fixture.current.user.id);
    expect(methods.find(({ id }) => id === 'platega')?.options?.map(({ id }) => id)).toEqual(['2', '11']);
  });

  test.each([
    ['answered', false],
    ['whose answer was lost', true],
  ])('a refund %s is taken from the balance once, and ends when the status says it', async (_name, isLost) => {
    fixture = await aProviderFixture(plategaCase);
    const { app } = fixture;
    await fixture.deliver(await fixture.callbackOf('pay'));
    const { refundId } = await requestRefund(app, {
      paymentId: fixture.current.paymentId,
      amountKopeks: null,
      reason: 'asked for',
      requestedBy: 'test',
    });
    expect((await factsOf(fixture)).balance).toBe(0);
    if (isLost) {
      // The provider cancels, and we never hear of it.
      await fixture.act('refund');
      fixture.intercept((request) =>
        request.method === 'POST' ? { status: 504, contentType: 'text/plain', body: 'no answer' } : null,
      );
      await expect(sendRefund(app, { reversalId: refundId })).rejects.toMatchObject({ failure: 'unavailable' });
    } else {
      await sendRefund(app, { reversalId: refundId });
    }
    await sendRefund(app, { reversalId: refundId });
    const rows = await app.db.sql(
      'SELECT kind, status, reversal_id, amount_kopeks FROM payment_reversals WHERE payment_id = $1',
      [fixture.current.paymentId],
    );
    expect(rows).toEqual([
      { kind: 'refund', status: 'done', reversalId: `${fixture.current.invoice.id}:reversed`, amountKopeks: AMOUNT },
    ]);
    expect(await factsOf(fixture)).toMatchObject({ balance: 0, payment: { outcome: 'refunded' } });
    expect(await checkLedger(app)).toEqual([]);
  });
});
