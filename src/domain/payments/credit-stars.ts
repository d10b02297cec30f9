import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { findUserByMessengerId } from '../identity/find-user.ts';
import { postMovement } from '../ledger/post-movement.ts';
import type { MessengerUpdate } from '../messaging/ports.ts';
import { announceTopup, raiseAlarm, topupTitle } from './credit-payment.ts';
import { lockPayer, markRefunded, upsertStarsPayment } from './credit-repo.ts';
import { purposeOf, type StarsPurpose } from './purpose-stars.ts';
import { findByExternalId } from './repo.ts';
import { newOrderId } from './rules.ts';
import { kopeksForStars } from './stars-rate.ts';
import type { CreditResult } from './types.ts';

const METHOD = 'messenger_stars';

export type StarsMovement = Extract<MessengerUpdate, { kind: 'stars_paid' | 'stars_refunded' }>;

/**
 * Credits a payment in Stars to the payer: the worth of the stars actually paid at the current rate, once per charge of the messenger
 * (spec 03 section 2.5). The payment record is written in the same transaction, because a top-up in Stars has no stored invoice. A
 * payment for another purpose is passed to that purpose.
 */
export async function creditStars(
  app: App,
  paid: Extract<StarsMovement, { kind: 'stars_paid' }>,
  purposes: readonly StarsPurpose[] = [],
): Promise<CreditResult> {
  const amountKopeks = kopeksForStars(paid.stars, app.settings.get('MESSENGER_STARS_RATE_RUB'));
  const user = await findUserByMessengerId(app, paid.payerMessengerId);
  const purpose = purposeOf(purposes, paid.payload);
  if (user && purpose) return purpose.settle(app, paid, user);
  return inTransaction(app, async (t): Promise<CreditResult> => {
    const now = t.clock.now();
    const description = topupTitle(t, METHOD);
    const record = { orderId: newOrderId(t.random), chargeId: paid.chargeId, amountKopeks, description, update: paid, now };
    const payer = user && (await lockPayer(t.db, user.id));
    if (!payer) {
      const id = await upsertStarsPayment(t.db, { ...record, userId: null, status: 'payer_unknown', transactionId: null });
      raiseAlarm(t, { id, method: METHOD, userId: null }, 'no_user', { payerMessengerId: paid.payerMessengerId });
      return 'no_user';
    }
    const posting = await postMovement(t, {
      userId: payer.id,
      type: 'deposit',
      amountKopeks,
      contra: { kind: 'provider_clearing', provider: METHOD },
      paymentMethod: METHOD,
      externalId: paid.chargeId,
      description,
    });
    if (posting.outcome !== 'posted') {
      if (posting.outcome === 'duplicate') return 'already_credited';
      throw new Error(`posting a deposit returned ${posting.outcome}`);
    }
    const { transactionId, balanceKopeks } = posting;
    const paymentId = await upsertStarsPayment(t.db, { ...record, userId: payer.id, status: 'paid', transactionId });
    if (paymentId === null) throw new Error('a Stars charge has a credited record without its ledger row');
    await announceTopup(t, { paymentId, method: METHOD, amountKopeks, transactionId, balanceKopeks, payer });
    return 'credited';
  });
}

/** Records a refund of Stars; like every refund it debits nothing by itself (see `creditPayment`). */
export async function recordStarsRefund(
  app: App,
  refunded: Extract<StarsMovement, { kind: 'stars_refunded' }>,
): Promise<CreditResult> {
  const payment = await findByExternalId(app.db, METHOD, refunded.chargeId);
  if (!payment || payment.transactionId === null) {
    raiseAlarm(app, { id: payment?.id ?? null, method: METHOD, userId: payment?.userId ?? null }, 'refund_of_unknown_charge');
    return 'order_mismatch';
  }
  if (await markRefunded(app.db, payment.id, 'refunded', app.clock.now())) raiseAlarm(app, payment, 'refunded');
  return 'refunded';
}
