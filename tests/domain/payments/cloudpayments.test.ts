import { afterEach, describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { requestRefund, sendRefund } from '../../../src/domain/payments/refunds.ts';
import { findPayment } from '../../../src/domain/payments/repo.ts';
import { changedTables, databaseDigests } from '../../support/database-digests.ts';
import { cloudpaymentsCase, notification } from '../../support/providers/cloudpayments-case.ts';
import {
  aProviderFixture,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderFixture,
} from '../../support/providers/provider-fixture.ts';
import { whileRefused } from '../../support/refused-writes.ts';

/** What CloudPayments has besides the tables of all providers (03a section 12). */
let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.close();
  fixture = null;
});

const BEFORE_PAYMENT = { GatewayName: null, Status: 'Completed' };

async function check(prepared: ProviderFixture, change: Record<string, string | null> = {}): Promise<unknown> {
  const reply = await prepared.deliver(notification(prepared, 'check', { ...BEFORE_PAYMENT, ...change }));
  expect(reply.status).toBe(200);
  return JSON.parse(reply.body).code;
}

describe('spec 03 H1: nobody makes a balance', () => {
  const KINDS = ['', 'check', 'pay', 'fail', 'confirm', 'refund', 'cancel'];

  test.each(KINDS)('without the signature of the shop: "/%s" is refused and leaves no row', async (kind) => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    const genuine = notification(fixture, kind);
    const { 'content-hmac': signature, ...unsigned } = genuine.headers as Record<string, string>;
    const before = await databaseDigests(fixture.app);
    for (const headers of [
      unsigned,
      { ...unsigned, 'content-hmac': '' },
      { ...unsigned, 'x-content-hmac': '' },
      { ...unsigned, 'content-hmac': 'AAAA' },
      { ...unsigned, 'content-hmac': notification(fixture, kind, {}, '').headers['content-hmac']! },
      // The one of another body.
      { ...unsigned, 'content-hmac': notification(fixture, kind, { Amount: '1.00' }).headers['content-hmac']! },
    ]) {
      expect(await fixture.deliver({ ...genuine, headers })).toEqual({ status: 200, body: '{"code":13}' });
    }
    expect(signature).toMatch(/=$/);
    expect(changedTables(before, await databaseDigests(fixture.app))).toEqual([]);
  });

  test.each([{ InvoiceId: 'an-order-of-nobody' }, { InvoiceId: null }, { InvoiceId: 'cp_1_1790000000' }])(
    'an invoice that is not ours (%j) is not made from AccountId and Amount',
    async (change) => {
      fixture = await aProviderFixture(cloudpaymentsCase);
      const lastCase = await lastCaseId(fixture);
      const { user } = fixture.current;
      for (const kind of ['pay', 'confirm', '']) {
        const TransactionId = `7${KINDS.indexOf(kind)}${user.id}`;
        await fixture.deliver(
          notification(fixture, kind, { ...change, TransactionId, AccountId: String(user.id), Amount: '90000.00' }),
        );
      }
      expect(await factsOf(fixture)).toMatchObject({ balance: 0, deposits: 0, payment: { isPaid: false } });
      expect(await openCasesOf(fixture, lastCase)).toEqual(Array(3).fill('unknown_payment'));
      const mine = await fixture.app.db.sql('SELECT id FROM payments WHERE user_id = $1::int', [user.id]);
      expect(mine).toHaveLength(1);
    },
  );

  test.each(['fail', 'cancel'])('a paid record stays exactly as it is after "%s", however often', async (kind) => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    await fixture.deliver(notification(fixture, 'pay'));
    const where = { where: { id: fixture.current.paymentId } };
    const paid = await fixture.app.db.prisma.payment.findUnique(where);
    expect(paid).toMatchObject({ outcome: 'paid', isPaid: true });
    for (let copy = 0; copy < 2; copy++) {
      const change = { Status: null, Reason: 'Insufficient funds', ReasonCode: '5051', DateTime: `2026-10-02 10:0${copy}:00` };
      await fixture.deliver(notification(fixture, kind, change));
    }
    expect(await fixture.app.db.prisma.payment.findUnique(where)).toEqual(paid);
    expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
  });

  test('a payment that could not be stored is not acknowledged, and credits once when it is repeated', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    const prepared = fixture;
    const genuine = notification(prepared, 'pay');
    const reply = await whileRefused(prepared.app, 'provider_callbacks', () => prepared.deliver(genuine));
    expect(reply.status).toBeGreaterThanOrEqual(500);
    expect(reply.body).not.toContain('"code":0');
    expect(await prepared.deliver(genuine)).toMatchObject(cloudpaymentsCase.acknowledges);
    expect(await factsOf(prepared)).toMatchObject({ balance: 50_000, deposits: 1 });
  });
});

