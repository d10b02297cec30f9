import { afterEach, describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { requestRefund, sendRefund } from '../../../src/domain/payments/refunds.ts';
import { findPayment } from '../../../src/domain/payments/repo.ts';
import { changedTables, databaseDigests } from '../../support/database-digests.ts';
import { cloudpaymentsCase, notification } from '../../support/providers/cloudpayments-case.ts';
import { aProviderStage, factsOf, lastCaseId, openCasesOf, type ProviderStage } from '../../support/providers/provider-stage.ts';
import { whileRefused } from '../../support/refused-writes.ts';

/** What CloudPayments has besides the tables of all providers (03a section 12). */
let stage: ProviderStage | null = null;
afterEach(async () => {
  await stage?.close();
  stage = null;
});

const BEFORE_PAYMENT = { GatewayName: null, Status: 'Completed' };

async function check(staged: ProviderStage, change: Record<string, string | null> = {}): Promise<unknown> {
  const reply = await staged.deliver(notification(staged, 'check', { ...BEFORE_PAYMENT, ...change }));
  expect(reply.status).toBe(200);
  return JSON.parse(reply.body).code;
}

describe('spec 03 H1: nobody makes a balance', () => {
  const KINDS = ['', 'check', 'pay', 'fail', 'confirm', 'refund', 'cancel'];

  test.each(KINDS)('without the signature of the shop: "/%s" is refused and leaves no row', async (kind) => {
    stage = await aProviderStage(cloudpaymentsCase);
    const genuine = notification(stage, kind);
    const { 'content-hmac': signature, ...unsigned } = genuine.headers as Record<string, string>;
    const before = await databaseDigests(stage.app);
    for (const headers of [
      unsigned,
      { ...unsigned, 'content-hmac': '' },
      { ...unsigned, 'x-content-hmac': '' },
      { ...unsigned, 'content-hmac': 'AAAA' },
      { ...unsigned, 'content-hmac': notification(stage, kind, {}, '').headers['content-hmac']! },
      // The one of another body.
      { ...unsigned, 'content-hmac': notification(stage, kind, { Amount: '1.00' }).headers['content-hmac']! },
    ]) {
      expect(await stage.deliver({ ...genuine, headers })).toEqual({ status: 200, body: '{"code":13}' });
    }
    expect(signature).toMatch(/=$/);
    expect(changedTables(before, await databaseDigests(stage.app))).toEqual([]);
  });

  test.each([{ InvoiceId: 'an-order-of-nobody' }, { InvoiceId: null }, { InvoiceId: 'cp_1_1790000000' }])(
    'an invoice that is not ours (%j) is not made from AccountId and Amount',
    async (change) => {
      stage = await aProviderStage(cloudpaymentsCase);
      const lastCase = await lastCaseId(stage);
      const { user } = stage.current;
      for (const kind of ['pay', 'confirm', '']) {
        const TransactionId = `7${KINDS.indexOf(kind)}${user.id}`;
        await stage.deliver(
          notification(stage, kind, { ...change, TransactionId, AccountId: String(user.id), Amount: '90000.00' }),
        );
      }
      expect(await factsOf(stage)).toMatchObject({ balance: 0, deposits: 0, payment: { isPaid: false } });
      expect(await openCasesOf(stage, lastCase)).toEqual(Array(3).fill('unknown_payment'));
      const mine = await stage.app.db.sql('SELECT id FROM payments WHERE user_id = $1::int', [user.id]);
      expect(mine).toHaveLength(1);
    },
  );

  test.each(['fail', 'cancel'])('a paid record stays exactly as it is after "%s", however often', async (kind) => {
    stage = await aProviderStage(cloudpaymentsCase);
    await stage.deliver(notification(stage, 'pay'));
    const where = { where: { id: stage.current.paymentId } };
    const paid = await stage.app.db.prisma.payment.findUnique(where);
    expect(paid).toMatchObject({ outcome: 'paid', isPaid: true });
    for (let copy = 0; copy < 2; copy++) {
      const change = { Status: null, Reason: 'Insufficient funds', ReasonCode: '5051', DateTime: `2026-10-02 10:0${copy}:00` };
      await stage.deliver(notification(stage, kind, change));
    }
    expect(await stage.app.db.prisma.payment.findUnique(where)).toEqual(paid);
    expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
  });

  test('a payment that could not be stored is not acknowledged, and credits once when it is repeated', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    const staged = stage;
    const genuine = notification(staged, 'pay');
    const reply = await whileRefused(staged.app, 'provider_callbacks', () => staged.deliver(genuine));
    expect(reply.status).toBeGreaterThanOrEqual(500);
    expect(reply.body).not.toContain('"code":0');
    expect(await staged.deliver(genuine)).toMatchObject(cloudpaymentsCase.acknowledges);
    expect(await factsOf(staged)).toMatchObject({ balance: 50_000, deposits: 1 });
  });
});

