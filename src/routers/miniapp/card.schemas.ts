import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';
import { autopayFields } from './subscription.schemas.ts';
import { MiniAppConnectedServer, MiniAppCurrentTariff, MiniAppPromoGroup } from './tariffs.schemas.ts';

/** Contract group `miniapp`: the first page. Its parts stand in the order of the answer. */

const MiniAppSubscriptionUser = z
  .object({
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    last_name: z.string().nullish().describe('Last name; null when unknown.'),
    display_name: z.string().describe('Name shown to users.'),
    language: z.string().nullish().describe('Two-letter language code, for example `ru` or `en`.'),
    status: z.string().describe('Status of the account of the user, for example `active`.'),
    subscription_status: z.string().describe('Status of the subscription.'),
    subscription_actual_status: z.string().describe('Status of the subscription at this moment; `missing` for none.'),
    status_label: z.string().describe('Status of the subscription for display.'),
    expires_at: Timestamp.nullish().describe('When it stops being valid (UTC); null when it never does.'),
    device_limit: z.int().nullish().describe('Number of devices that may be connected; null in a request for the default.'),
    traffic_used_gb: z.number().default(0).describe('Traffic used since the last reset in GB, as the panel reports it.'),
    traffic_used_label: z.string().describe('Used traffic for display.'),
    traffic_limit_gb: z
      .int()
      .nullish()
      .describe('Traffic limit in GB (1024³ bytes); 0 = unlimited. Null in a request for the default.'),
    traffic_limit_label: z.string().describe('Traffic limit for display.'),
    lifetime_used_traffic_gb: z.number().default(0).describe('All traffic ever used in GB.'),
    has_active_subscription: z.boolean().default(false).describe('Whether the user has a subscription that gives access now.'),
    promo_offer_discount_percent: z.int().default(0).describe('Personal discount in percent; 0 for none.'),
    promo_offer_discount_expires_at: Timestamp.nullish().describe('End of the personal discount (UTC); null for no end.'),
    promo_offer_discount_source: z.string().nullish().describe('Where the personal discount came from; null for none.'),
    is_daily_tariff: z.boolean().default(false).describe('Whether the tariff is paid by the day.'),
    is_daily_paused: z.boolean().default(false).describe('Whether the daily subscription is paused by the user.'),
    daily_tariff_name: z.string().nullish().describe('Name of the daily tariff; null for another one.'),
    daily_price_kopeks: z
      .int()
      .nullish()
      .describe('Price of one day in kopeks; null or 0 for a tariff that is not charged by the day.'),
    daily_price_label: z
      .string()
      .nullish()
      .describe('Price of one day for display; null for a tariff that is not charged by the day.'),
    daily_next_charge_at: Timestamp.nullish().describe('End of the paid time of a daily tariff (UTC); null for another one.'),
  })
  .meta({ id: 'MiniAppSubscriptionUser' });

const MiniAppTrafficPurchase = z
  .object({
    id: z.int().describe('Id of the purchase of traffic.'),
    traffic_gb: z.int().describe('Traffic in GB.'),
    expires_at: Timestamp.describe('When it stops being valid (UTC).'),
    created_at: Timestamp.describe('When the traffic was bought (UTC).'),
    days_remaining: z.int().describe('Whole days until the purchased traffic expires.'),
    progress_percent: z.number().describe('How much of the time of the package has passed, 0 to 100, one decimal.'),
  })
  .meta({ id: 'MiniAppTrafficPurchase' });

const MiniAppDevice = z
  .object({
    hwid: z.string().nullish().describe('Hardware id of the device, as the client app reports it.'),
    platform: z.string().nullish().describe('Operating system; empty when unknown.'),
    device_model: z.string().nullish().describe('Model of the device; empty when unknown.'),
    app_version: z.string().nullish().describe('Client app as it names itself; null when unknown.'),
    last_seen: z.string().nullish().describe('When the panel saw the device last, ISO 8601; null when unknown.'),
    last_ip: z.string().nullish().describe('Address of the device; null, because the panel does not tell it.'),
  })
  .meta({ id: 'MiniAppDevice' });