describe('Check is answered by our record', () => {
  test('of an open order, before and after the payment, and stores nothing', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    expect(await check(fixture)).toBe(0);
    expect(await check(fixture, { AccountId: '999999' })).toBe(11);
    expect(await check(fixture, { Amount: '499.99' })).toBe(12);
    expect(await check(fixture, { InvoiceId: 'an-order-of-nobody' })).toBe(10);
    const stored = await fixture.app.db.sql('SELECT id FROM provider_callbacks WHERE order_id = $1', [fixture.current.orderId]);
    expect(stored).toEqual([]);
    for (const genuine of await fixture.act('pay')) await fixture.deliver(genuine);
    expect(await check(fixture)).toBe(13);
  });

  test('of an order that is older than a day', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    fixture.t.clock.advance(25 * HOUR_MS);
    expect(await check(fixture)).toBe(20);
  });

  test('on the shared path too', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    const reply = await fixture.deliver(notification(fixture, '', { ...BEFORE_PAYMENT, Amount: '1.00' }));
    expect(reply).toEqual({ status: 200, body: '{"code":12}' });
  });

  test('only for a genuine question', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    const reply = await fixture.deliver(notification(fixture, 'check', BEFORE_PAYMENT, 'another secret'));
    expect(reply).toEqual({ status: 200, body: '{"code":13}' });
  });
});

describe('a failed attempt', () => {
  const messagesTo = (prepared: ProviderFixture) =>
    prepared.app.db.sql<{ html: string }>(
      "SELECT data ->> 'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND (data ->> 'messengerId')::bigint = $1::bigint ORDER BY created_on, ctid",
      [prepared.current.user.messengerId],
    );
  const failed = (prepared: ProviderFixture, change: Record<string, string | null> = {}) =>
    notification(prepared, 'fail', { Status: 'Declined', Reason: 'InsufficientFunds', ReasonCode: '5051', ...change });

  test.each([
    ['ru', '5051', /недостаточно средств/],
    ['en', '5051', /not enough money/],
    ['ru', '5206', /3-D Secure/],
    ['en', '9999', /the bank refused/],
  ])('is reported to its payer in %s with the reason %s, once, and the order stays payable', async (language, code, reason) => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    const { user } = fixture.current;
    await fixture.app.db.sql('UPDATE users SET language = $2 WHERE id = $1::int RETURNING id', [user.id, language]);
    for (let copy = 0; copy < 2; copy++) {
      expect(await fixture.deliver(failed(fixture, { ReasonCode: code }))).toMatchObject(cloudpaymentsCase.acknowledges);
      // A repeat after a minute is processed again; so is another report of the same attempt.
      fixture.t.clock.advance(MINUTE_MS + 1);
      await fixture.deliver(failed(fixture, { ReasonCode: code, DateTime: `2026-10-02 10:0${copy}:30` }));
    }
    const notices = await messagesTo(fixture);
    expect(notices).toEqual([{ html: expect.stringMatching(reason) }]);
    expect(notices[0]!.html).toMatch(/500/);
    await fixture.deliver(failed(fixture, { TransactionId: '5999999999', ReasonCode: '5054' }));
    expect(await messagesTo(fixture)).toHaveLength(2);
    for (const genuine of await fixture.act('pay')) await fixture.deliver(genuine);
    await fixture.deliver(failed(fixture, { TransactionId: '5999999998' }));
    expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
    expect(await messagesTo(fixture)).toHaveLength(2);
  });

  test('of an order of nobody, or of a payer who is blocked, tells nobody', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    await fixture.deliver(failed(fixture, { InvoiceId: 'an-order-of-nobody' }));
    await fixture.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [fixture.current.user.id]);
    await fixture.deliver(failed(fixture));
    expect(await messagesTo(fixture)).toEqual([]);
  });
});

