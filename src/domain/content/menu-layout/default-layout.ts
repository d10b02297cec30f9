import type { Conditions, MenuButton, MenuDocument, MenuRow, Visibility } from './types.ts';

interface Builtin {
  id: string;
  action: string;
  ru: string;
  en: string;
  visibility?: Visibility;
  conditions?: Conditions;
}

/** The buttons whose actions the service handles itself (spec 05 section 7.1). */
const BUILTINS: readonly Builtin[] = [
  {
    id: 'connect',
    action: 'subscription_connect',
    ru: '🔗 Подключиться',
    en: '🔗 Connect',
    visibility: 'subscribers',
    conditions: { has_active_subscription: true, subscription_is_active: true },
  },
  {
    id: 'happ_download',
    action: 'subscription_happ_download',
    ru: '⬇️ Скачать Happ',
    en: '⬇️ Get Happ',
    visibility: 'subscribers',
  },
  { id: 'subscription', action: 'menu_subscription', ru: '📱 Моя подписка', en: '📱 My subscription', visibility: 'subscribers' },
  {
    id: 'buy_traffic',
    action: 'buy_traffic',
    ru: '📶 Докупить трафик',
    en: '📶 More traffic',
    visibility: 'subscribers',
    conditions: { has_traffic_limit: true },
  },
  { id: 'balance', action: 'menu_balance', ru: '💰 Баланс: {balance}', en: '💰 Balance: {balance}' },
  { id: 'trial', action: 'menu_trial', ru: '🎁 Попробовать бесплатно', en: '🎁 Try for free', conditions: { show_trial: true } },
  {
    id: 'buy_subscription',
    action: 'menu_buy',
    ru: '🛒 Купить подписку',
    en: '🛒 Buy a subscription',
    conditions: { show_buy: true },
  },
  { id: 'simple_subscription', action: 'simple_subscription_purchase', ru: '⚡ Быстрая покупка', en: '⚡ Quick purchase' },
  { id: 'resume_checkout', action: 'return_to_saved_cart', ru: '↩️ Вернуться к заказу', en: '↩️ Back to the order' },
  { id: 'promocode', action: 'menu_promocode', ru: '🎟 Промокод', en: '🎟 Promo code' },
  {
    id: 'referrals',
    action: 'menu_referrals',
    ru: '👥 Пригласить друзей',
    en: '👥 Invite friends',
    conditions: { referral_enabled: true },
  },
  { id: 'contests', action: 'contests_menu', ru: '🏆 Конкурсы', en: '🏆 Contests' },
  { id: 'support', action: 'menu_support', ru: '💬 Поддержка', en: '💬 Support', conditions: { support_enabled: true } },
  { id: 'info', action: 'menu_info', ru: 'ℹ️ Информация', en: 'ℹ️ Information' },
  { id: 'language', action: 'menu_language', ru: '🌐 Язык', en: '🌐 Language' },
  { id: 'admin_panel', action: 'admin_panel', ru: '⚙️ Управление', en: '⚙️ Administration', visibility: 'admins' },
  { id: 'moderator_panel', action: 'moderator_panel', ru: '🛡 Модерация', en: '🛡 Moderation', visibility: 'moderators' },
];

const row = (id: string, buttons: string[], max_per_row: number, conditions: Conditions | null = null): MenuRow => ({
  id,
  buttons,
  conditions,
  max_per_row,
});

const ROWS: readonly MenuRow[] = [
  row('connect_row', ['connect'], 1, { has_active_subscription: true, subscription_is_active: true }),
  row('happ_row', ['happ_download'], 1, { has_active_subscription: true, happ_enabled: true }),
  row('subscription_traffic_row', ['subscription', 'buy_traffic'], 2, { has_active_subscription: true }),
  row('balance_row', ['balance'], 1),
  row('trial_buy_row', ['trial', 'buy_subscription'], 2),
  row('simple_subscription_row', ['simple_subscription'], 1, { simple_subscription_enabled: true }),
  row('resume_row', ['resume_checkout'], 1, { has_saved_cart: true }),
  row('promo_referral_row', ['promocode', 'referrals'], 2),
  row('contests_row', ['contests'], 2, { contests_visible: true }),
  row('support_info_row', ['support', 'info'], 2),
  row('language_row', ['language'], 2, { language_selection_enabled: true }),
  row('admin_row', ['admin_panel'], 1, { is_admin: true }),
  row('moderator_row', ['moderator_panel'], 1, { is_moderator: true }),
];

/** Buttons that are listed with the conditions of their row. */
const LISTED_WITH_ROW = new Set([
  ...['happ_download', 'subscription', 'simple_subscription', 'resume_checkout'],
  ...['contests', 'language', 'admin_panel', 'moderator_panel'],
]);

function buttonFor({ id, action, ru, en, visibility = 'all', conditions }: Builtin): MenuButton {
  return {
    type: 'builtin',
    builtin_id: id,
    text: { ru, en },
    icon: null,
    action,
    enabled: true,
    visibility,
    conditions: conditions ?? null,
    dynamic_text: id === 'balance',
    open_mode: 'callback',
    webapp_url: null,
    description: null,
    sort_order: null,
  };
}

export const DEFAULT_LAYOUT: MenuDocument = {
  version: 1,
  rows: ROWS,
  buttons: Object.fromEntries(BUILTINS.map((builtin) => [builtin.id, buttonFor(builtin)])),
};

export interface BuiltinButton {
  id: string;
  defaultText: Readonly<Record<string, string>>;
  callbackData: string;
  defaultConditions: Conditions | null;
  supportsDynamicText: boolean;
  supportsDirectOpen: boolean;
}

export const BUILTIN_BUTTONS: readonly BuiltinButton[] = BUILTINS.map(({ id, action, ru, en, conditions }) => ({
  id,
  defaultText: { ru, en },
  callbackData: action,
  defaultConditions:
    conditions ?? (LISTED_WITH_ROW.has(id) ? (ROWS.find((each) => each.buttons.includes(id))?.conditions ?? null) : null),
  supportsDynamicText: id === 'balance',
  supportsDirectOpen: id === 'connect',
}));
