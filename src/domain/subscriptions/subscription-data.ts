import type { WireObject } from './purchase-options.ts';
import type { SubscriptionView } from './rules/view.ts';

/**
 * SubscriptionData of the cabinet under its documented names. It stands in the domain because purchases keep it in their
 * stored answers, which a repeated request gets unchanged (spec 00, Consistency).
 */
export function subscriptionData(view: SubscriptionView) {
  return {
    id: view.id,
    status: view.status,
    is_trial: view.isTrial,
    start_date: view.startDate,
    end_date: view.endDate,
    days_left: view.daysLeft,
    hours_left: view.hoursLeft,
    minutes_left: view.minutesLeft,
    time_left_display: view.timeLeftDisplay,
    traffic_limit_gb: view.trafficLimitGb,
    traffic_used_gb: view.trafficUsedGb,
    traffic_used_percent: view.trafficUsedPercent,
    device_limit: view.deviceLimit,
    connected_squads: view.connectedSquads,
    servers: view.servers.map((server) => ({ uuid: server.uuid, name: server.name, country_code: server.countryCode })),
    autopay_enabled: view.autopayEnabled,
    autopay_days_before: view.autopayDaysBefore,
    subscription_url: view.subscriptionUrl,
    hide_subscription_link: view.hideSubscriptionLink,
    is_active: view.isActive,
    is_expired: view.isExpired,
    is_limited: view.isLimited,
    traffic_purchases: view.trafficPurchases.map((purchase) => ({
      id: purchase.id,
      traffic_gb: purchase.trafficGb,
      expires_at: purchase.expiresAt,
      created_at: purchase.createdAt,
      days_remaining: purchase.daysRemaining,
      progress_percent: purchase.progressPercent,
    })),
    is_daily: view.isDaily,
    is_daily_paused: view.isDailyPaused,
    daily_price_kopeks: view.dailyPriceKopeks,
    next_daily_charge_at: view.nextDailyChargeAt,
    tariff_id: view.tariffId,
    tariff_name: view.tariffName,
    traffic_reset_mode: view.trafficResetMode,
  };
}

/** The same answer with nothing but what JSON can hold, so that the first answer and its replay are equal. */
export function jsonAnswer(answer: object): WireObject {
  return JSON.parse(JSON.stringify(answer)) as WireObject;
}

/** SubscriptionData out of a stored answer, with its moments as moments again. */
export function revivedSubscription(stored: unknown): ReturnType<typeof subscriptionData> {
  const data = stored as ReturnType<typeof subscriptionData>;
  return {
    ...data,
    start_date: new Date(data.start_date),
    end_date: new Date(data.end_date),
    next_daily_charge_at: data.next_daily_charge_at === null ? null : new Date(data.next_daily_charge_at),
    traffic_purchases: data.traffic_purchases.map((purchase) => ({
      ...purchase,
      expires_at: new Date(purchase.expires_at),
      created_at: new Date(purchase.created_at),
    })),
  };
}
