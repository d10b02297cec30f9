import { SOURCE_SCHEMA } from './load-source.ts';
import type { Comparison, SumComparison } from './verify-import.ts';

const time = (column: string) => `date_trunc('milliseconds', ${column})`;
const there = (table: string) => `${SOURCE_SCHEMA}.${table}`;

/** When the source was read, as the run of the import has it. */
const SNAPSHOT = '(SELECT max(snapshot_at) FROM public.import_runs)';

/** An object of numbers as sorted pairs: a number may be a text in the source. */
const pairs = (column: string) =>
  `(SELECT string_agg(btrim(key) || '=' || btrim(value), ' ' ORDER BY length(btrim(key)), btrim(key))
    FROM json_each_text(CASE json_typeof(${column}::json) WHEN 'object' THEN ${column}::json END))`;

/** JSON of the source as ours can hold it. */
const json = (column: string, missing: string) =>
  `coalesce(nullif(btrim(replace(${column}::text, '\\u0000', '')), 'null'), '${missing}')::jsonb`;

/** A link to the panel as the source says it. */
const FORM_HERE = `CASE WHEN vpnpanel_uuid::text LIKE '00000000-0000-8000-8000-%'
  THEN 'number ' || ('x' || right(vpnpanel_uuid::text, 12))::bit(48)::bigint ELSE 'uuid ' || vpnpanel_uuid END`;

const IS_LIVE_THERE = `(coalesce(lower(btrim(status)), 'trial') = ANY ('{active,trial,limited}') AND ${time('end_date')} > ${SNAPSHOT})`;
const IS_LIVE_HERE = `(status = ANY ('{active,trial,limited}') AND end_date > ${SNAPSHOT})`;

/** The one subscription of each user of the source that is to be here. */
const KEPT_THERE = `SELECT DISTINCT ON (user_id) * FROM ${there('subscriptions')} WHERE user_id IN (SELECT id FROM ${there('users')})
  ORDER BY user_id, ${IS_LIVE_THERE} IS TRUE DESC, ${time('end_date')} DESC NULLS LAST, id DESC`;

/** Handles by which the panel can know somebody. */
const number = (column: string) => `CASE WHEN ${column} > 0 AND ${column} < 281474976710656 THEN 'number ' || ${column} END`;
const uuid = (column: string) =>
  `CASE WHEN ${column} ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' THEN 'uuid ' || lower(${column}) END`;

const LINKS_THERE = `SELECT u.id, coalesce(${number('k.remnawave_id')}, ${number('u.remnawave_id')}, ${uuid('k.remnawave_uuid')}, ${uuid('u.remnawave_uuid')}) AS link
  FROM ${there('users')} u LEFT JOIN (${KEPT_THERE}) k ON k.user_id = u.id`;

