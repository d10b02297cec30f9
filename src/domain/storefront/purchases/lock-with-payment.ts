import type { App } from '../../../core/app.ts';
import { lockReturnedMoney, type ReturnedMoney } from '../../payments/returned-money.ts';
import { lockPurchase } from './repo.ts';
import type { GuestPurchase } from './types.ts';

/**
 * Locks a purchase and, before it, its payment, so that its money is not given back at the same moment. After the rows of user and
 * subscription (spec 00, lock order).
 * @returns `returned`: what the payer has back; `none` also for what was paid from a balance
 */
export async function lockWithPayment(
  t: App,
  { id, paymentId }: Pick<GuestPurchase, 'id' | 'paymentId'>,
): Promise<{ purchase: GuestPurchase | null; returned: ReturnedMoney }> {
  const returned = paymentId === null ? 'none' : await lockReturnedMoney(t, paymentId);
  return { purchase: await lockPurchase(t.db, id), returned };
}

/** Whether a purchase may be given: the payer has not got the money back, and no refund is under way. A part is no obstacle. */
export const isGivable = (returned: ReturnedMoney) => returned === 'none' || returned === 'part';