describe('Check is answered by our record', () => {
  test('of an open order, before and after the payment, and stores nothing', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    expect(await check(stage)).toBe(0);
    expect(await check(stage, { AccountId: '999999' })).toBe(11);
    expect(await check(stage, { Amount: '499.99' })).toBe(12);
    expect(await check(stage, { InvoiceId: 'an-order-of-nobody' })).toBe(10);
    const stored = await stage.app.db.sql('SELECT id FROM provider_callbacks WHERE order_id = $1', [stage.current.orderId]);
    expect(stored).toEqual([]);
    for (const genuine of await stage.act('pay')) await stage.deliver(genuine);
    expect(await check(stage)).toBe(13);
  });

  test('of an order that is older than a day', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    stage.t.clock.advance(25 * HOUR_MS);
    expect(await check(stage)).toBe(20);
  });

  test('on the shared path too', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    const reply = await stage.deliver(notification(stage, '', { ...BEFORE_PAYMENT, Amount: '1.00' }));
    expect(reply).toEqual({ status: 200, body: '{"code":12}' });
  });

  test('only for a genuine question', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    const reply = await stage.deliver(notification(stage, 'check', BEFORE_PAYMENT, 'another secret'));
    expect(reply).toEqual({ status: 200, body: '{"code":13}' });
  });
});

describe('a failed attempt', () => {
  const messagesTo = (staged: ProviderStage) =>
    staged.app.db.sql<{ html: string }>(
      "SELECT data ->> 'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND (data ->> 'messengerId')::bigint = $1::bigint ORDER BY created_on, ctid",
      [staged.current.user.messengerId],
    );
  const failed = (staged: ProviderStage, change: Record<string, string | null> = {}) =>
    notification(staged, 'fail', { Status: 'Declined', Reason: 'InsufficientFunds', ReasonCode: '5051', ...change });

  test.each([
    ['ru', '5051', /недостаточно средств/],
    ['en', '5051', /not enough money/],
    ['ru', '5206', /3-D Secure/],
    ['en', '9999', /the bank refused/],
  ])('is told to its payer in %s with the reason %s, once, and the order stays payable', async (language, code, reason) => {
    stage = await aProviderStage(cloudpaymentsCase);
    const { user } = stage.current;
    await stage.app.db.sql('UPDATE users SET language = $2 WHERE id = $1::int RETURNING id', [user.id, language]);
    for (let copy = 0; copy < 2; copy++) {
      expect(await stage.deliver(failed(stage, { ReasonCode: code }))).toMatchObject(cloudpaymentsCase.acknowledges);
      // A repeat after a minute is processed again; so is another report of the same attempt.
      stage.t.clock.advance(MINUTE_MS + 1);
      await stage.deliver(failed(stage, { ReasonCode: code, DateTime: `2026-10-02 10:0${copy}:30` }));
    }
    const notices = await messagesTo(stage);
    expect(notices).toEqual([{ html: expect.stringMatching(reason) }]);
    expect(notices[0]!.html).toMatch(/500/);
    await stage.deliver(failed(stage, { TransactionId: '5999999999', ReasonCode: '5054' }));
    expect(await messagesTo(stage)).toHaveLength(2);
    for (const genuine of await stage.act('pay')) await stage.deliver(genuine);
    await stage.deliver(failed(stage, { TransactionId: '5999999998' }));
    expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
    expect(await messagesTo(stage)).toHaveLength(2);
  });

  test('of an order of nobody, or of a payer who is blocked, tells nobody', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    await stage.deliver(failed(stage, { InvoiceId: 'an-order-of-nobody' }));
    await stage.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [stage.current.user.id]);
    await stage.deliver(failed(stage));
    expect(await messagesTo(stage)).toEqual([]);
  });
});

