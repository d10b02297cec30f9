import { SOURCE_SCHEMA } from './load-source.ts';
import type { Comparison, SumComparison } from './verify-import.ts';

const there = (table: string) => `${SOURCE_SCHEMA}.${table}`;
const time = (column: string) => `date_trunc('milliseconds', ${column})`;
/** A link of the source, without one that points to no row. */
const linked = (column: string, table: string) => `CASE WHEN ${column} IN (SELECT id FROM ${there(table)}) THEN ${column} END`;
/** Uses of each code in the source, whoever they were of. */
const USES_THERE = `(SELECT promocode_id, count(*) AS uses FROM ${there('promocode_uses')} GROUP BY promocode_id)`;
const messengerThere = (column: string) => `CASE ${column} WHEN 'messenger' THEN 'telegram' ELSE ${column}::text END`;

/** Promo codes, offers, campaigns, earnings, and what is sold without an account. Secrets are compared as whether there is one. */
export const GROWTH_COMPARISONS: readonly Comparison[] = [
  {
    table: 'promocodes',
    source: `SELECT c.id, c.code, lower(trim(c.type)) AS type, coalesce(c.balance_bonus_kopeks, 0) AS kopeks, coalesce(c.subscription_days, 0) AS days,
        CASE WHEN coalesce(c.max_uses, 0) <= 0 THEN 999999 ELSE c.max_uses END AS limit, greatest(coalesce(c.current_uses, 0), coalesce(u.uses, 0)) AS uses,
        coalesce(c.is_active, true) AS active, coalesce(c.first_purchase_only, false) AS first_only, ${time('c.valid_until')} AS until, ${linked('c.promo_group_id', 'promo_groups')} AS promo_group
      FROM ${there('promocodes')} c LEFT JOIN ${USES_THERE} u ON u.promocode_id = c.id`,
    target: `SELECT id::bigint, code::text, type::text, balance_bonus_kopeks, subscription_days::bigint, max_uses::bigint, current_uses::bigint, is_active, first_purchase_only,
        valid_until, promo_group_id::bigint FROM public.promocodes`,
  },
  {
    table: 'promocode_uses',
    source: `SELECT id, promocode_id AS promocode, user_id, ${time('used_at')} AS used FROM ${there('promocode_uses')}`,
    target: 'SELECT id::bigint, promocode_id::bigint, user_id::bigint, used_at FROM public.promocode_uses',
  },
  {
    table: 'discount_offers',
    source: `SELECT id, user_id, notification_type AS type, discount_percent AS percent, bonus_amount_kopeks AS kopeks, effect_type AS effect, is_active AS active,
        ${time('expires_at')} AS expires, ${time('claimed_at')} AS claimed, coalesce(extra_data::jsonb, '{}') AS extra FROM ${there('discount_offers')}`,
    target: `SELECT id::bigint, user_id::bigint, notification_type::text, discount_percent::bigint, bonus_amount_kopeks, effect_type::text, is_active,
        expires_at, claimed_at, extra_data FROM public.discount_offers`,
  },
  {
    table: 'promo_offer_templates',
    source: `SELECT id, name, offer_type AS type, message_text AS message, button_text AS button, valid_hours AS hours, discount_percent AS percent, is_active AS active,
        active_discount_hours AS active_hours, test_duration_hours AS test_hours FROM ${there('promo_offer_templates')}`,
    target: `SELECT id::bigint, name::text, offer_type::text, message_text, button_text::text, valid_hours::bigint, discount_percent::bigint, is_active,
        active_discount_hours::bigint, test_duration_hours::bigint FROM public.promo_offer_templates t
      WHERE EXISTS (SELECT 1 FROM ${there('promo_offer_templates')})`,
  },
  {
    table: 'promo_offer_logs',
    source: `SELECT id, ${linked('o.user_id', 'users')} AS user_id, action, source, percent, effect_type AS effect, ${time('created_at')} AS created FROM ${there('promo_offer_logs')} o`,
    target:
      'SELECT id::bigint, user_id::bigint, action::text, source::text, percent::bigint, effect_type::text, created_at FROM public.promo_offer_logs',
  },
  {
    table: 'subscription_temporary_access',
    source: `SELECT id, subscription_id AS subscription, offer_id AS offer, squad_uuid AS squad, ${time('expires_at')} AS expires, is_active AS active,
        was_already_connected AS connected, ${time('deactivated_at')} AS ended FROM ${there('subscription_temporary_access')}`,
    target: `SELECT id::bigint, subscription_id::bigint, offer_id::bigint, squad_uuid::text, expires_at, is_active, was_already_connected, deactivated_at
      FROM public.subscription_temporary_access`,
  },
  {
    table: 'advertising_campaigns',
    source: `SELECT id, name, start_parameter AS start, lower(trim(bonus_type)) AS bonus, coalesce(balance_bonus_kopeks, 0) AS kopeks, subscription_duration_days AS days,
        tariff_duration_days AS tariff_days, ${linked('c.tariff_id', 'tariffs')} AS tariff, coalesce(is_active, true) AS active, ${linked('c.partner_user_id', 'users')} AS partner
      FROM ${there('advertising_campaigns')} c`,
    target: `SELECT id::bigint, name::text, start_parameter::text, bonus_type::text, balance_bonus_kopeks, subscription_duration_days::bigint, tariff_duration_days::bigint,
        tariff_id::bigint, is_active, partner_user_id::bigint FROM public.advertising_campaigns`,
  },
  {
    table: 'advertising_campaign_registrations',
    source: `SELECT id, campaign_id AS campaign, user_id, lower(trim(bonus_type)) AS bonus, coalesce(balance_bonus_kopeks, 0) AS kopeks, ${time('created_at')} AS created
      FROM ${there('advertising_campaign_registrations')}`,
    target: `SELECT id::bigint, campaign_id::bigint, user_id::bigint, bonus_type::text, balance_bonus_kopeks, created_at FROM public.advertising_campaign_registrations`,
  },
  {
    table: 'referral_earnings',
    source: `SELECT id, user_id, referral_id AS referral, amount_kopeks AS kopeks, reason, ${linked('e.campaign_id', 'advertising_campaigns')} AS campaign, ${time('created_at')} AS created
      FROM ${there('referral_earnings')} e`,
    target: `SELECT id::bigint, user_id::bigint, referral_id::bigint, amount_kopeks, reason::text, campaign_id::bigint, created_at FROM public.referral_earnings WHERE imported_at IS NOT NULL`,
  },
  {
    table: 'partner_applications',
    source: `SELECT id, user_id, lower(trim(status)) AS status, company_name AS company, website_url AS website, telegram_channel AS channel, description, admin_comment AS comment,
        desired_commission_percent AS desired, approved_commission_percent AS approved, ${time('processed_at')} AS processed FROM ${there('partner_applications')}`,
    target: `SELECT id::bigint, user_id::bigint, status::text, company_name::text, website_url::text, messenger_channel::text, description, admin_comment,
        desired_commission_percent::bigint, approved_commission_percent::bigint, processed_at FROM public.partner_applications`,
  },
];

