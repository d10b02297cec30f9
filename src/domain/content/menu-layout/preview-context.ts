import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import type { FlagCondition, MenuContext } from './types.ts';

/** The person of a preview, as far as the request describes one. */
export interface PreviewPerson {
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

/** The conditions that ask for a feature, by the settings that switch it (spec 05 section 7.2). */
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

/** Somebody who never paid, invited nobody and has no row of a subscription: a preview knows only what it is told. */
export function previewContext(app: App, person: PreviewPerson): MenuContext {
  const isSubscribed = person.hasActiveSubscription && person.subscriptionIsActive;
  return {
    language: person.language,
    flags: {
      ...featureFlags(app),
      has_active_subscription: person.hasActiveSubscription,
      subscription_is_active: person.subscriptionIsActive,
      has_traffic_limit: false,
      is_admin: person.isAdmin,
      is_moderator: person.isModerator && !person.isAdmin,
      show_trial: !person.hasActiveSubscription,
      show_buy: !isSubscribed,
      has_saved_cart: false,
      has_referrals: false,
      is_trial_user: false,
      has_autopay: false,
    },
    isTrafficTopupOffered: app.settings.get('TRAFFIC_TOPUP_ENABLED') && app.settings.get('SALES_MODE') !== 'tariffs',
    balanceKopeks: person.balanceKopeks,
    registrationDays: 0,
    referralCount: 0,
    subscriptionDaysLeft: 0,
    promoGroupId: null,
    placeholders: {
      balance: formatPrice(person.balanceKopeks, app.settings.get('PRICE_ROUNDING_ENABLED')),
      username: 'User',
      subscription_days: '0',
      traffic_used: '0.0 GB',
      traffic_left: '0.0 GB',
      referral_count: '0',
      referral_earnings: formatPrice(0, app.settings.get('PRICE_ROUNDING_ENABLED')),
    },
  };
}