describe('a payment', () => {
  test('in test mode is a case and credits nothing', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    const lastCase = await lastCaseId(stage);
    expect(await stage.deliver(notification(stage, 'pay', { TestMode: '1' }))).toMatchObject(cloudpaymentsCase.acknowledges);
    expect((await factsOf(stage)).balance).toBe(0);
    expect(await openCasesOf(stage, lastCase)).toEqual(['test_payment']);
  });

  test('that was held is credited by Confirm', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    await stage.deliver(notification(stage, 'pay', { Status: 'Authorized' }));
    expect((await factsOf(stage)).balance).toBe(0);
    await stage.deliver(notification(stage, 'confirm'));
    expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
  });

  test('of a second attempt on the same order is a case', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    await stage.deliver(notification(stage, 'pay'));
    const lastCase = await lastCaseId(stage);
    await stage.deliver(notification(stage, 'pay', { TransactionId: `6${stage.current.paymentId}` }));
    expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
    expect(await openCasesOf(stage, lastCase)).toEqual(['second_payment']);
  });

  test('has the transaction of the provider in the ledger, and an AccountId that a merge of accounts does not change', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    await stage.deliver(notification(stage, 'pay'));
    const payment = await findPayment(stage.app.db, stage.current.paymentId);
    const { orderId, user } = stage.current;
    expect(payment).toMatchObject({
      chargeId: expect.stringMatching(/^59\d{8}$/),
      externalId: orderId,
      merchantId: String(user.id),
    });
    const rows = await stage.app.db.sql('SELECT external_id FROM transactions WHERE id = $1::int', [payment!.transactionId]);
    expect(rows).toEqual([{ externalId: payment!.chargeId }]);
  });

  test('whose partial refund is reported before it, is credited without that part', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    const inOrder = [...(await stage.act('pay')), ...(await stage.act('refund', 20_000))];
    for (const callback of [...inOrder.toReversed(), ...inOrder]) await stage.deliver(callback);
    expect(await factsOf(stage)).toMatchObject({ balance: 30_000, deposits: 1, payment: { outcome: 'paid' } });
    expect(await checkLedger(stage.app)).toEqual([]);
  });

  test('is refunded in parts, each once', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    for (const genuine of await stage.act('pay')) await stage.deliver(genuine);
    for (const part of [...(await stage.act('refund', 20_000)), ...(await stage.act('refund', 10_000))]) {
      for (let copy = 0; copy < 2; copy++) await stage.deliver(part);
    }
    expect((await factsOf(stage)).balance).toBe(20_000);
  });
});

/** 03a section 12: the provider keeps the key of a refund for an hour, and no call lists the refunds of a payment. */
describe('a refund that was requested here, and whose answer was lost', () => {
  const PART = 20_000;
  const CUT = { status: 0, contentType: '', body: '', isCut: true };
  const REFUND = '/payments/refund';

  /** Requests the refund of a paid invoice, and sends it while no answer comes through. */
  const sentUnanswered = async (amountKopeks: number | null, { isCarriedOut }: { isCarriedOut: boolean }) => {
    stage = await aProviderStage(cloudpaymentsCase);
    const { app, sandbox, current } = stage;
    for (const genuine of await stage.act('pay')) await stage.deliver(genuine);
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
    return { staged: stage, again: () => sendRefund(app, { reversalId: refundId }) };
  };
  /** Kopeks that the provider gave back, the states of the refunds here, and the balance. */
  const refundFacts = async (staged: ProviderStage) => {
    const invoice = (await staged.sandbox.list()).find(({ id }) => id === staged.current.invoice.id)!;
    const rows = await staged.app.db.sql<{ status: string }>(
      'SELECT status FROM payment_reversals WHERE payment_id = $1::int ORDER BY id',
      [staged.current.paymentId],
    );
    return {
      there: invoice.reversals.map(({ amountKopeks }) => amountKopeks),
      here: rows.map(({ status }) => status),
      balance: (await factsOf(staged)).balance,
    };
  };

  test('is sent again with its key within the hour, and carried out once', async () => {
    const { staged, again } = await sentUnanswered(PART, { isCarriedOut: true });
    staged.t.clock.advance(30 * MINUTE_MS);
    await again();
    expect(await refundFacts(staged)).toEqual({ there: [PART], here: ['done'], balance: 30_000 });
  });

  test.each([PART, null])(
    'of %s kopeks is not sent again when the key is forgotten: its notification ends it',
    async (kopeks) => {
      const { staged, again } = await sentUnanswered(kopeks, { isCarriedOut: true });
      const amount = kopeks ?? 50_000;
      staged.t.clock.advance(2 * HOUR_MS);
      for (let time = 0; time < 2; time++) await again();
      const waiting = { there: [amount], here: ['requested'], balance: 50_000 - amount };
      expect(await refundFacts(staged)).toEqual(waiting);
      const { chargeId } = (await findPayment(staged.app.db, staged.current.paymentId))!;
      const change = { PaymentTransactionId: chargeId, OperationType: 'Refund', Amount: `${amount / 100}.00` };
      await staged.deliver(notification(staged, 'refund', { ...change, TransactionId: `7${staged.current.paymentId}` }));
      await again();
      expect(await refundFacts(staged)).toEqual({ ...waiting, here: ['done'] });
      expect(await checkLedger(staged.app)).toEqual([]);
    },
  );

  test('ends as refused when the payer has got the whole payment back in another way', async () => {
    const { staged, again } = await sentUnanswered(PART, { isCarriedOut: false });
    for (const genuine of await staged.act('refund')) await staged.deliver(genuine);
    staged.t.clock.advance(2 * HOUR_MS);
    await again();
    expect(await refundFacts(staged)).toEqual({ there: [50_000], here: ['failed', 'done'], balance: 0 });
    expect(await checkLedger(staged.app)).toEqual([]);
  });

  test('is sent again at any time while the provider has given nothing back', async () => {
    const { staged, again } = await sentUnanswered(PART, { isCarriedOut: false });
    staged.t.clock.advance(2 * HOUR_MS);
    await again();
    expect(await refundFacts(staged)).toEqual({ there: [PART], here: ['done'], balance: 30_000 });
  });
});