/** Polls, the wheel and contests. */
export const ENGAGEMENT_COMPARISONS: readonly Comparison[] = [
  {
    table: 'polls',
    source: `SELECT id, title, description, reward_enabled AS rewards, reward_amount_kopeks AS kopeks FROM ${there('polls')}`,
    target: 'SELECT id::bigint, title::text, description, reward_enabled, reward_amount_kopeks FROM public.polls',
  },
  ...[
    ['poll_questions', 'poll_id'],
    ['poll_options', 'question_id'],
  ].map(([table, parent]) => ({
    table: table!,
    source: `SELECT o.id, o.${parent} AS parent, o.text, p.place FROM ${there(table!)} o
      LEFT JOIN (SELECT b.id, row_number() OVER (PARTITION BY b.${parent} ORDER BY b."order", b.id) AS place FROM ${there(table!)} b
        JOIN public.${table} k ON k.id = b.id) p ON p.id = o.id`,
    target: `SELECT id::bigint, ${parent}::bigint, text, sort_order::bigint FROM public.${table}`,
  })),
  {
    table: 'poll_responses',
    source: `SELECT id, poll_id AS poll, user_id, reward_given AS rewarded, reward_amount_kopeks AS kopeks, ${time('sent_at')} AS sent, ${time('completed_at')} AS completed
      FROM ${there('poll_responses')}`,
    target: `SELECT id::bigint, poll_id::bigint, user_id::bigint, reward_given, reward_amount_kopeks, sent_at, completed_at FROM public.poll_responses WHERE imported_at IS NOT NULL`,
  },
  {
    table: 'poll_answers',
    source: `SELECT id, response_id AS response, question_id AS question, option_id AS option FROM ${there('poll_answers')}`,
    target: 'SELECT id::bigint, response_id::bigint, question_id::bigint, option_id::bigint FROM public.poll_answers',
  },
  {
    table: 'wheel_configs',
    source: `SELECT id, is_enabled AS enabled, name, spin_cost_stars AS stars, spin_cost_days AS days, rtp_percent AS rtp, daily_spin_limit AS daily, promo_prefix AS prefix
      FROM ${there('wheel_configs')}`,
    // The wheel has number 1 here whatever it was there.
    target: `SELECT (SELECT min(id) FROM ${there('wheel_configs')}) AS id, is_enabled, name::text, spin_cost_stars::bigint, spin_cost_days::bigint, rtp_percent::bigint,
        daily_spin_limit::bigint, promo_prefix::text FROM public.wheel_configs WHERE EXISTS (SELECT 1 FROM ${there('wheel_configs')})`,
  },
  {
    table: 'wheel_prizes',
    source: `SELECT id, lower(trim(prize_type)) AS type, prize_value AS value, prize_value_kopeks AS kopeks, display_name AS name, emoji, is_active AS active,
        manual_probability AS probability, sort_order AS place FROM ${there('wheel_prizes')}`,
    target: `SELECT id::bigint, prize_type::text, prize_value, prize_value_kopeks, display_name::text, emoji::text, is_active, manual_probability, sort_order::bigint FROM public.wheel_prizes`,
  },
  {
    table: 'wheel_spins',
    source: `SELECT id, user_id, ${linked('s.prize_id', 'wheel_prizes')} AS prize, lower(trim(payment_type)) AS paid_by, payment_amount AS paid, payment_value_kopeks AS paid_kopeks,
        lower(trim(prize_type)) AS type, prize_value AS value, prize_value_kopeks AS kopeks, is_applied AS applied, telegram_charge_id AS charge, ${time('created_at')} AS created
      FROM ${there('wheel_spins')} s`,
    target: `SELECT id::bigint, user_id::bigint, prize_id::bigint, replace(payment_type, 'messenger_', 'telegram_'), payment_amount::bigint, payment_value_kopeks, prize_type::text,
        prize_value, prize_value_kopeks, is_applied, external_charge_id::text, created_at FROM public.wheel_spins WHERE imported_at IS NOT NULL`,
  },
  {
    table: 'referral_contests',
    source: `SELECT id, title, description, prize_text AS prize, contest_type AS type, ${time('start_at')} AS starts, ${time('end_at')} AS ends, left(daily_summary_time, 8) AS summary,
        timezone, is_active AS active, final_summary_sent AS ended FROM ${there('referral_contests')}`,
    target: `SELECT id::bigint, title::text, description, prize_text, contest_type::text, start_at, end_at, daily_summary_time::text, timezone::text, is_active, final_summary_sent
      FROM public.referral_contests`,
  },
  {
    table: 'referral_contest_events',
    source: `SELECT id, contest_id AS contest, referrer_id AS referrer, referral_id AS referral, lower(trim(event_type)) AS type, amount_kopeks AS kopeks, ${time('occurred_at')} AS occurred
      FROM ${there('referral_contest_events')}`,
    target: `SELECT id::bigint, contest_id::bigint, referrer_id::bigint, referral_id::bigint, event_type::text, amount_kopeks, occurred_at FROM public.referral_contest_events`,
  },
  {
    table: 'referral_contest_virtual_participants',
    source: `SELECT id, contest_id AS contest, display_name AS name, referral_count AS referrals, total_amount_kopeks AS kopeks FROM ${there('referral_contest_virtual_participants')}`,
    target: `SELECT id::bigint, contest_id::bigint, display_name::text, referral_count::bigint, total_amount_kopeks FROM public.referral_contest_virtual_participants`,
  },
  {
    table: 'contest_templates',
    source: `SELECT id, slug, name, description, lower(trim(prize_type)) AS prize, prize_value AS value, max_winners AS winners, times_per_day AS times, schedule_times AS schedule,
        is_enabled AS enabled FROM ${there('contest_templates')}`,
    // Games that the source lacks are those of a new service.
    target: `SELECT id::bigint, slug::text, name::text, description, prize_type::text, prize_value::text, max_winners::bigint, times_per_day::bigint, schedule_times::text, is_enabled
      FROM public.contest_templates t WHERE EXISTS (SELECT 1 FROM ${there('contest_templates')} s WHERE s.id = t.id OR s.slug = t.slug)`,
  },
  {
    table: 'contest_rounds',
    source: `SELECT id, template_id AS template, ${time('starts_at')} AS starts, ${time('ends_at')} AS ends, lower(trim(status)) AS status, winners_count AS winners, max_winners AS most
      FROM ${there('contest_rounds')}`,
    target: `SELECT id::bigint, template_id::bigint, starts_at, ends_at, status::text, winners_count::bigint, max_winners::bigint FROM public.contest_rounds`,
  },
  {
    table: 'contest_attempts',
    source: `SELECT id, round_id AS round, user_id, answer, is_winner AS winner FROM ${there('contest_attempts')}`,
    target: 'SELECT id::bigint, round_id::bigint, user_id::bigint, answer::text, is_winner FROM public.contest_attempts',
  },
];

