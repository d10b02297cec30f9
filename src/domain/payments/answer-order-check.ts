import type { App } from '../../core/app.ts';
import { repeatWhenLost } from '../../core/db/repeat-lost.ts';
import type { CallbackReply, CheckedOrder, OrderCheck } from './ports.ts';
import { findByOrderId } from './repo.ts';
import { PENDING_MS } from './rules.ts';
import type { Payment } from './types.ts';

/** Outcomes after which an order can still be paid; an attempt that failed does not end it (03a section 0.4). */
const OPEN_OUTCOMES: readonly Payment['outcome'][] = ['pending', 'failed', 'expired'];

/**
 * Answers a provider that asks, before it takes the money, whether an order may be paid (03a section 12). It waits for the answer, so that
 * nothing is stored and no job is involved; what it then reports is compared with the record again.
 * @param method id of the provider, which sees its own orders only
 */
export async function answerOrderCheck(app: App, method: string, { orderId, answer }: OrderCheck): Promise<CallbackReply> {
  const payment = await repeatWhenLost(app, () => findByOrderId(app.db, method, orderId));
  return answer(payment && checkedOrder(payment, app.clock.now()));
}

function checkedOrder(payment: Payment, now: Date): CheckedOrder {
  const { amountKopeks, currency, merchantId, outcome, expiresAt, createdAt } = payment;
  const isOver = (expiresAt !== null && expiresAt <= now) || now.getTime() - createdAt.getTime() > PENDING_MS;
  return {
    ...{ amountKopeks, currency, merchantId },
    isOpen: payment.transactionId === null && OPEN_OUTCOMES.includes(outcome),
    isExpired: outcome === 'expired' || isOver,
  };
}
