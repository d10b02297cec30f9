/** The operations whose points the drill walks through, as their clients send them. */
import { requestRefund } from '../../../../../src/domain/payments/refunds.ts';
import { invoiceOf } from '../money/payers.ts';
import { MONTH_DAYS } from '../money/people.ts';
import { compareBooks, readBooks } from './books.ts';
import { aBroadcastTrial } from './broadcast-trial.ts';
import type { KillFixture } from './kill-fixture.ts';
import type { KillOperation } from './operation-names.ts';
import { aUser, type DrillUser, type Operation, outcomeOf, post, type Trial } from './trial.ts';

export const OPERATIONS: Readonly<Record<KillOperation, Operation>> = {
  purchase: async (fixture) => {
    const { monthKopeks } = fixture.tariffs;
    const user = await aUser(fixture, 3 * monthKopeks);
    return trialOf(fixture, user, { balance: 2 * monthKopeks, days: MONTH_DAYS }, purchaseOf(fixture, user));
  },
  extension: async (fixture) => {
    const { monthKopeks } = fixture.tariffs;
    const user = await aUser(fixture, 3 * monthKopeks);
    await carriedOut(purchaseOf(fixture, user));
    return trialOf(fixture, user, { balance: monthKopeks, days: 2 * MONTH_DAYS }, purchaseOf(fixture, user));
  },
  topup: async (fixture) => {
    const user = await aUser(fixture, 0);
    const pay = await anInvoice(fixture, user, 'yookassa', 50_000);
    return trialOf(fixture, user, { balance: 50_000 }, pay);
  },
  'topup-that-buys': async (fixture) => {
    const { monthKopeks } = fixture.tariffs;
    const user = await aUser(fixture, 0);
    // Refused for want of money: the order is saved and bought when money comes.
    const refused = await purchaseOf(fixture, user)();
    if (!refused.startsWith('refused: 402')) throw new Error(`a purchase without money: ${refused}`);
    const pay = await anInvoice(fixture, user, 'platega', monthKopeks + 1_000);
    return trialOf(fixture, user, { balance: 1_000, days: MONTH_DAYS }, pay);
  },
  'refund-with-key': (fixture) => aRefund(fixture, 'yookassa'),
  'refund-without-key': (fixture) => aRefund(fixture, 'platega'),
  broadcast: aBroadcastTrial,
};

function trialOf(fixture: KillFixture, user: DrillUser, wanted: { balance: number; days?: number }, send: Trial['send']): Trial {
  const books = () => readBooks(fixture, user.id);
  return {
    send,
    books,
    violations: async (whole) => {
      const found = await books();
      if (whole !== null) return compareBooks(whole, found);
      // The one that was not killed must be right by itself.
      const { balance, subscription } = found as { balance: number; subscription: unknown[] | null };
      const days = subscription === null ? undefined : Number(subscription[6]);
      return compareBooks(wanted, { balance, days });
    },
  };
}

/** Nothing is killed meanwhile. @throws Error when it is not carried out at once */
async function carriedOut(send: Trial['send']): Promise<void> {
  const outcome = await send();
  if (outcome !== 'done') throw new Error(`the preparation was ${outcome}`);
}

function purchaseOf(fixture: KillFixture, user: DrillUser): Trial['send'] {
  const send = post(fixture, user, '/cabinet/subscription/purchase-tariff', {
    tariff_id: fixture.tariffs.monthId,
    period_days: MONTH_DAYS,
  });
  return async () => outcomeOf(await send());
}

/** @returns pays it at the first call, and posts what the provider reports until it is acknowledged */
async function anInvoice(fixture: KillFixture, user: DrillUser, method: string, kopeks: number): Promise<Trial['send']> {
  const answer = await post(fixture, user, '/cabinet/balance/topup', { amount_kopeks: kopeks, payment_method: method })();
  if (outcomeOf(answer) !== 'done') throw new Error(`no invoice: ${outcomeOf(answer)}`);
  const id = invoiceOf((JSON.parse(answer.body) as { payment_url: string }).payment_url);
  let isPaid = false;
  return async () => {
    if (!isPaid && (await fixture.fakes.payments.act(id, 'pay')) === null) throw new Error(`invoice ${id} cannot be paid`);
    isPaid = true;
    const refused = (await fixture.callbacks.post(fixture.service.url)).map(outcomeOf);
    return refused.find((outcome) => outcome !== 'lost') ?? (fixture.callbacks.isEmpty() ? 'done' : 'lost');
  };
}

/** The operator requests it in this process, which is not killed; the service carries it out. */
async function aRefund(fixture: KillFixture, method: string): Promise<Trial> {
  const user = await aUser(fixture, 0);
  await carriedOut(await anInvoice(fixture, user, method, 40_000));
  const left = await fixture.settle();
  const [payment] = await fixture.app.db.sql<{ id: number; orderId: string }>(
    'SELECT id, order_id FROM payments WHERE user_id = $1::int AND transaction_id IS NOT NULL',
    [user.id],
  );
  if (payment === undefined) throw new Error(`the payment to be refunded was not credited: ${left.join(', ')}`);
  let isRequested = false;
  const trial = trialOf(fixture, user, { balance: 0 }, async () => {
    const order = { paymentId: payment.id, amountKopeks: null, reason: 'drill', requestedBy: 'drill' };
    if (!isRequested) await requestRefund(fixture.app, order);
    isRequested = true;
    return 'done';
  });
  return {
    ...trial,
    violations: async (whole) => {
      const invoice = (await fixture.fakes.payments.list()).find(({ orderId }) => orderId === payment.orderId);
      const times = invoice?.reversals.length ?? 0;
      const wrong = await trial.violations(whole);
      return times === 1 ? wrong : [...wrong, `the provider gave the money back ${times} times`];
    },
  };
}
