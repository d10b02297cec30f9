import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { fill } from '../../messaging/texts.ts';
import { areConditionsMet, buttonOf, isVisibleTo } from './rules.ts';
import type { ButtonType, FlagCondition, MenuButton, MenuContext, MenuDocument } from './types.ts';

export interface MenuItem {
  text: string;
  action: string;
  type: ButtonType;
}

/** The rows of buttons that the user sees: filtered, in order, split by the width of each row (spec 05 section 7.2). */
export function buildMenu(document: MenuDocument, context: MenuContext): MenuItem[][] {
  return document.rows
    .filter((row) => areConditionsMet(row.conditions, context))
    .flatMap((row) => {
      const items = row.buttons.flatMap((id) => {
        const button = buttonOf(document, id);
        return button && isShown(id, button, context) ? itemOf(button, context) : [];
      });
      return chunk(items, row.max_per_row);
    });
}

function isShown(id: string, button: MenuButton, context: MenuContext): boolean {
  const builtin = button.type === 'builtin' ? (button.builtin_id ?? id) : null;
  return (
    button.enabled &&
    isVisibleTo(button.visibility, context) &&
    areConditionsMet(button.conditions, context) &&
    (builtin !== 'buy_traffic' || context.isTrafficTopupOffered)
  );
}

/** A button without text is left out, because the messenger would refuse the whole keyboard. */
function itemOf(button: MenuButton, context: MenuContext): MenuItem[] {
  const { text } = button;
  const localised = Object.hasOwn(text, context.language) ? text[context.language] : undefined;
  const pattern = localised ?? text.en ?? Object.values(text)[0] ?? '';
  const label = button.dynamic_text ? fill(pattern, context.placeholders, String) : pattern;
  return label.trim() === '' ? [] : [{ text: label, action: button.action, type: button.type }];
}

function chunk<T>(items: readonly T[], size: number): T[][] {
  const rows: T[][] = [];
  for (let start = 0; start < items.length; start += size) rows.push(items.slice(start, start + size));
  return rows;
}

/** The user of a preview, as the request describes them. */
interface PreviewUser {
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

/** The flags of features, by the settings that switch them. */
function featureFlags({ settings }: Pick<App, 'settings'>): Record<FeatureFlag, boolean> {
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