const MiniAppTransaction = z
  .object({
    id: z.int().describe('Id of the movement.'),
    type: z
      .string()
      .describe(
        'Kind of movement: `deposit`, `withdrawal`, `subscription_payment`, `refund`, `referral_reward`, `poll_reward` or `gift_payment`.',
      ),
    amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
    description: z.string().nullish().describe('What the movement was for; null when nothing was recorded.'),
    payment_method: z.string().nullish().describe('How it was paid: id of a provider, `balance` or `manual`; null for bonuses.'),
    external_id: z.string().nullish().describe('Id of the payment at the provider; null for movements without one.'),
    is_completed: z.boolean().describe('Whether it is finished.'),
    created_at: Timestamp.describe('When the movement was recorded (UTC).'),
    completed_at: Timestamp.nullish().describe('When it was finished (UTC); null while it is not.'),
  })
  .meta({ id: 'MiniAppTransaction' });

const MiniAppPromoOffer = z
  .object({
    id: z.int().describe('Id of the promo offer.'),
    status: z.string().describe('`active` for a claimed offer in effect, `pending` for an offer that can be claimed.'),
    notification_type: z
      .string()
      .nullish()
      .describe('Occasion of the offer, up to 50 characters. An unclaimed offer of the same type is replaced.'),
    offer_type: z.string().nullish().describe('Kind of the template: `test_access`, `extend_discount` or `purchase_discount`.'),
    effect_type: z
      .string()
      .nullish()
      .describe('`percent_discount` (a personal discount) or `test_access` (temporary access to servers).'),
    discount_percent: z.int().default(0).describe('Discount in percent; 0 for none.'),
    bonus_amount_kopeks: z.int().default(0).describe('Amount in kopeks for display; it is not credited.'),
    bonus_amount_label: z.string().nullish().describe('Bonus for display; null for none.'),
    expires_at: Timestamp.nullish().describe('When it stops being valid (UTC); null when it never does.'),
    claimed_at: Timestamp.nullish().describe('When the offer was claimed (UTC); null while it was not.'),
    is_active: z
      .boolean()
      .default(false)
      .describe('Whether the offer can still be claimed; false for a claimed one, even while it has effect.'),
    template_id: z.int().nullish().describe('Id of the template of the offer; null for none.'),
    template_name: z.string().nullish().describe('Name of the template; null for none.'),
    button_text: z.string().nullish().describe('Text of the button; null for the default one.'),
    title: z.string().nullish().describe('Title of the offer; null for none.'),
    message_text: z.string().nullish().describe('Text of the message.'),
    icon: z.string().nullish().describe('Emoji or icon name; null or empty when there is none.'),
    test_squads: z.array(MiniAppConnectedServer).default([]).describe('Servers of temporary access; empty for a discount.'),
    active_discount_expires_at: Timestamp.nullish().describe(
      'When a claimed offer ends (UTC); null with the first purchase, or when it is open.',
    ),
    active_discount_started_at: Timestamp.nullish().describe('When the offer was claimed (UTC); null for an open one.'),
    active_discount_duration_seconds: z.int().nullish().describe('Length of a claimed offer in seconds; null without an end.'),
  })
  .meta({ id: 'MiniAppPromoOffer' });

const MiniAppAutoPromoGroupLevel = z
  .object({
    id: z.int().describe('Id of the promo group.'),
    name: z.string().describe('Name of the promo group that this spending reaches.'),
    threshold_kopeks: z.int().describe('Total spending from which the group is assigned, in kopeks.'),
    threshold_rubles: z.number().describe('Spending that the group needs, rubles.'),
    threshold_label: z.string().describe('Total spending from which the group is assigned, for display.'),
    is_reached: z.boolean().default(false).describe('Whether the user has spent that much.'),
    is_current: z.boolean().default(false).describe('Whether it is the primary promo group of the user.'),
    server_discount_percent: z.int().default(0).describe('Discount on servers in percent, 0 to 100.'),
    traffic_discount_percent: z.int().default(0).describe('Discount on traffic in percent, 0 to 100.'),
    device_discount_percent: z.int().default(0).describe('Discount on devices in percent, 0 to 100.'),
    period_discounts: z
      .record(z.string(), z.int())
      .default({})
      .describe('Discounts on periods: length in days (as text) to percent.'),
    apply_discounts_to_addons: z
      .boolean()
      .default(true)
      .describe('Whether traffic, devices and servers bought in mid-period are discounted too.'),
  })
  .meta({ id: 'MiniAppAutoPromoGroupLevel' });

