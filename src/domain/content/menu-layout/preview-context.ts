import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import type { FlagCondition, MenuContext } from './types.ts';

/** The user of a preview, as the request describes them. */
export interface PreviewUser {
  language: string;
  isAdmin: boolean;
  isModerator: boolean;
  hasActiveSubscription: boolean;
  subscriptionIsActive: boolean;
  balanceKopeks: number;
}

type FeatureFlag = Extract<
  FlagCondition,
  | 'referral_enabled'
  | 'contests_visible'
  | 'support_enabled'
  | 'language_selection_enabled'
  | 'happ_enabled'
  | 'simple_subscription_enabled'
>;

/** The flags of features, by the settings that switch them (spec 05 section 7.2). */
export function featureFlags({ settings }: Pick<App, 'settings'>): Record<FeatureFlag, boolean> {
  return {
    referral_enabled: settings.get('REFERRAL_PROGRAM_ENABLED'),
    contests_visible: settings.get('CONTESTS_BUTTON_VISIBLE'),
    support_enabled: settings.get('SUPPORT_MENU_ENABLED'),
    language_selection_enabled: settings.get('LANGUAGE_SELECTION_ENABLED'),
    happ_enabled:
      settings.get('CONNECT_BUTTON_MODE') === 'happ_cryptolink' && settings.get('CONNECT_BUTTON_HAPP_DOWNLOAD_ENABLED'),
    simple_subscription_enabled: settings.get('SIMPLE_SUBSCRIPTION_ENABLED'),
  };
}

/** The context of a user without payments, referrals and subscription days: a preview has only the fields of its request. */
export function previewContext(app: App, user: PreviewUser): MenuContext {
  const isSubscribed = user.hasActiveSubscription && user.subscriptionIsActive;
  return {
    language: user.language,
    flags: {
      ...featureFlags(app),
      has_active_subscription: user.hasActiveSubscription,
      subscription_is_active: user.subscriptionIsActive,
      has_traffic_limit: false,
      is_admin: user.isAdmin,
      is_moderator: user.isModerator && !user.isAdmin,
      show_trial: !user.hasActiveSubscription,
      show_buy: !isSubscribed,
      has_saved_cart: false,
      has_referrals: false,
      is_trial_user: false,
      has_autopay: false,
    },
    isTrafficTopupOffered: app.settings.get('TRAFFIC_TOPUP_ENABLED') && app.settings.get('SALES_MODE') !== 'tariffs',
    balanceKopeks: user.balanceKopeks,
    registrationDays: 0,
    referralCount: 0,
    subscriptionDaysLeft: 0,
    promoGroupId: null,
    placeholders: {
      balance: formatPrice(user.balanceKopeks, app.settings.get('PRICE_ROUNDING_ENABLED')),
      username: 'User',
      subscription_days: '0',
      traffic_used: '0.0 GB',
      traffic_left: '0.0 GB',
      referral_count: '0',
      referral_earnings: formatPrice(0, app.settings.get('PRICE_ROUNDING_ENABLED')),
    },
  };
}
