/** Pure rules of statistics (spec 06 section 4). */
import type { CompletedSum } from '../ledger/types.ts';
import { methodDefaults } from '../payments/payment-methods.ts';
import type { ReferrerRow } from './repo.ts';

/** Count and absolute amount in kopeks. @public named by the declarations of the client package */
export interface CountAndAmount {
  count: number;
  amount: number;
}

export interface TransactionStats {
  /** Kopeks. */
  totals: { incomeKopeks: number; expensesKopeks: number; profitKopeks: number; subscriptionIncomeKopeks: number };
  today: { transactionsCount: number; incomeKopeks: number; depositKopeks: number };
  purchases: { today: number; week: number; month: number };
  byType: Record<string, CountAndAmount>;
  /** Top-ups and purchases; the key `null` is for those without a method. */
  byPaymentMethod: Record<string, CountAndAmount>;
}

/** Money from outside: the method is one of a provider, so neither `balance` nor `manual` nor none (spec 06 section 0, REAL). */
export const isRealMethod = (method: string | null): boolean => method !== null && methodDefaults(method) !== null;

const isReal = ({ paymentMethod }: CompletedSum): boolean => isRealMethod(paymentMethod);

const isDeposit = ({ type }: CompletedSum): boolean => type === 'deposit';
const isPurchase = ({ type }: CompletedSum): boolean => type === 'subscription_payment';

/** Revenue. A top-up that is spent later counts once, because a purchase from the balance has no real method. */
const isRevenue = (row: CompletedSum): boolean => isReal(row) && (isDeposit(row) || isPurchase(row));

/** Computes the sums of spec 06 section 4.2. */
export function summarise(rows: readonly CompletedSum[]): TransactionStats {
  const sum = (value: (row: CompletedSum) => number, isCounted: (row: CompletedSum) => boolean): number =>
    rows.filter(isCounted).reduce((total, row) => total + value(row), 0);
  const amount = (row: CompletedSum) => row.amountKopeks;
  const incomeKopeks = sum(amount, isRevenue);
  const expensesKopeks = sum(amount, (row) => row.type === 'withdrawal');
  return {
    totals: {
      incomeKopeks,
      expensesKopeks,
      profitKopeks: incomeKopeks - expensesKopeks,
      subscriptionIncomeKopeks: sum(amount, isPurchase),
    },
    today: {
      transactionsCount: sum(
        (row) => row.todayCount,
        () => true,
      ),
      incomeKopeks: sum((row) => row.todayKopeks, isRevenue),
      depositKopeks: sum(
        (row) => row.todayKopeks,
        (row) => isReal(row) && isDeposit(row),
      ),
    },
    purchases: {
      today: sum((row) => row.todayCount, isPurchase),
      week: sum((row) => row.weekCount, isPurchase),
      month: sum((row) => row.monthCount, isPurchase),
    },
    byType: groupBy(rows, (row) => row.type),
    byPaymentMethod: groupBy(
      rows.filter((row) => isDeposit(row) || isPurchase(row)),
      // As the existing product names it, so that the parts add up (spec 10 X17).
      (row) => row.paymentMethod ?? 'None',
    ),
  };
}

function groupBy(rows: readonly CompletedSum[], keyOf: (row: CompletedSum) => string): Record<string, CountAndAmount> {
  const groups = new Map<string, CountAndAmount>();
  for (const row of rows) {
    const { count, amount } = groups.get(keyOf(row)) ?? { count: 0, amount: 0 };
    groups.set(keyOf(row), { count: count + row.count, amount: amount + row.amountKopeks });
  }
  return Object.fromEntries(groups);
}

/** Users who ever paid in percent of the subscriptions, of which a user has at most one; one decimal, 0 without subscriptions. */
export function conversionPercent(payers: number, subscriptions: number): number {
  return subscriptions === 0 ? 0 : Math.round((payers / subscriptions) * 1000) / 10;
}

/** First name with the last name, else `@username`, else `ID{messenger id}`, else the e-mail, else `#{id}`. */
export function displayName(user: Omit<ReferrerRow, 'totalEarnedKopeks' | 'referralsCount'>): string {
  if (user.firstName) return user.lastName ? `${user.firstName} ${user.lastName}` : user.firstName;
  if (user.username) return `@${user.username}`;
  if (user.messengerId !== null) return `ID${user.messengerId}`;
  return user.email || `#${user.id}`;
}
