/**
 * Audience segments as SQL (spec 04 section 0.5, spec 05 section 3.2): one condition each over `u` users, `s` subscriptions, `f` tariffs.
 * Used for everything that is sent to many users.
 */

/** The tables of the conditions; one row per user. */
export const AUDIENCE_TABLES = 'users u LEFT JOIN subscriptions s ON s.user_id = u.id LEFT JOIN tariffs f ON f.id = s.tariff_id';

/** A balance above 0 and below this counts as low; kopeks. */
const LOW_BALANCE_KOPEKS = 10_000;

const LIVE = "s.status = 'active' AND s.end_date > $NOW";
const TODAY = "(date_trunc('day', $NOW AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')";
const HAS_ENDED = `s.status IN ('expired', 'disabled') OR s.end_date <= $NOW OR (s.id IS NULL AND u.has_had_paid_subscription)`;

const endsWithin = (days: number) =>
  `${LIVE} AND s.end_date <= $NOW + interval '${days} days' AND NOT (coalesce(f.is_daily, false) AND NOT s.is_daily_paused)`;
const idleFor = (days: number) => `u.last_activity < $NOW - interval '${days} days'`;
const registeredWithin = (days: number) => `u.created_at >= $NOW - interval '${days} days'`;

const SEGMENTS: Readonly<Record<string, string>> = {
  all: 'true',
  active: `${LIVE} AND NOT s.is_trial`,
  trial: 's.is_trial',
  no: `s.id IS NULL OR NOT (${LIVE})`,
  expiring: endsWithin(3),
  expiring_subscribers: endsWithin(7),
  expired: HAS_ENDED,
  expired_subscribers: HAS_ENDED,
  canceled_subscribers: "s.status = 'disabled'",
  trial_ending: `s.is_trial AND ${LIVE} AND s.end_date <= $NOW + interval '3 days'`,
  trial_expired: 's.is_trial AND s.end_date <= $NOW',
  active_zero: `${LIVE} AND NOT s.is_trial AND s.traffic_used_gb <= 0`,
  trial_zero: `${LIVE} AND s.is_trial AND s.traffic_used_gb <= 0`,
  zero: `${LIVE} AND s.traffic_used_gb <= 0`,
  autopay_failed: `EXISTS (SELECT 1 FROM subscription_events e WHERE e.user_id = u.id AND e.event_type = 'autopay_failed'
    AND e.occurred_at >= $NOW - interval '7 days')`,
  low_balance: `u.balance_kopeks > 0 AND u.balance_kopeks < ${LOW_BALANCE_KOPEKS}`,
  inactive_30d: idleFor(30),
  inactive_60d: idleFor(60),
  inactive_90d: idleFor(90),
  custom_today: `u.created_at >= ${TODAY}`,
  custom_week: registeredWithin(7),
  custom_month: registeredWithin(30),
  custom_active_today: `u.last_activity >= ${TODAY}`,
  custom_inactive_week: idleFor(7),
  custom_inactive_month: idleFor(30),
  custom_referrals: 'u.referred_by_id IS NOT NULL',
  custom_direct: 'u.referred_by_id IS NULL',
};

/** Segments of a broadcast by e-mail. */
const EMAIL_SEGMENTS: Readonly<Record<string, string>> = {
  all_email: 'true',
  email_only: "u.auth_type = 'email'",
  messenger_with_email: "u.auth_type = 'messenger' AND u.messenger_id IS NOT NULL",
  active_email: "s.status = 'active'",
  expired_email: "s.status IN ('expired', 'disabled')",
};

/** Users who have not switched off news (spec 05 section 9.1). */
export const WANTS_NEWS = "coalesce((u.notification_settings->>'news_enabled') <> 'false', true)";

const TARIFF = /^tariff_(\d{1,9})$/;

const ALIASES: Readonly<Record<string, string>> = {
  no_sub: 'no',
  all_users: 'all',
  active_subscribers: 'active',
  trial_users: 'trial',
};

/**
 * The members of a segment, as a condition over `AUDIENCE_TABLES`; `false` for an unknown target, whose audience is empty.
 * @param now SQL of the current time, for example `$2::timestamptz`
 */
export function audienceCondition(target: string | null, now: string): string {
  const tariffId = TARIFF.exec(target ?? '')?.[1];
  const known = target !== null && Object.hasOwn(SEGMENTS, target) ? SEGMENTS[target] : undefined;
  const condition = tariffId === undefined ? known : `${LIVE} AND s.tariff_id = ${Number(tariffId)}`;
  return condition === undefined ? 'false' : `(u.status = 'active' AND (${condition.replaceAll('$NOW', now)}))`;
}

/** The name of a segment from a request: trimmed, in lower case, aliases resolved. Null when there is none; tariffs have no names here. */
export function namedSegment(text: string): string | null {
  const name = text.trim().toLowerCase();
  const target = Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name;
  return Object.hasOwn(SEGMENTS, target) ? target : null;
}

/**
 * Holders of an active subscription, paid or trial, who have not switched off news (spec 04 section 10.3), for messages to their messenger.
 * @param now SQL of the current time
 */
export function subscriberCondition(now: string): string {
  const isHolder = `s.status IN ('active', 'trial') AND s.end_date > ${now}`;
  return `(u.status = 'active' AND ${isHolder} AND u.messenger_id IS NOT NULL AND ${WANTS_NEWS})`;
}

/**
 * Who gets a broadcast over a channel: the segment without those who cannot be reached over it or have switched off news. The one
 * condition of previews, counts and recipients, so that they agree.
 * @param now SQL of the current time
 */
export function broadcastCondition(channel: 'messenger' | 'email', target: string, now: string): string {
  if (channel === 'messenger') return `(${audienceCondition(target, now)} AND u.messenger_id IS NOT NULL AND ${WANTS_NEWS})`;
  const known = Object.hasOwn(EMAIL_SEGMENTS, target) ? EMAIL_SEGMENTS[target] : undefined;
  return known === undefined
    ? 'false'
    : `(u.status = 'active' AND u.email IS NOT NULL AND u.email_verified AND ${WANTS_NEWS} AND (${known}))`;
}

/** Whether there is such a segment of a broadcast by e-mail; names are exact. */
export function isEmailSegment(name: string): boolean {
  return Object.hasOwn(EMAIL_SEGMENTS, name);
}