/** Subscriptions with what belongs to them, the catalogue, and who is whom at the panel. */
export const SUBSCRIPTION_COMPARISONS: readonly Comparison[] = [
  {
    table: 'subscriptions',
    source: `SELECT id, user_id, coalesce(lower(btrim(status)), 'trial') AS status, coalesce(is_trial, true) AS trial, ${time('end_date')} AS ends,
        ${time('coalesce(start_date, created_at)')} AS starts, traffic_limit_gb AS limit_gb, coalesce(traffic_used_gb, 0) AS used_gb, purchased_traffic_gb AS bought_gb,
        ${time('traffic_reset_at')} AS reset, device_limit AS devices, ${json('connected_squads', '[]')} AS squads, coalesce(autopay_enabled, false) AS autopay,
        coalesce(autopay_days_before, 3) AS autopay_days, tariff_id, coalesce(is_daily_paused, false) AS paused, ${time('last_daily_charge_at')} AS charged,
        subscription_url AS url, subscription_crypto_link AS crypto, remnawave_short_uuid AS short_uuid, coalesce(modem_enabled, false) AS modem, ${time('created_at')} AS created
      FROM ${there('subscriptions')}`,
    target: `SELECT id::bigint, user_id::bigint, status::text, is_trial, end_date, start_date, traffic_limit_gb::bigint, traffic_used_gb, purchased_traffic_gb::bigint,
        traffic_reset_at, device_limit::bigint, connected_squads, autopay_enabled, autopay_days_before::bigint, tariff_id::bigint, is_daily_paused, last_daily_charge_at,
        subscription_url, subscription_crypto_link, vpnpanel_short_uuid::text, modem_enabled, created_at FROM public.subscriptions`,
  },
  {
    table: 'subscription_servers',
    source: `SELECT min(id) AS id, subscription_id, server_squad_id AS server, coalesce(sum(paid_price_kopeks), 0)::bigint AS kopeks
      FROM ${there('subscription_servers')} GROUP BY subscription_id, server_squad_id`,
    target: `SELECT id::bigint, subscription_id::bigint, server_squad_id::bigint, paid_price_kopeks FROM public.subscription_servers`,
  },
  {
    table: 'traffic_purchases',
    source: `SELECT id, subscription_id, traffic_gb AS gb, ${time('expires_at')} AS expires, ${time('created_at')} AS created FROM ${there('traffic_purchases')}`,
    target: `SELECT id::bigint, subscription_id::bigint, traffic_gb::bigint, expires_at, created_at FROM public.traffic_purchases`,
  },
  {
    table: 'sent_notifications',
    source: `SELECT DISTINCT ON (subscription_id, notification_type, days_before) id, subscription_id, notification_type AS type,
        days_before, ${time('created_at')} AS created FROM ${there('sent_notifications')} ORDER BY subscription_id, notification_type, days_before, created_at, id`,
    target: `SELECT id::bigint, subscription_id::bigint, notification_type::text, nullif(discriminator, '')::bigint, created_at FROM public.sent_notifications`,
  },
  {
    table: 'subscription_events',
    source: `SELECT id, user_id, subscription_id AS subscription, transaction_id AS movement, event_type AS type, amount_kopeks AS kopeks, currency, message,
        ${time('occurred_at')} AS occurred, ${json('extra', '{}')} AS extra FROM ${there('subscription_events')}`,
    target: `SELECT id::bigint, user_id::bigint, subscription_id::bigint, transaction_id::bigint, event_type::text, amount_kopeks, currency::text, message,
        occurred_at, extra FROM public.subscription_events`,
  },
  {
    table: 'subscription_conversions',
    source: `SELECT id, user_id, ${time('coalesce(converted_at, created_at)')} AS converted, trial_duration_days AS trial_days, btrim(payment_method) AS method,
        first_payment_amount_kopeks AS kopeks, first_paid_period_days AS days FROM ${there('subscription_conversions')}`,
    target: `SELECT id::bigint, user_id::bigint, converted_at, trial_duration_days::bigint, regexp_replace(payment_method, '^messenger_stars', 'telegram_stars'),
        first_payment_amount_kopeks, first_paid_period_days::bigint FROM public.subscription_conversions`,
  },
  {
    table: 'tariffs',
    source: `SELECT id, name, description, display_order AS position, is_active AS active, traffic_limit_gb AS limit_gb, device_limit AS devices, device_price_kopeks AS device_kopeks,
        max_device_limit AS most_devices, ${json('allowed_squads', '[]')} AS squads, ${pairs('period_prices')} AS prices, tier_level AS tier,
        is_trial_available AS trial, coalesce(traffic_topup_enabled, false) AS topup, ${pairs('traffic_topup_packages')} AS packages, is_daily AS daily,
        daily_price_kopeks AS daily_kopeks, price_per_day_kopeks AS day_kopeks, traffic_price_per_gb_kopeks AS gb_kopeks, min_days, max_days, min_traffic_gb, max_traffic_gb,
        coalesce(show_in_gift, true) AS gift, nullif(upper(btrim(traffic_reset_mode)), '') AS reset, nullif(lower(btrim(external_squad_uuid)), '') AS external
      FROM ${there('tariffs')}`,
    target: `SELECT id::bigint, name::text, description, display_order::bigint, is_active, traffic_limit_gb::bigint, device_limit::bigint, device_price_kopeks::bigint,
        max_device_limit::bigint, allowed_squads, ${pairs('period_prices')}, tier_level::bigint,
        is_trial_available, traffic_topup_enabled, ${pairs('traffic_topup_packages')}, is_daily,
        daily_price_kopeks::bigint, price_per_day_kopeks::bigint, traffic_price_per_gb_kopeks::bigint, min_days::bigint, max_days::bigint, min_traffic_gb::bigint, max_traffic_gb::bigint,
        show_in_gift, traffic_reset_mode::text, external_squad_uuid::text FROM public.tariffs`,
  },
  {
    table: 'server_squads',
    source: `SELECT id, squad_uuid AS squad, display_name AS name, original_name AS original, country_code AS country, coalesce(is_available, true) AS available,
        coalesce(is_trial_eligible, false) AS trial, coalesce(price_kopeks, 0) AS kopeks, description, coalesce(sort_order, 0) AS position, max_users AS most FROM ${there('server_squads')}`,
    target: `SELECT id::bigint, squad_uuid::text, display_name::text, original_name::text, country_code::text, is_available, is_trial_eligible, price_kopeks::bigint,
        description, sort_order::bigint, max_users::bigint FROM public.server_squads`,
  },
  ...[
    ['tariff_promo_groups', 'tariff_id'],
    ['server_squad_promo_groups', 'server_squad_id'],
  ].map(([table, column]) => ({
    table: table!,
    source: `SELECT DISTINCT ${column} || ':' || promo_group_id AS id FROM ${there(table!)}`,
    target: `SELECT ${column} || ':' || promo_group_id AS id FROM public.${table}`,
    subject: 'id',
  })),
  {
    table: 'users',
    source: `SELECT id, link FROM (${LINKS_THERE}) l WHERE link IS NOT NULL`,
    target: `SELECT id::bigint, ${FORM_HERE} FROM public.users WHERE vpnpanel_uuid IS NOT NULL`,
  },
];