const Texts = z.record(z.string(), z.string().nullable()).default({});

const MiniAppBranding = z
  .object({
    service_name: Texts.describe('Name by language; `default` for any other language.'),
    service_description: Texts.describe('Description by language; `default` for any other language.'),
  })
  .meta({ id: 'MiniAppBranding' });

const MiniAppFaqItem = z
  .object({
    id: z.int().describe('Id of the frequent question.'),
    title: z.string().nullish().describe('The question; null for none.'),
    content: z.string().nullish().describe('Text of the answer; null for none.'),
    display_order: z.int().nullish().describe('Place in the list; smaller numbers come first.'),
  })
  .meta({ id: 'MiniAppFaqItem' });

const MiniAppFaq = z
  .object({
    requested_language: z.string().describe('Language of the user.'),
    language: z.string().describe('Two-letter language code, for example `ru` or `en`.'),
    is_enabled: z.boolean().default(true).describe('Always true: questions that are switched off are not in the answer.'),
    total: z.int().default(0).describe('Number of questions in the answer.'),
    items: z.array(MiniAppFaqItem).default([]).describe('Active questions in the language of the user, in their order.'),
  })
  .meta({ id: 'MiniAppFaq' });

const MiniAppRichTextDocument = z
  .object({
    requested_language: z.string().describe('Language of the user.'),
    language: z.string().describe('Two-letter language code, for example `ru` or `en`.'),
    title: z.string().nullish().describe('Title of the document; null for none.'),
    is_enabled: z.boolean().default(true).describe('Always true: a document that is switched off is not in the answer.'),
    content: z.string().default('').describe('Text of the document.'),
    created_at: Timestamp.nullish().describe('When the document was first saved (UTC).'),
    updated_at: Timestamp.nullish().describe('When the document was last saved (UTC).'),
  })
  .meta({ id: 'MiniAppRichTextDocument' });

const MiniAppLegalDocuments = z
  .object({
    public_offer: MiniAppRichTextDocument.nullish().describe('Public offer; null for none.'),
    service_rules: MiniAppRichTextDocument.nullish().describe('Rules of the service; null for none.'),
    privacy_policy: MiniAppRichTextDocument.nullish().describe('Privacy policy; null for none.'),
  })
  .meta({ id: 'MiniAppLegalDocuments' });

const MiniAppReferralTerms = z
  .object({
    minimum_topup_kopeks: z.int().default(0).describe('Smallest first top-up that gives the bonuses, kopeks.'),
    minimum_topup_label: z.string().nullish().describe('Smallest first top-up of a referral for display.'),
    first_topup_bonus_kopeks: z.int().default(0).describe('Bonus of the referral at the first top-up, kopeks.'),
    first_topup_bonus_label: z.string().nullish().describe('Bonus of a referral for display.'),
    inviter_bonus_kopeks: z.int().default(0).describe('Bonus of the referrer at the first top-up of a referral, kopeks.'),
    inviter_bonus_label: z.string().nullish().describe('Bonus of the referrer for display.'),
    commission_percent: z.number().default(0).describe('Share of top-ups of referrals that is credited, percent.'),
  })
  .meta({ id: 'MiniAppReferralTerms' });

const MiniAppReferralStats = z
  .object({
    invited_count: z.int().default(0).describe('Number of referrals.'),
    paid_referrals_count: z.int().default(0).describe('Referrals with a first top-up.'),
    active_referrals_count: z.int().default(0).describe('Referrals with an active subscription.'),
    total_earned_kopeks: z.int().default(0).describe('All rewards in kopeks.'),
    total_earned_label: z.string().nullish().describe('Rewards for display.'),
    month_earned_kopeks: z.int().default(0).describe('Rewards of the last 30 days in kopeks.'),
    month_earned_label: z.string().nullish().describe('Rewards of the last 30 days for display.'),
    conversion_rate: z.number().default(0).describe('Share of those who bought, in percent; 0 when there are none.'),
  })
  .meta({ id: 'MiniAppReferralStats' });

