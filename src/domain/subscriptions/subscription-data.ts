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
