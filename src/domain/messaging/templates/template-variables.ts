/**
 * The mails whose texts administrators may replace, in the order of their list, with the placeholders that each of them fills (spec 05
 * section 11.2). Whoever sends such a mail has to give all of them: `MailParams` makes a missing one an error of the compiler.
 */
const CREDENTIALS = ['tariff_name', 'period_days', 'cabinet_url', 'cabinet_email', 'cabinet_password'] as const;
const BALANCE = ['formatted_amount', 'formatted_balance', 'amount_rubles', 'new_balance_rubles'] as const;
const SHORTFALL = ['required_amount', 'current_balance'] as const;

export const TEMPLATE_VARIABLES = {
  balance_topup: BALANCE,
  balance_change: BALANCE,
  subscription_expiring: ['days_left', 'expires_at'],
  subscription_expired: [],
  subscription_renewed: ['new_expires_at', 'tariff_name', 'traffic_limit_gb', 'device_limit'],
  subscription_activated: ['expires_at', 'tariff_name', 'traffic_limit_gb', 'device_limit'],
  autopay_success: ['formatted_amount', 'amount_rubles', 'new_expires_at'],
  autopay_failed: ['reason'],
  autopay_insufficient_funds: SHORTFALL,
  daily_debit: BALANCE,
  daily_insufficient_funds: SHORTFALL,
  ban_notification: ['reason'],
  unban_notification: [],
  warning_notification: ['message'],
  referral_bonus: ['formatted_bonus', 'bonus_rubles', 'referral_name'],
  referral_registered: ['referral_name'],
  traffic_reset: ['reset_gb', 'current_limit_gb'],
  payment_received: ['formatted_amount', 'payment_method'],
  email_verification: ['username', 'verification_url', 'expire_hours'],
  password_reset: ['username', 'reset_url', 'expire_hours'],
  email_change_code: ['username', 'code', 'expire_minutes'],
  guest_subscription_delivered: CREDENTIALS,
  guest_activation_required: ['tariff_name', 'period_days', 'success_page_url', 'gift_message', 'is_gift'],
  guest_gift_received: ['tariff_name', 'period_days', 'cabinet_url', 'gift_message', 'cabinet_email', 'cabinet_password'],
  guest_cabinet_credentials: CREDENTIALS,
} as const;

export type TemplateType = keyof typeof TEMPLATE_VARIABLES;

export const TEMPLATE_TYPES = Object.keys(TEMPLATE_VARIABLES) as readonly TemplateType[];

/** The placeholders that a mail of this type must fill; none for a type that has no place in the list. */
export type TemplateVariable<M extends string> = M extends TemplateType ? (typeof TEMPLATE_VARIABLES)[M][number] : never;

export function isTemplateType(type: string): type is TemplateType {
  return Object.hasOwn(TEMPLATE_VARIABLES, type);
}

/** Languages in which a template can be stored. Our own texts are Russian and English; the others get the Russian ones. */
export const TEMPLATE_LANGUAGES = ['ru', 'en', 'zh', 'ua', 'fa'] as const;
export type TemplateLanguage = (typeof TEMPLATE_LANGUAGES)[number];

export function isTemplateLanguage(language: string): language is TemplateLanguage {
  return (TEMPLATE_LANGUAGES as readonly string[]).includes(language);
}

/** The language of the template for a recipient: that of the tag (`zh-CN`, `EN`; `uk` is `ua`), Russian for any other. */
export function templateLanguage(language: string | null | undefined): TemplateLanguage {
  const tag = language?.toLowerCase().split(/[-_]/)[0] ?? '';
  if (tag === 'uk') return 'ua';
  return isTemplateLanguage(tag) ? tag : 'ru';
}
