import type { App } from '../../core/app.ts';
import { committedStatement } from '../../core/db/committed-statement.ts';
import { retried } from '../../core/db/retried.ts';
import { findUserByMessengerId } from '../identity/find-user.ts';
import type { MessengerUpdate } from '../messaging/ports.ts';
import { applyReversals, raiseUnknownReversal } from './apply-reversals.ts';
import { postUninvoiced, upsertUninvoicedPayment } from './credit-repo.ts';
import { methodName } from './method-settings.ts';
import { openCase } from './open-case.ts';
import { topupTitle } from './payment-texts.ts';
import { purposeOf, type StarsPurpose } from './purpose-stars.ts';
import { findByExternalId } from './repo.ts';
import { newOrderId } from './rules.ts';
import { kopeksForStars } from './stars-rate.ts';
import type { CreditResult } from './types.ts';

const METHOD = 'messenger_stars';

export type StarsMovement = Extract<MessengerUpdate, { kind: 'stars_paid' | 'stars_refunded' }>;

/**
 * Credits a payment in Stars to the payer: the worth of the stars actually paid at the current rate, once per charge of the messenger
 * (spec 03 section 2.5). The payment record is written in the same statement, because a top-up in Stars has no stored invoice. A
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
  const description = topupTitle(app, METHOD, user?.language ?? null);
  const record = {
    ...{ method: METHOD, orderId: newOrderId(app.random), chargeId: paid.chargeId, amountKopeks, description, update: paid },
    now: app.clock.now(),
  };
  const result = user && (await committedStatement(app, () => postUninvoiced(app.db, user.id, record, methodName(app, METHOD))));
  if (result !== null && result !== 'no_user') return result;
  const uncredited = { ...record, userId: null, status: 'payer_unknown', transactionId: null };
  const id = await retried(app, () => upsertUninvoicedPayment(app.db, uncredited));
  await openCase(app, {
    ...{ kind: 'no_user', payment: { id, method: METHOD, userId: null }, reference: paid.chargeId, amountKopeks },
    details: { payerMessengerId: paid.payerMessengerId, stars: paid.stars },
  });
  return 'no_user';
}

/** Applies a refund of Stars, which is always of the whole payment. */
export async function recordStarsRefund(
  app: App,
  refunded: Extract<StarsMovement, { kind: 'stars_refunded' }>,
): Promise<CreditResult> {
  const reversal = { reversalId: refunded.chargeId, kind: 'refund' as const, amountKopeks: null };
  const payment = await findByExternalId(app.db, METHOD, refunded.chargeId);
  if (!payment) {
    await raiseUnknownReversal(app, METHOD, reversal, refunded.chargeId);
    return 'order_mismatch';
  }
  await applyReversals(app, payment, [reversal]);
  return 'refunded';
}