const MiniAppReferralRecentEarning = z
  .object({
    amount_kopeks: z.int().default(0).describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    amount_label: z.string().nullish().describe('Amount for display.'),
    reason: z.string().nullish().describe('Why; null when no reason is known or was given.'),
    referral_name: z.string().nullish().describe('Name of the referral; null when unknown.'),
    created_at: Timestamp.nullish().describe('When the reward was credited (UTC).'),
  })
  .meta({ id: 'MiniAppReferralRecentEarning' });

const MiniAppReferralItem = z
  .object({
    id: z.int().describe('Internal id of the referral.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    full_name: z.string().nullish().describe('First and last name, else the user name, else a text with the id.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    created_at: Timestamp.nullish().describe('When the invited user registered (UTC).'),
    last_activity: Timestamp.nullish().describe('When the user last used the service (UTC); null when never.'),
    has_made_first_topup: z.boolean().default(false).describe('Whether the user ever topped up the balance.'),
    balance_kopeks: z.int().default(0).describe('Balance in kopeks; never negative.'),
    balance_label: z.string().nullish().describe('Balance for display, for example `150 ₽`; null where it is not known.'),
    total_earned_kopeks: z.int().default(0).describe('All rewards in kopeks.'),
    total_earned_label: z.string().nullish().describe('Rewards for display.'),
    topups_count: z.int().default(0).describe('Number of completed top-ups of the referral.'),
    days_since_registration: z.int().nullish().describe('Whole days since the registration.'),
    days_since_activity: z.int().nullish().describe('Whole days since the last activity; null when there was none.'),
    status: z.string().nullish().describe('`active` with an activity of the referral in the last 30 days, else `inactive`.'),
  })
  .meta({ id: 'MiniAppReferralItem' });

const MiniAppReferralList = z
  .object({
    total_count: z.int().default(0).describe('Number of all of them.'),
    has_next: z.boolean().default(false).describe('Whether there is a page after this one.'),
    has_prev: z.boolean().default(false).describe('Whether there is a page before this one.'),
    current_page: z.int().default(1).describe('Number of this page, from 1.'),
    total_pages: z.int().default(1).describe('Number of pages.'),
    items: z.array(MiniAppReferralItem).default([]).describe('Referrals of the user on this page, newest first.'),
  })
  .meta({ id: 'MiniAppReferralList' });

const MiniAppReferralInfo = z
  .object({
    referral_code: z.string().nullish().describe('Code of the account for invitations; null while it has none.'),
    referral_link: z
      .string()
      .nullish()
      .describe('Link to the cabinet that carries the code; empty when no address is configured.'),
    bot_referral_link: z.string().nullish().describe('Link to the bot that carries the code.'),
    terms: MiniAppReferralTerms.nullish().describe('Terms of the referral programme; null for none.'),
    stats: MiniAppReferralStats.nullish().describe('Clicks of the button.'),
    recent_earnings: z.array(MiniAppReferralRecentEarning).default([]).describe('The newest five rewards.'),
    referrals: MiniAppReferralList.nullish().describe('The referrals, newest first.'),
  })
  .meta({ id: 'MiniAppReferralInfo' });

export const MiniAppSubscriptionResponse = z
  .object({
    success: z.boolean().default(true).describe('Always true: a refused request is answered with an error status.'),
    subscription_id: z.int().nullish().describe('Id of the subscription; null for none.'),
    vpnpanel_short_uuid: z.string().nullish().describe('Short id of the user in the panel; null while there is none.'),
    user: MiniAppSubscriptionUser.describe('The user.'),
    traffic_purchases: z.array(MiniAppTrafficPurchase).default([]).describe('Traffic packages bought on top of the limit.'),
    subscription_url: z
      .string()
      .nullish()
      .describe('Link that client apps load the configuration from; null while the panel has not created it.'),
    hide_subscription_link: z.boolean().default(false).describe('Whether the front end should hide the link.'),
    subscription_crypto_link: z
      .string()
      .nullish()
      .describe('Encrypted form of the link for the Happ app; null when the panel gives none.'),
    subscription_purchase_url: z.string().nullish().describe('Page where a subscription is sold; null for none.'),
    links: z.array(z.string()).default([]).describe('Configuration links of the servers; empty when the panel gives none.'),
    ss_conf_links: z
      .record(z.string(), z.string())
      .default({})
      .describe('Shadowsocks configuration links by name; empty when the panel gives none.'),
    connected_squads: z
      .array(z.string())
      .default([])
      .describe('UUIDs of the servers (internal squads of the panel) of the subscription.'),
    connected_servers: z.array(MiniAppConnectedServer).default([]).describe('Servers of the subscription.'),
    connected_devices_count: z.int().default(0).describe('Number of connected devices.'),
    connected_devices: z.array(MiniAppDevice).default([]).describe('Connected devices; empty when the panel does not answer.'),
    happ: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('Links for the Happ app as the panel groups them; null when it gives none.'),
    happ_link: z.string().nullish().describe('Link for the Happ app; null for none.'),
    happ_crypto_link: z.string().nullish().describe('Encrypted link for the Happ app; null for none.'),
    happ_cryptolink_redirect_link: z
      .string()
      .nullish()
      .describe('Page that opens the Happ app with the encrypted link; null for none.'),
    happ_cryptolink_redirect_template: z
      .string()
      .nullish()
      .describe('Template of that page, with a placeholder for the link; null for none.'),
    balance_kopeks: z.int().default(0).describe('Balance in kopeks; never negative.'),
    balance_rubles: z.number().default(0).describe('Balance in rubles: kopeks / 100.'),
    balance_currency: z.string().nullish().describe('Currency of the balance where it is another than RUB; null otherwise.'),
    transactions: z.array(MiniAppTransaction).default([]).describe('Movements of this page, newest first.'),
    promo_offers: z
      .array(MiniAppPromoOffer)
      .default([])
      .describe('Offers of the user: the claimed discount, temporary accesses, then open offers.'),
    promo_group: MiniAppPromoGroup.nullish().describe('Primary promo group of the user; null for none.'),
    auto_assign_promo_groups: z
      .array(MiniAppAutoPromoGroupLevel)
      .default([])
      .describe('Promo groups that are assigned by total spending, lowest threshold first.'),
    total_spent_kopeks: z.int().default(0).describe('Sum of all completed payments for subscriptions, kopeks.'),
    total_spent_rubles: z.number().default(0).describe('Total of completed purchases in rubles.'),
    total_spent_label: z.string().nullish().describe('Total of completed purchases for display.'),
    subscription_type: z.string().describe('`trial`, `paid` or `none`.'),
    ...autopayFields,
    branding: MiniAppBranding.nullish().describe('Name and description of the service by language.'),
    faq: MiniAppFaq.nullish().describe('Frequent questions; null where there are none.'),
    legal_documents: MiniAppLegalDocuments.nullish().describe('Offer, rules and privacy policy; null where there are none.'),
    referral: MiniAppReferralInfo.nullish().describe('Referral programme of the user.'),
    subscription_missing: z.boolean().default(false).describe('Whether the user has no subscription.'),
    subscription_missing_reason: z
      .string()
      .nullish()
      .describe('`trial_expired` where the user may not take the trial any more, else `not_found`; null with a subscription.'),
    trial_available: z.boolean().default(false).describe('Whether the user may start the trial.'),
    trial_duration_days: z.int().nullish().describe('Length of the trial in days; null where there is no trial.'),
    trial_status: z.string().nullish().describe('`available` or `unavailable`.'),
    trialPaymentRequired: z.boolean().default(false).describe('Whether the trial has a price.'),
    trialPriceKopeks: z.int().nullish().describe('Price of the trial in kopeks; null where it is free.'),
    trialPriceLabel: z.string().nullish().describe('Price of the trial for display; null where it is free.'),
    salesMode: z.string().default('classic').describe('How subscriptions are sold: `tariffs` or `classic`.'),
    currentTariff: MiniAppCurrentTariff.nullish().describe('Tariff of the subscription; null for none.'),
  })
  .meta({ id: 'MiniAppSubscriptionResponse' });