describe('a payment', () => {
  test('in test mode is a case and credits nothing', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    const lastCase = await lastCaseId(fixture);
    expect(await fixture.deliver(notification(fixture, 'pay', { TestMode: '1' }))).toMatchObject(cloudpaymentsCase.acknowledges);
    expect((await factsOf(fixture)).balance).toBe(0);
    expect(await openCasesOf(fixture, lastCase)).toEqual(['test_payment']);
  });

  test('that was held is credited by Confirm', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    await fixture.deliver(notification(fixture, 'pay', { Status: 'Authorized' }));
    expect((await factsOf(fixture)).balance).toBe(0);
    await fixture.deliver(notification(fixture, 'confirm'));
    expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
  });

  test('of a second attempt on the same order is a case', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    await fixture.deliver(notification(fixture, 'pay'));
    const lastCase = await lastCaseId(fixture);
    await fixture.deliver(notification(fixture, 'pay', { TransactionId: `6${fixture.current.paymentId}` }));
    expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
    expect(await openCasesOf(fixture, lastCase)).toEqual(['second_payment']);
  });

  test('has the transaction of the provider in the ledger, and an AccountId that a merge of accounts does not change', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    await fixture.deliver(notification(fixture, 'pay'));
    const payment = await findPayment(fixture.app.db, fixture.current.paymentId);
    const { orderId, user } = fixture.current;
    expect(payment).toMatchObject({
      chargeId: expect.stringMatching(/^59\d{8}$/),
      externalId: orderId,
      merchantId: String(user.id),
    });
    const rows = await fixture.app.db.sql('SELECT external_id FROM transactions WHERE id = $1::int', [payment!.transactionId]);
    expect(rows).toEqual([{ externalId: payment!.chargeId }]);
  });

  test('whose partial refund is reported before it, is credited without that part', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    const inOrder = [...(await fixture.act('pay')), ...(await fixture.act('refund', 20_000))];
    for (const callback of [...inOrder.toReversed(), ...inOrder]) await fixture.deliver(callback);
    expect(await factsOf(fixture)).toMatchObject({ balance: 30_000, deposits: 1, payment: { outcome: 'paid' } });
    expect(await checkLedger(fixture.app)).toEqual([]);
  });

  test('is refunded in parts, each once', async () => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    for (const genuine of await fixture.act('pay')) await fixture.deliver(genuine);
    for (const part of [...(await fixture.act('refund', 20_000)), ...(await fixture.act('refund', 10_000))]) {
      for (let copy = 0; copy < 2; copy++) await fixture.deliver(part);
    }
    expect((await factsOf(fixture)).balance).toBe(20_000);
  });
});

