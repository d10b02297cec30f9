import { Composer, InlineKeyboard } from 'grammy';
import { type BotContext, escaped, show } from './context.ts';
import type { components } from './generated/openapi.d.ts';
import { isMet, type MenuFacts } from './menu-conditions.ts';
import { dataOf, type ServiceClient } from './service.ts';
import { rubles } from './texts.ts';

type MenuButton = components['schemas']['MenuButtonConfig'];
type MenuRow = components['schemas']['MenuRowConfig'];

/** Actions of the menu that this bot can do; buttons with others are left out. */
const ACTIONS = new Set([
  ...['subscription_connect', 'menu_subscription', 'menu_balance', 'menu_trial', 'menu_buy', 'menu_promocode', 'menu_referrals'],
  ...['menu_support', 'menu_info', 'menu_language', 'back_to_menu', 'trial_activate', 'balance_topup', 'create_ticket'],
  ...['my_tickets', 'menu_faq', 'menu_rules', 'menu_privacy_policy', 'menu_public_offer'],
]);

/** The setting behind each feature condition of the menu. */
const FEATURES: Readonly<Record<string, string>> = {
  referral_enabled: 'REFERRAL_PROGRAM_ENABLED',
  support_enabled: 'SUPPORT_MENU_ENABLED',
  language_selection_enabled: 'LANGUAGE_SELECTION_ENABLED',
};
const DAY_MS = 86_400_000;

export const menu = new Composer<BotContext>();
menu.command(['start', 'menu'], (ctx) => showMenu(ctx));
menu.callbackQuery('back_to_menu', (ctx) => showMenu(ctx));

/** The main menu: its text with a random message of the operator, and the buttons that the operator has laid out. */
export async function showMenu(ctx: BotContext): Promise<void> {
  const { service, texts, profile } = ctx;
  const messages = dataOf(await service.web.GET('/main-menu/messages', { params: { query: { include_inactive: false } } }));
  const message = messages.items[Math.floor(Math.random() * messages.items.length)];
  const { subscription } = profile;
  const lines = [
    texts.greeting(escaped(profile.first_name ?? '')),
    texts.balance(rubles(profile.balance_kopeks)),
    subscription ? texts.until(subscription.actual_status, subscription.end_date) : texts.noSubscription,
    ...(message ? ['', message.message_text] : []),
  ];
  await show(ctx, lines.join('\n'), await keyboardOf(ctx));
}

async function keyboardOf(ctx: BotContext): Promise<InlineKeyboard> {
  const { web } = ctx.service;
  const layout = dataOf(await web.GET('/menu-layout'));
  const facts = await factsOf(ctx);
  const keyboard = new InlineKeyboard();
  const { rows, buttons } = layout.is_enabled ? layout : await defaultLayout(web);
  for (const row of rows.filter(({ conditions }) => isMet(conditions, facts))) {
    const shown = row.buttons.flatMap((id) => buttons[id] ?? []).filter((button) => isShown(button, facts));
    for (const [index, button] of shown.entries()) {
      if (index % (row.max_per_row ?? 2) === 0) keyboard.row();
      addButton(keyboard, button, ctx, facts);
    }
  }
  if (!layout.is_enabled) await addOperatorButtons(keyboard, web, facts);
  return keyboard;
}

/** Without a layout of the operator: the buttons that every installation has, two in a row. */
async function defaultLayout(web: ServiceClient): Promise<{ rows: MenuRow[]; buttons: Record<string, MenuButton> }> {
  const { items } = dataOf(await web.GET('/menu-layout/builtin-buttons'));
  const known = items.filter(({ callback_data: action }) => ACTIONS.has(action));
  const buttons = known.map(({ id, default_text: text, callback_data: action, default_conditions: conditions, ...rest }) => {
    const isDynamic = rest.supports_dynamic_text === true;
    return [
      id,
      { type: 'builtin', text, action, conditions: conditions ?? null, dynamic_text: isDynamic } satisfies MenuButton,
    ] as const;
  });
  return { rows: [{ id: 'main', buttons: known.map(({ id }) => id), max_per_row: 2 }], buttons: Object.fromEntries(buttons) };
}

function isShown(button: MenuButton, facts: MenuFacts): boolean {
  const visibility = button.visibility ?? 'all';
  const isVisible = visibility === 'all' || (visibility === 'subscribers' && facts.isSubscribed);
  const isKnown = button.type === 'url' || button.type === 'mini_app' || ACTIONS.has(button.action);
  return button.enabled !== false && isVisible && isKnown && isMet(button.conditions, facts);
}

function addButton(keyboard: InlineKeyboard, button: MenuButton, { language, profile }: BotContext, facts: MenuFacts): void {
  const text = button.text[language] ?? button.text.en ?? Object.values(button.text)[0] ?? '';
  const icon = button.icon && !text.startsWith(button.icon) ? `${button.icon} ` : '';
  const label = `${icon}${button.dynamic_text ? filled(text, profile, facts) : text}`;
  if (text === '') return;
  if (button.type === 'url') keyboard.url(label, button.action);
  else if (button.type === 'mini_app') keyboard.webApp(label, button.action);
  else keyboard.text(label, button.action);
}

function filled(text: string, profile: BotContext['profile'], facts: MenuFacts): string {
  const { subscription } = profile;
  const used = subscription?.traffic_used_gb ?? 0;
  const values: Record<string, string> = {
    balance: rubles(profile.balance_kopeks),
    username: profile.username ?? profile.first_name ?? 'User',
    subscription_days: String(facts.daysLeft),
    traffic_used: `${used.toFixed(1)} GB`,
    traffic_left: `${Math.max(0, (subscription?.traffic_limit_gb ?? 0) - used).toFixed(1)} GB`,
    referral_count: String(facts.referrals),
  };
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

async function addOperatorButtons(keyboard: InlineKeyboard, web: ServiceClient, facts: MenuFacts): Promise<void> {
  const { items } = dataOf(await web.GET('/main-menu/buttons'));
  const shown = items.filter(
    (one) => one.is_active && (one.visibility === 'all' || (one.visibility === 'subscribers' && facts.isSubscribed)),
  );
  for (const button of shown) {
    keyboard.row();
    if (button.action_type === 'url') keyboard.url(button.text, button.action_value);
    else keyboard.webApp(button.text, button.action_value);
  }
}

async function factsOf({ service: { web }, cabinet, profile }: BotContext): Promise<MenuFacts> {
  const { subscription } = profile;
  const isSubscribed = ['active', 'trial'].includes(subscription?.actual_status ?? '');
  const left = subscription ? Date.parse(subscription.end_date) - Date.now() : 0;
  const features = await Promise.all(
    Object.entries(FEATURES).map(async ([name, key]) => {
      const setting = dataOf(await web.GET('/settings/{key}', { params: { path: { key } } }));
      return setting.current === true ? [name] : [];
    }),
  );
  const referral = dataOf(await cabinet.GET('/cabinet/referral'));
  return {
    isSubscribed,
    isTrial: subscription?.is_trial === true,
    hasTrafficLimit: isSubscribed && subscription?.is_trial === false && subscription.traffic_limit_gb > 0,
    hasAutopay: subscription?.autopay_enabled === true,
    hasHadPaid: profile.has_had_paid_subscription,
    daysLeft: Math.max(0, Math.floor(left / DAY_MS)),
    balanceKopeks: profile.balance_kopeks,
    registeredDays: Math.floor((Date.now() - Date.parse(profile.created_at)) / DAY_MS),
    referrals: referral.total_referrals,
    promoGroupId: profile.promo_group?.id ?? null,
    features: new Set(features.flat()),
  };
}
