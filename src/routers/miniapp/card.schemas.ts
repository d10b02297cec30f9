import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';
import { autopayFields } from './subscription.schemas.ts';
import { MiniAppConnectedServer, MiniAppCurrentTariff, MiniAppPromoGroup } from './tariffs.schemas.ts';

/** Contract group `miniapp`: the first page (spec 02 section 12.3). Its parts stand in the order of the answer. */

export const MiniAppSubscriptionUser = z
  .object({
    messenger_id: z.int().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    display_name: z.string(),
    language: z.string().nullish(),
    status: z.string(),
    subscription_status: z.string(),
    subscription_actual_status: z.string(),
    status_label: z.string(),
    expires_at: Moment.nullish(),
    device_limit: z.int().nullish(),
    traffic_used_gb: z.number().default(0),
    traffic_used_label: z.string(),
    traffic_limit_gb: z.int().nullish(),
    traffic_limit_label: z.string(),
    lifetime_used_traffic_gb: z.number().default(0),
    has_active_subscription: z.boolean().default(false),
    promo_offer_discount_percent: z.int().default(0),
    promo_offer_discount_expires_at: Moment.nullish(),
    promo_offer_discount_source: z.string().nullish(),
    is_daily_tariff: z.boolean().default(false),
    is_daily_paused: z.boolean().default(false),
    daily_tariff_name: z.string().nullish(),
    daily_price_kopeks: z.int().nullish(),
    daily_price_label: z.string().nullish(),
    daily_next_charge_at: Moment.nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionUser' });

export const MiniAppTrafficPurchase = z
  .object({
    id: z.int(),
    traffic_gb: z.int(),
    expires_at: Moment,
    created_at: Moment,
    days_remaining: z.int(),
    progress_percent: z.number(),
  })
  .meta({ id: 'MiniAppTrafficPurchase' });

export const MiniAppDevice = z
  .object({
    hwid: z.string().nullish(),
    platform: z.string().nullish(),
    device_model: z.string().nullish(),
    app_version: z.string().nullish(),
    last_seen: z.string().nullish(),
    last_ip: z.string().nullish(),
  })
  .meta({ id: 'MiniAppDevice' });

export const MiniAppTransaction = z
  .object({
    id: z.int(),
    type: z.string(),
    amount_kopeks: z.int(),
    amount_rubles: z.number(),
    description: z.string().nullish(),
    payment_method: z.string().nullish(),
    external_id: z.string().nullish(),
    is_completed: z.boolean(),
    created_at: Moment,
    completed_at: Moment.nullish(),
  })
  .meta({ id: 'MiniAppTransaction' });

export const MiniAppPromoOffer = z
  .object({
    id: z.int(),
    status: z.string(),
    notification_type: z.string().nullish(),
    offer_type: z.string().nullish(),
    effect_type: z.string().nullish(),
    discount_percent: z.int().default(0),
    bonus_amount_kopeks: z.int().default(0),
    bonus_amount_label: z.string().nullish(),
    expires_at: Moment.nullish(),
    claimed_at: Moment.nullish(),
    is_active: z.boolean().default(false),
    template_id: z.int().nullish(),
    template_name: z.string().nullish(),
    button_text: z.string().nullish(),
    title: z.string().nullish(),
    message_text: z.string().nullish(),
    icon: z.string().nullish(),
    test_squads: z.array(MiniAppConnectedServer).default([]),
    active_discount_expires_at: Moment.nullish(),
    active_discount_started_at: Moment.nullish(),
    active_discount_duration_seconds: z.int().nullish(),
  })
  .meta({ id: 'MiniAppPromoOffer' });

export const MiniAppAutoPromoGroupLevel = z
  .object({
    id: z.int(),
    name: z.string(),
    threshold_kopeks: z.int(),
    threshold_rubles: z.number(),
    threshold_label: z.string(),
    is_reached: z.boolean().default(false),
    is_current: z.boolean().default(false),
    server_discount_percent: z.int().default(0),
    traffic_discount_percent: z.int().default(0),
    device_discount_percent: z.int().default(0),
    period_discounts: z.record(z.string(), z.int()).default({}),
    apply_discounts_to_addons: z.boolean().default(true),
  })
  .meta({ id: 'MiniAppAutoPromoGroupLevel' });

const Texts = z.record(z.string(), z.string().nullable()).default({});

export const MiniAppBranding = z.object({ service_name: Texts, service_description: Texts }).meta({ id: 'MiniAppBranding' });

export const MiniAppFaqItem = z
  .object({ id: z.int(), title: z.string().nullish(), content: z.string().nullish(), display_order: z.int().nullish() })
  .meta({ id: 'MiniAppFaqItem' });

export const MiniAppFaq = z
  .object({
    requested_language: z.string(),
    language: z.string(),
    is_enabled: z.boolean().default(true),
    total: z.int().default(0),
    items: z.array(MiniAppFaqItem).default([]),
  })
  .meta({ id: 'MiniAppFaq' });

export const MiniAppRichTextDocument = z
  .object({
    requested_language: z.string(),
    language: z.string(),
    title: z.string().nullish(),
    is_enabled: z.boolean().default(true),
    content: z.string().default(''),
    created_at: Moment.nullish(),
    updated_at: Moment.nullish(),
  })
  .meta({ id: 'MiniAppRichTextDocument' });

export const MiniAppLegalDocuments = z
  .object({
    public_offer: MiniAppRichTextDocument.nullish(),
    service_rules: MiniAppRichTextDocument.nullish(),
    privacy_policy: MiniAppRichTextDocument.nullish(),
  })
  .meta({ id: 'MiniAppLegalDocuments' });

export const MiniAppReferralTerms = z
  .object({
    minimum_topup_kopeks: z.int().default(0),
    minimum_topup_label: z.string().nullish(),
    first_topup_bonus_kopeks: z.int().default(0),
    first_topup_bonus_label: z.string().nullish(),
    inviter_bonus_kopeks: z.int().default(0),
    inviter_bonus_label: z.string().nullish(),
    commission_percent: z.number().default(0),
  })
  .meta({ id: 'MiniAppReferralTerms' });

export const MiniAppReferralStats = z
  .object({
    invited_count: z.int().default(0),
    paid_referrals_count: z.int().default(0),
    active_referrals_count: z.int().default(0),
    total_earned_kopeks: z.int().default(0),
    total_earned_label: z.string().nullish(),
    month_earned_kopeks: z.int().default(0),
    month_earned_label: z.string().nullish(),
    conversion_rate: z.number().default(0),
  })
  .meta({ id: 'MiniAppReferralStats' });

export const MiniAppReferralRecentEarning = z
  .object({
    amount_kopeks: z.int().default(0),
    amount_label: z.string().nullish(),
    reason: z.string().nullish(),
    referral_name: z.string().nullish(),
    created_at: Moment.nullish(),
  })
  .meta({ id: 'MiniAppReferralRecentEarning' });

export const MiniAppReferralItem = z
  .object({
    id: z.int(),
    messenger_id: z.int().nullish(),
    full_name: z.string().nullish(),
    username: z.string().nullish(),
    created_at: Moment.nullish(),
    last_activity: Moment.nullish(),
    has_made_first_topup: z.boolean().default(false),
    balance_kopeks: z.int().default(0),
    balance_label: z.string().nullish(),
    total_earned_kopeks: z.int().default(0),
    total_earned_label: z.string().nullish(),
    topups_count: z.int().default(0),
    days_since_registration: z.int().nullish(),
    days_since_activity: z.int().nullish(),
    status: z.string().nullish(),
  })
  .meta({ id: 'MiniAppReferralItem' });

export const MiniAppReferralList = z
  .object({
    total_count: z.int().default(0),
    has_next: z.boolean().default(false),
    has_prev: z.boolean().default(false),
    current_page: z.int().default(1),
    total_pages: z.int().default(1),
    items: z.array(MiniAppReferralItem).default([]),
  })
  .meta({ id: 'MiniAppReferralList' });

export const MiniAppReferralInfo = z
  .object({
    referral_code: z.string().nullish(),
    referral_link: z.string().nullish(),
    bot_referral_link: z.string().nullish(),
    terms: MiniAppReferralTerms.nullish(),
    stats: MiniAppReferralStats.nullish(),
    recent_earnings: z.array(MiniAppReferralRecentEarning).default([]),
    referrals: MiniAppReferralList.nullish(),
  })
  .meta({ id: 'MiniAppReferralInfo' });

export const MiniAppSubscriptionResponse = z
  .object({
    success: z.boolean().default(true),
    subscription_id: z.int().nullish(),
    vpnpanel_short_uuid: z.string().nullish(),
    user: MiniAppSubscriptionUser,
    traffic_purchases: z.array(MiniAppTrafficPurchase).default([]),
    subscription_url: z.string().nullish(),
    hide_subscription_link: z.boolean().default(false),
    subscription_crypto_link: z.string().nullish(),
    subscription_purchase_url: z.string().nullish(),
    links: z.array(z.string()).default([]),
    ss_conf_links: z.record(z.string(), z.string()).default({}),
    connected_squads: z.array(z.string()).default([]),
    connected_servers: z.array(MiniAppConnectedServer).default([]),
    connected_devices_count: z.int().default(0),
    connected_devices: z.array(MiniAppDevice).default([]),
    happ: z.record(z.string(), z.unknown()).nullish(),
    happ_link: z.string().nullish(),
    happ_crypto_link: z.string().nullish(),
    happ_cryptolink_redirect_link: z.string().nullish(),
    happ_cryptolink_redirect_template: z.string().nullish(),
    balance_kopeks: z.int().default(0),
    balance_rubles: z.number().default(0),
    balance_currency: z.string().nullish(),
    transactions: z.array(MiniAppTransaction).default([]),
    promo_offers: z.array(MiniAppPromoOffer).default([]),
    promo_group: MiniAppPromoGroup.nullish(),
    auto_assign_promo_groups: z.array(MiniAppAutoPromoGroupLevel).default([]),
    total_spent_kopeks: z.int().default(0),
    total_spent_rubles: z.number().default(0),
    total_spent_label: z.string().nullish(),
    subscription_type: z.string(),
    ...autopayFields,
    branding: MiniAppBranding.nullish(),
    faq: MiniAppFaq.nullish(),
    legal_documents: MiniAppLegalDocuments.nullish(),
    referral: MiniAppReferralInfo.nullish(),
    subscription_missing: z.boolean().default(false),
    subscription_missing_reason: z.string().nullish(),
    trial_available: z.boolean().default(false),
    trial_duration_days: z.int().nullish(),
    trial_status: z.string().nullish(),
    trialPaymentRequired: z.boolean().default(false),
    trialPriceKopeks: z.int().nullish(),
    trialPriceLabel: z.string().nullish(),
    salesMode: z.string().default('classic'),
    currentTariff: MiniAppCurrentTariff.nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionResponse' });