/** 03a section 12: the provider keeps the key of a refund for an hour, and no call lists the refunds of a payment. */
describe('a refund that was requested here, and whose answer was lost', () => {
  const PART = 20_000;
  const CUT = { status: 0, contentType: '', body: '', isCut: true };
  const REFUND = '/payments/refund';

  /** Requests the refund of a paid invoice, and sends it while no answer comes through. */
  const sentUnanswered = async (amountKopeks: number | null, { isCarriedOut }: { isCarriedOut: boolean }) => {
    fixture = await aProviderFixture(cloudpaymentsCase);
    const { app, sandbox, current } = fixture;
    for (const genuine of await fixture.act('pay')) await fixture.deliver(genuine);
    const order = { paymentId: current.paymentId, amountKopeks, reason: 'asked for it', requestedBy: 'test' };
    const { refundId } = await requestRefund(app, order);
    let isPassedOn = false;
    sandbox.intercept(async ({ path, method, body, headers }) => {
      if (path !== REFUND || isPassedOn) return null;
      isPassedOn = true;
      const { authorization = '', 'x-request-id': key = '' } = headers;
      const request = { method, body, headers: { authorization, 'content-type': 'application/json', 'x-request-id': key } };
      if (isCarriedOut) await fetch(`${sandbox.server.url}/cloudpayments${path}`, request);
      isPassedOn = false;
      return CUT;
    });
    await expect(sendRefund(app, { reversalId: refundId })).rejects.toMatchObject({ failure: 'unavailable' });
    sandbox.intercept(null);
    return { prepared: fixture, again: () => sendRefund(app, { reversalId: refundId }) };
  };
  /** Kopeks that the provider gave back, the states of the refunds here, and the balance. */
  const refundFacts = async (prepared: ProviderFixture) => {
    const invoice = (await prepared.sandbox.list()).find(({ id }) => id === prepared.current.invoice.id)!;
    const rows = await prepared.app.db.sql<{ status: string }>(
      'SELECT status FROM payment_reversals WHERE payment_id = $1::int ORDER BY id',
      [prepared.current.paymentId],
    );
    return {
      there: invoice.reversals.map(({ amountKopeks }) => amountKopeks),
      here: rows.map(({ status }) => status),
      balance: (await factsOf(prepared)).balance,
    };
  };

  test('is sent again with its key within the hour, and carried out once', async () => {
    const { prepared, again } = await sentUnanswered(PART, { isCarriedOut: true });
    prepared.t.clock.advance(30 * MINUTE_MS);
    await again();
    expect(await refundFacts(prepared)).toEqual({ there: [PART], here: ['done'], balance: 30_000 });
  });

  test.each([PART, null])(
    'of %s kopeks is not sent again when the key is forgotten: its notification ends it',
    async (kopeks) => {
      const { prepared, again } = await sentUnanswered(kopeks, { isCarriedOut: true });
      const amount = kopeks ?? 50_000;
      prepared.t.clock.advance(2 * HOUR_MS);
      for (let time = 0; time < 2; time++) await again();
      const waiting = { there: [amount], here: ['requested'], balance: 50_000 - amount };
      expect(await refundFacts(prepared)).toEqual(waiting);
      const { chargeId } = (await findPayment(prepared.app.db, prepared.current.paymentId))!;
      const change = { PaymentTransactionId: chargeId, OperationType: 'Refund', Amount: `${amount / 100}.00` };
      await prepared.deliver(notification(prepared, 'refund', { ...change, TransactionId: `7${prepared.current.paymentId}` }));
      await again();
      expect(await refundFacts(prepared)).toEqual({ ...waiting, here: ['done'] });
      expect(await checkLedger(prepared.app)).toEqual([]);
    },
  );

  test('ends as refused when the payer has got the whole payment back in another way', async () => {
    const { prepared, again } = await sentUnanswered(PART, { isCarriedOut: false });
    for (const genuine of await prepared.act('refund')) await prepared.deliver(genuine);
    prepared.t.clock.advance(2 * HOUR_MS);
    await again();
    expect(await refundFacts(prepared)).toEqual({ there: [50_000], here: ['failed', 'done'], balance: 0 });
    expect(await checkLedger(prepared.app)).toEqual([]);
  });

  test('is sent again at any time while the provider has given nothing back', async () => {
    const { prepared, again } = await sentUnanswered(PART, { isCarriedOut: false });
    prepared.t.clock.advance(2 * HOUR_MS);
    await again();
    expect(await refundFacts(prepared)).toEqual({ there: [PART], here: ['done'], balance: 30_000 });
  });
});
