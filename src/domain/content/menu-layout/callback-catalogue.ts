/** Callbacks of the chat that a button may have, and the placeholders of texts (spec 05 sections 7.2 and 7.3). */
export interface ChatCallback {
  callbackData: string;
  name: string;
  category: string;
  defaultText: Readonly<Record<string, string>>;
  defaultIcon: string;
  requiresSubscription: boolean;
}

type Entry = readonly [callbackData: string, icon: string, name: string, ru: string];

const section = (category: string, requiresSubscription: boolean, entries: readonly Entry[]): ChatCallback[] =>
  entries.map(([callbackData, defaultIcon, name, ru]) => ({
    callbackData,
    name,
    category,
    defaultText: { ru, en: name },
    defaultIcon,
    requiresSubscription,
  }));

export const CHAT_CALLBACKS: readonly ChatCallback[] = [
  ...section('menu', false, [
    ['back_to_menu', '🏠', 'Main menu', 'Главное меню'],
    ['menu_faq', '❓', 'Questions and answers', 'Вопросы и ответы'],
    ['menu_info_promo_groups', '🎯', 'Promo groups', 'Промогруппы'],
    ['menu_privacy_policy', '🔏', 'Privacy policy', 'Политика конфиденциальности'],
    ['menu_public_offer', '📄', 'Public offer', 'Публичная оферта'],
    ['menu_rules', '📜', 'Rules', 'Правила'],
    ['menu_server_status', '🖥', 'Server status', 'Состояние серверов'],
  ]),
  ...section('balance', false, [
    ['balance_history', '🧾', 'Operations', 'История операций'],
    ['balance_topup', '💳', 'Top up', 'Пополнить'],
  ]),
  ...section('subscription', true, [
    ['subscription_extend', '🔄', 'Extend', 'Продлить'],
    ['subscription_autopay', '💳', 'Automatic renewal', 'Автопродление'],
    ['subscription_settings', '⚙️', 'Subscription settings', 'Настройки подписки'],
    ['open_subscription_link', '🔗', 'Subscription link', 'Ссылка подписки'],
    ['subscription_add_countries', '🌍', 'Countries', 'Страны'],
    ['subscription_reset_traffic', '♻️', 'Reset traffic', 'Сбросить трафик'],
    ['subscription_switch_traffic', '📊', 'Change traffic', 'Сменить объём трафика'],
    ['subscription_change_devices', '📱', 'Number of devices', 'Число устройств'],
    ['subscription_manage_devices', '🗂', 'My devices', 'Мои устройства'],
    ['subscription_upgrade', '⬆️', 'Upgrade', 'Улучшить подписку'],
  ]),
  ...section('devices', true, [
    ['device_guide_ios', '🍏', 'Set up on iOS', 'Настройка на iOS'],
    ['device_guide_android', '🤖', 'Set up on Android', 'Настройка на Android'],
    ['device_guide_windows', '🪟', 'Set up on Windows', 'Настройка на Windows'],
    ['device_guide_mac', '💻', 'Set up on macOS', 'Настройка на macOS'],
    ['device_guide_tv', '📺', 'Set up on Android TV', 'Настройка на Android TV'],
    ['device_guide_appletv', '📺', 'Set up on Apple TV', 'Настройка на Apple TV'],
  ]),
  ...section('happ', false, [
    ['happ_download_ios', '🍏', 'Happ for iOS', 'Happ для iOS'],
    ['happ_download_android', '🤖', 'Happ for Android', 'Happ для Android'],
    ['happ_download_macos', '💻', 'Happ for macOS', 'Happ для macOS'],
    ['happ_download_windows', '🪟', 'Happ for Windows', 'Happ для Windows'],
  ]),
  ...section('referral', false, [
    ['referral_create_invite', '✉️', 'Make an invitation', 'Создать приглашение'],
    ['referral_show_qr', '🔳', 'Invitation as QR code', 'QR-код приглашения'],
    ['referral_list', '👥', 'My referrals', 'Мои рефералы'],
    ['referral_analytics', '📈', 'Referral figures', 'Статистика рефералов'],
  ]),
  ...section('support', false, [
    ['create_ticket', '📝', 'New ticket', 'Новое обращение'],
    ['my_tickets', '📂', 'My tickets', 'Мои обращения'],
  ]),
  ...section('trial', false, [['trial_activate', '🎁', 'Start the trial', 'Начать пробный период']]),
  ...section('purchase', false, [
    ['clear_saved_cart', '🗑', 'Clear the cart', 'Очистить корзину'],
    ['subscription_confirm', '✅', 'Confirm the purchase', 'Подтвердить покупку'],
    ['subscription_cancel', '❌', 'Cancel the purchase', 'Отменить покупку'],
  ]),
];

export interface Placeholder {
  placeholder: string;
  description: string;
  example: string;
  category: 'user' | 'subscription' | 'referral';
}

export const PLACEHOLDERS: readonly Placeholder[] = [
  { placeholder: '{balance}', description: "The user's balance", example: '150 ₽', category: 'user' },
  { placeholder: '{username}', description: "The user's name", example: 'anna', category: 'user' },
  { placeholder: '{subscription_days}', description: 'Days left of the subscription', example: '12', category: 'subscription' },
  { placeholder: '{traffic_used}', description: 'Traffic used', example: '3.4 GB', category: 'subscription' },
  { placeholder: '{traffic_left}', description: 'Traffic left', example: '96.6 GB', category: 'subscription' },
  { placeholder: '{referral_count}', description: 'Number of invited users', example: '5', category: 'referral' },
  { placeholder: '{referral_earnings}', description: 'Earned by invitations', example: '320 ₽', category: 'referral' },
];
