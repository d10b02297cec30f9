import { rublesOf } from '../../../core/money.ts';
import type { SubscriptionInfo } from '../../../domain/subscriptions/manual/subscription-info.ts';
import type { TransactionInfo } from '../../../domain/users/detail/types.ts';

/** The contract's names of what several procedures of this group answer. */

export function toSubscriptionInfo(subscription: SubscriptionInfo) {
  return {
    id: subscription.id,
    status: subscription.status,
    is_trial: subscription.isTrial,
    start_date: subscription.startDate,
    end_date: subscription.endDate,
    traffic_limit_gb: subscription.trafficLimitGb,
    traffic_used_gb: subscription.trafficUsedGb,
    device_limit: subscription.deviceLimit,
    tariff_id: subscription.tariffId,
    tariff_name: subscription.tariffName,
    autopay_enabled: subscription.autopayEnabled,
    is_active: subscription.isActive,
    days_remaining: subscription.daysRemaining,
    purchased_traffic_gb: subscription.purchasedTrafficGb,
    traffic_purchases: subscription.purchases.map((purchase) => ({
      id: purchase.id,
      traffic_gb: purchase.trafficGb,
      expires_at: purchase.expiresAt,
      created_at: purchase.createdAt,
      days_remaining: purchase.daysRemaining,
      is_expired: purchase.isExpired,
    })),
  };
}

export function toTransactionItem(transaction: TransactionInfo) {
  return {
    id: transaction.id,
    type: transaction.type,
    amount_kopeks: transaction.amountKopeks,
    amount_rubles: rublesOf(transaction.amountKopeks),
    description: transaction.description,
    payment_method: transaction.paymentMethod,
    is_completed: transaction.isCompleted,
    created_at: transaction.createdAt,
  };
}
