import type { App } from '../../core/app.ts';
import { committedStatement } from '../../core/db/committed-statement.ts';
import { findUserByMessengerId } from '../identity/find-user.ts';
import { postUninvoiced } from './credit-repo.ts';
import { methodName } from './method-settings.ts';
import { openCase } from './open-case.ts';
import { topupTitle } from './payment-texts.ts';
import type { PaymentReport } from './ports.ts';
import { newOrderId } from './rules.ts';
import type { CreditResult } from './types.ts';

/** The only currency of balances. */
const CURRENCY = 'RUB';

/**
 * Credits money that came without an invoice to the person who gave it, whatever the sum, once per external id (03a section 2). There is
 * nothing to compare it with; an unknown person and another currency are cases for an administrator.
 */
export async function creditDonation(
  app: App,
  method: string,
  state: PaymentReport & Required<Pick<PaymentReport, 'donor'>>,
): Promise<CreditResult | 'unknown_payment'> {
  const { outcome, externalId, amountKopeks, currency, donor, isTest = false } = state;
  if (externalId === null) throw new Error(`a donation of ${method} has no id`);
  if (outcome !== 'paid' || isTest) return 'pending';
  const user = donor.messengerId === null ? null : await findUserByMessengerId(app, donor.messengerId);
  const facts = {
    reference: externalId,
    chargeId: externalId,
    amountKopeks,
    currency,
    details: { payerMessengerId: donor.messengerId },
  };
  const payment = { id: null, method, userId: user?.id ?? null };
  if (currency !== CURRENCY) {
    await openCase(app, { kind: 'amount_mismatch', payment, ...facts });
    return 'amount_mismatch';
  }
  const record = {
    ...{ method, orderId: newOrderId(app.random), chargeId: externalId, amountKopeks, update: state.raw },
    ...{ description: topupTitle(app, method, user?.language ?? null), now: app.clock.now() },
  };
  const result = user && (await committedStatement(app, () => postUninvoiced(app.db, user.id, record, methodName(app, method))));
  if (result === null || result === 'no_user') {
    await openCase(app, { kind: 'unknown_payment', payment: { ...payment, userId: null }, ...facts });
    return 'unknown_payment';
  }
  if (result === 'credited') app.jobs.wake(['payments.after-topup']);
  return result;
}
