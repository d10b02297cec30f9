import type { TextParams } from '../texts.ts';
import { TEMPLATE_VARIABLES, type TemplateType } from './template-variables.ts';

/** Example values of all placeholders, for previews and test mails (spec 05 section 11.2). */
const SAMPLES: TextParams = {
  formatted_amount: '500.00 ₽',
  amount_rubles: 500,
  formatted_balance: '1500.00 ₽',
  new_balance_rubles: 1500,
  required_amount: '500.00 ₽',
  current_balance: '100.00 ₽',
  formatted_bonus: '50.00 ₽',
  bonus_rubles: 50,
  days_left: 3,
  expires_at: '2025-01-30',
  new_expires_at: '2025-01-30',
  tariff_name: 'Premium',
  traffic_limit_gb: 100,
  device_limit: 3,
  period_days: 30,
  reason: 'Example reason',
  message: 'Example message',
  referral_name: 'Maria',
  reset_gb: 50,
  current_limit_gb: 100,
  payment_method: 'YooKassa',
  username: 'Maria',
  verification_url: 'https://example.com/verify-email?token=example',
  reset_url: 'https://example.com/reset-password?token=example',
  expire_hours: 24,
  code: '123456',
  expire_minutes: 15,
  cabinet_url: 'https://example.com/cabinet',
  success_page_url: 'https://example.com/buy/success/example',
  subscription_url: 'https://example.com/sub/example',
  gift_message: 'Happy birthday!',
  is_gift: 'true',
  cabinet_email: 'user@example.com',
  cabinet_password: 'example-password',
};

/** What our own text of a type has besides the placeholders of the list. */
const OF_OUR_TEXTS: Partial<Record<TemplateType, readonly string[]>> = {
  guest_subscription_delivered: ['subscription_url', 'success_page_url'],
  guest_gift_received: ['subscription_url', 'success_page_url'],
};

const BY_TYPE: Partial<Record<TemplateType, TextParams>> = {
  password_reset: { expire_hours: 1 },
  referral_registered: { percent: 25 },
};

/** Every placeholder of the type has a value. */
export function sampleValues(type: TemplateType): TextParams {
  const names = [...TEMPLATE_VARIABLES[type], ...(OF_OUR_TEXTS[type] ?? [])];
  return { ...Object.fromEntries(names.map((name) => [name, SAMPLES[name] ?? ''])), ...BY_TYPE[type] };
}