const counted = (key: string, rows: string, from: string) =>
  `SELECT ${key} AS key, ${rows} AS rows, 0 AS kopeks FROM ${from} GROUP BY 1`;

/** How much of `live` rows is left, and how much was used: numbers of days and megabytes in place of rows. */
const amounts = (isLive: string, from: string) =>
  `SELECT kind AS key, sum(amount)::bigint AS rows, 0 AS kopeks FROM ${from} CROSS JOIN LATERAL (VALUES
      ('live subscriptions', CASE WHEN ${isLive} THEN 1 ELSE 0 END),
      ('whole days left of live subscriptions', CASE WHEN ${isLive} THEN floor(extract(epoch FROM (${time('end_date')} - ${SNAPSHOT})) / 86400) ELSE 0 END),
      ('megabytes used', round(coalesce(traffic_used_gb, 0) * 1024))) amounts (kind, amount) GROUP BY 1`;

export const SUBSCRIPTION_SUMS: readonly SumComparison[] = [
  {
    name: 'subscriptions by status and trial',
    source: counted(
      `coalesce(lower(btrim(status)), 'trial') || ' ' || coalesce(is_trial, true)`,
      'count(*)',
      there('subscriptions'),
    ),
    target: counted(`status || ' ' || is_trial`, 'count(*)', 'public.subscriptions'),
  },
  {
    name: 'subscriptions by tariff',
    source: counted(`coalesce(tariff_id::text, 'none')`, 'count(*)', there('subscriptions')),
    target: counted(`coalesce(tariff_id::text, 'none')`, 'count(*)', 'public.subscriptions'),
  },
  {
    name: 'what subscriptions have left and have used',
    source: amounts(IS_LIVE_THERE, there('subscriptions')),
    target: amounts(IS_LIVE_HERE, 'public.subscriptions'),
  },
  {
    name: 'users by form of their link to the panel',
    source: counted(`coalesce(split_part(link, ' ', 1), 'none')`, 'count(*)', `(${LINKS_THERE}) l`),
    target: counted(`coalesce(split_part(${FORM_HERE}, ' ', 1), 'none')`, 'count(*)', 'public.users'),
  },
];
