import type { App } from '../../src/core/app.ts';
import type { PeriodRequest } from '../../src/domain/insight/sales/period.ts';
import { countSales } from '../../src/domain/insight/sales/sales.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { countTransactionsByDay } from '../../src/domain/ledger/transactions.ts';
import type { ContraAccount, Movement } from '../../src/domain/ledger/types.ts';

export const EVERYTHING: PeriodRequest = { days: 0, startDate: null, endDate: null };
export const between = (startDate: string, endDate: string): PeriodRequest => ({ days: 30, startDate, endDate });
export const lastDays = (days: number): PeriodRequest => ({ days, startDate: null, endDate: null });

export type Product = Extract<ContraAccount, { kind: 'sales_revenue' }>['product'];

/** A movement, by default a top-up through a provider; kopeks. @returns the id of the transaction */
export async function postAt(
  app: App,
  userId: number,
  at: string | Date,
  amountKopeks: number,
  fields: Partial<Movement> = {},
): Promise<number> {
  const posted = await postMovement(app, {
    userId,
    type: 'deposit',
    amountKopeks,
    contra: { kind: 'manual_adjustment' },
    paymentMethod: 'yookassa',
    description: null,
    createdAt: new Date(at),
    ...fields,
  });
  if (posted.outcome !== 'posted') throw new Error(posted.outcome);
  return posted.transactionId;
}

/** A subscription payment through a provider, so that it needs no balance. */
export function payAt(app: App, userId: number, at: string | Date, kopeks: number, product: Product = 'tariff'): Promise<number> {
  return postAt(app, userId, at, -kopeks, {
    type: 'subscription_payment',
    contra: { kind: 'sales_revenue', product },
    paidThroughProvider: 'yookassa',
  });
}

/** Both counting jobs; the first one records the highest id and counts up to it in its next round. */
export async function countEverything(app: App): Promise<void> {
  await countTransactionsByDay(app, -1);
  await countTransactionsByDay(app, -1);
  await countSales(app);
}