/** What is sold without an account, how it is paid, and what is paid out. */
export const SALE_COMPARISONS: readonly Comparison[] = [
  {
    table: 'landing_pages',
    source: `SELECT id, slug, is_active AS active, title::jsonb AS title, features::jsonb AS features, allowed_tariff_ids::jsonb AS tariffs, allowed_periods::jsonb AS periods,
        replace(payment_methods::jsonb::text, '"method_id": "telegram_stars', '"method_id": "messenger_stars') AS methods, gift_enabled AS gifts, custom_css AS css, discount_percent AS percent,
        ${time('discount_starts_at')} AS starts, ${time('discount_ends_at')} AS ends FROM ${there('landing_pages')}`,
    target: `SELECT id::bigint, slug::text, is_active, title, features, allowed_tariff_ids, allowed_periods, payment_methods::text, gift_enabled, custom_css, discount_percent::bigint,
        discount_starts_at, discount_ends_at FROM public.landing_pages`,
  },
  {
    table: 'guest_purchases',
    source: `SELECT g.id, g.token, left(g.token, 12) AS code, g.source, g.contact_type AS contact, g.contact_value AS address, coalesce(g.is_gift, false) AS gift,
        g.gift_recipient_type AS recipient_type, g.gift_recipient_value AS recipient, g.gift_message AS message, g.period_days AS days, g.amount_kopeks AS kopeks, g.payment_method AS method,
        lower(trim(g.status)) AS status, ${linked('g.user_id', 'users')} AS user_id, ${linked('g.buyer_user_id', 'users')} AS buyer, ${linked('g.tariff_id', 'tariffs')} AS tariff,
        ${time('g.paid_at')} AS paid, ${time('g.delivered_at')} AS delivered, g.subscription_url AS url,
        ${linked('g.landing_id', 'landing_pages')} AS landing FROM ${there('guest_purchases')} g`,
    target: `SELECT id::bigint, token::text, code::text, source::text, ${messengerThere('contact_type')}, contact_value::text, is_gift,
        ${messengerThere('gift_recipient_type')}, gift_recipient_value::text, gift_message, period_days::bigint, amount_kopeks,
        replace(payment_method, 'messenger_stars', 'telegram_stars'), status::text, user_id::bigint, buyer_user_id::bigint, tariff_id::bigint, paid_at, delivered_at, subscription_url,
        landing_id::bigint FROM public.guest_purchases WHERE imported_at IS NOT NULL`,
  },
  {
    table: 'payment_method_configs',
    source: `SELECT id, replace(lower(trim(method_id)), 'telegram_stars', 'messenger_stars') AS method, sort_order AS place, is_enabled AS enabled, display_name AS name,
        sub_options::jsonb AS options, min_amount_kopeks AS least, max_amount_kopeks AS most, replace(user_type_filter, 'telegram', 'messenger') AS users,
        first_topup_filter AS topup, promo_group_filter_mode AS groups FROM ${there('payment_method_configs')}`,
    // The rows have no numbers here; methods that the source lacks are those of a new service.
    target: `SELECT s.id, c.method_id::text, c.sort_order::bigint, c.is_enabled, c.display_name::text, c.sub_options, c.min_amount_kopeks, c.max_amount_kopeks, c.user_type_filter::text,
        c.first_topup_filter::text, c.promo_group_filter_mode::text FROM public.payment_method_configs c
      JOIN (SELECT replace(lower(trim(method_id)), 'telegram_stars', 'messenger_stars') AS method, min(id) AS id FROM ${there('payment_method_configs')} GROUP BY 1) s ON s.method = c.method_id`,
  },
  {
    table: 'payment_method_promo_groups',
    source: `SELECT payment_method_config_id || ':' || promo_group_id AS id, replace(lower(trim(c.method_id)), 'telegram_stars', 'messenger_stars') AS method
      FROM (SELECT DISTINCT payment_method_config_id, promo_group_id FROM ${there('payment_method_promo_groups')}) g LEFT JOIN ${there('payment_method_configs')} c ON c.id = g.payment_method_config_id`,
    target: `SELECT coalesce(s.id, 0) || ':' || g.promo_group_id AS id, g.method_id::text FROM public.payment_method_promo_groups g
      LEFT JOIN (SELECT replace(lower(trim(method_id)), 'telegram_stars', 'messenger_stars') AS method, min(id) AS id FROM ${there('payment_method_configs')} GROUP BY 1) s ON s.method = g.method_id`,
    subject: 'id',
  },
  {
    table: 'saved_payment_methods',
    source: `SELECT id, user_id, yookassa_payment_method_id AS method, method_type AS type, card_first6 AS first, card_last4 AS last, card_expiry_month AS month,
        card_expiry_year AS year, title, coalesce(is_active, true) AS active FROM ${there('saved_payment_methods')}`,
    target: `SELECT id::bigint, user_id::bigint, provider_method_id::text, method_type::text, card_first6::text, card_last4::text, expiry_month::text, expiry_year::text, title::text, is_active
      FROM public.saved_payment_methods`,
  },
  {
    table: 'withdrawal_requests',
    source: `SELECT id, user_id, amount_kopeks AS kopeks, lower(trim(status)) AS status, payment_details AS details, coalesce(risk_score, 0) AS risk, admin_comment AS comment,
        ${linked('w.processed_by', 'users')} AS processor, ${time('processed_at')} AS processed, ${time('created_at')} AS created, NULL::bigint AS reserve, NULL::bigint AS debit, NULL::bigint AS payout
      FROM ${there('withdrawal_requests')} w`,
    target: `SELECT id::bigint, user_id::bigint, amount_kopeks, status::text, payment_details, risk_score::bigint, admin_comment, processed_by::bigint, processed_at, created_at,
        reserve_transaction_id::bigint, transaction_id::bigint, payout_transaction_id::bigint FROM public.withdrawal_requests`,
  },
];

