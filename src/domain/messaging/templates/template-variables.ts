import { type TextKey, text } from '../texts.ts';

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

/** Label and description of a template in the languages of the template list (spec 05 section 11.2); Russian and English are in `locales`. */
export interface TemplateLabels {
  label: Record<LabelLanguage, string>;
  description: Record<LabelLanguage, string>;
}

type LabelLanguage = 'ru' | 'en' | 'zh' | 'ua';

export function labelsOf(type: TemplateType): TemplateLabels {
  const { zh, ua } = OTHER_LANGUAGES[type];
  const ours = (part: 'label' | 'description', language: 'ru' | 'en') =>
    text(language, `email_templates.${type}_${part}` as TextKey);
  return {
    label: { ru: ours('label', 'ru'), en: ours('label', 'en'), zh: zh[0], ua: ua[0] },
    description: { ru: ours('description', 'ru'), en: ours('description', 'en'), zh: zh[1], ua: ua[1] },
  };
}

/** Label, then description. */
type Texts = readonly [string, string];

const OTHER_LANGUAGES: Readonly<Record<TemplateType, { zh: Texts; ua: Texts }>> = {
  balance_topup: { zh: ['余额充值', '余额已通过付款充值'], ua: ['Поповнення балансу', 'Баланс поповнено платежем'] },
  balance_change: { zh: ['余额变动', '管理员更改了余额'], ua: ['Зміна балансу', 'Баланс змінено адміністратором'] },
  subscription_expiring: {
    zh: ['订阅即将到期', '订阅到期前的提醒'],
    ua: ['Підписка закінчується', 'Нагадування до кінця підписки'],
  },
  subscription_expired: { zh: ['订阅已到期', '订阅期限已结束'], ua: ['Підписка закінчилася', 'Термін підписки минув'] },
  subscription_renewed: {
    zh: ['订阅已续订', '订阅已续订新的周期'],
    ua: ['Підписку продовжено', 'Підписку продовжено на новий період'],
  },
  subscription_activated: { zh: ['订阅已激活', '新订阅已生效'], ua: ['Підписка активна', 'Нову підписку підключено'] },
  autopay_success: {
    zh: ['自动续订成功', '订阅已自动续订'],
    ua: ['Автопродовження виконано', 'Підписку продовжено автоматично'],
  },
  autopay_failed: {
    zh: ['自动续订失败', '订阅无法自动续订'],
    ua: ['Автопродовження не вдалося', 'Підписку не можна продовжити автоматично'],
  },
  autopay_insufficient_funds: {
    zh: ['自动续订余额不足', '余额不足以续订'],
    ua: ['Бракує коштів на автопродовження', 'Баланс менший за ціну продовження'],
  },
  daily_debit: { zh: ['每日扣费', '已扣除日租套餐一天的费用'], ua: ['Списання за день', 'Списано оплату за день тарифу'] },
  daily_insufficient_funds: {
    zh: ['每日扣费余额不足', '日租套餐已停止'],
    ua: ['Бракує коштів на день тарифу', 'Денний тариф зупинено'],
  },
  ban_notification: { zh: ['访问受限', '用户的访问已被限制'], ua: ['Обмеження доступу', 'Доступ користувача обмежено'] },
  unban_notification: { zh: ['解除限制', '用户的访问已恢复'], ua: ['Зняття обмеження', 'Доступ користувача відновлено'] },
  warning_notification: { zh: ['警告', '对用户的警告'], ua: ['Попередження', 'Попередження користувачеві'] },
  referral_bonus: { zh: ['推荐奖励', '已发放推荐奖励'], ua: ['Реферальний бонус', 'Нараховано бонус за запрошеного'] },
  referral_registered: {
    zh: ['新的推荐用户', '有用户通过链接注册'],
    ua: ['Новий реферал', 'За посиланням зареєструвався користувач'],
  },
  traffic_reset: {
    zh: ['附加流量已到期', '购买的附加流量已过期'],
    ua: ['Докуплений трафік закінчився', 'Термін докупленого трафіку минув'],
  },
  payment_received: { zh: ['已收到付款', '已收到用户的付款'], ua: ['Платіж отримано', 'Платіж користувача прийнято'] },
  email_verification: {
    zh: ['邮箱验证', '用于确认邮箱地址的链接'],
    ua: ['Підтвердження пошти', 'Посилання для підтвердження адреси'],
  },
  password_reset: { zh: ['重置密码', '用于设置新密码的链接'], ua: ['Скидання пароля', 'Посилання для нового пароля'] },
  email_change_code: {
    zh: ['更换邮箱验证码', '用于更换邮箱地址的验证码'],
    ua: ['Код зміни пошти', 'Код для зміни адреси пошти'],
  },
  guest_subscription_delivered: {
    zh: ['游客购买', '在销售页面购买了订阅'],
    ua: ['Покупка без реєстрації', 'Підписку куплено на сторінці продажу'],
  },
  guest_activation_required: {
    zh: ['需要激活', '购买等待收件人确认'],
    ua: ['Потрібна активація', 'Покупка чекає на згоду одержувача'],
  },
  guest_gift_received: { zh: ['收到礼物', '订阅已作为礼物送出'], ua: ['Подарунок отримано', 'Підписку подаровано одержувачу'] },
  guest_cabinet_credentials: {
    zh: ['账户登录信息', '购买后的登录信息'],
    ua: ['Вхід до особистого кабінету', 'Дані для входу після покупки'],
  },
};