/** Counts and kopeks that the operator knows from the statistics of the source. */
export const GROWTH_SUMS: readonly SumComparison[] = [
  {
    name: 'earnings of referrers by reason',
    source: `SELECT reason AS key, count(*) AS rows, sum(amount_kopeks) AS kopeks FROM ${there('referral_earnings')} GROUP BY 1`,
    target:
      'SELECT reason AS key, count(*) AS rows, sum(amount_kopeks) AS kopeks FROM public.referral_earnings WHERE imported_at IS NOT NULL GROUP BY 1',
  },
  {
    name: 'uses by promo code',
    source: `SELECT c.id::text AS key, count(u.id) AS rows, 0 AS kopeks FROM ${there('promocodes')} c JOIN ${there('promocode_uses')} u ON u.promocode_id = c.id GROUP BY 1`,
    target:
      'SELECT c.id::text AS key, count(u.id) AS rows, 0 AS kopeks FROM public.promocodes c JOIN public.promocode_uses u ON u.promocode_id = c.id GROUP BY 1',
  },
  {
    name: 'guest purchases by status',
    source: `SELECT lower(trim(status)) AS key, count(*) AS rows, sum(amount_kopeks) AS kopeks FROM ${there('guest_purchases')} GROUP BY 1`,
    target:
      'SELECT status AS key, count(*) AS rows, sum(amount_kopeks) AS kopeks FROM public.guest_purchases WHERE imported_at IS NOT NULL GROUP BY 1',
  },
  {
    name: 'withdrawals by status',
    source: `SELECT lower(trim(status)) AS key, count(*) AS rows, sum(amount_kopeks) AS kopeks FROM ${there('withdrawal_requests')} GROUP BY 1`,
    target: 'SELECT status AS key, count(*) AS rows, sum(amount_kopeks) AS kopeks FROM public.withdrawal_requests GROUP BY 1',
  },
];
