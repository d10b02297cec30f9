import type { SettingDefinition } from './definition.ts';

/** Referral programme and contests (spec 06 section 6). */
export const growthSettings = {
  REFERRAL_MINIMUM_TOPUP_KOPEKS: { type: 'int', default: 10000, category: 'REFERRAL', min: 0 },
  REFERRAL_FIRST_TOPUP_BONUS_KOPEKS: { type: 'int', default: 10000, category: 'REFERRAL', min: 0 },
  REFERRAL_INVITER_BONUS_KOPEKS: { type: 'int', default: 10000, category: 'REFERRAL', min: 0 },
  REFERRAL_COMMISSION_PERCENT: { type: 'int', default: 25, category: 'REFERRAL', min: 0, max: 100 },
  REFERRAL_MAX_COMMISSION_PAYMENTS: { type: 'int', default: 0, category: 'REFERRAL', min: 0 },
  REFERRAL_PROGRAM_ENABLED: { type: 'bool', default: true, category: 'REFERRAL' },
  REFERRAL_NOTIFICATIONS_ENABLED: { type: 'bool', default: true, category: 'REFERRAL' },
  REFERRAL_NOTIFICATION_RETRY_ATTEMPTS: { type: 'int', default: 3, category: 'REFERRAL', min: 0 },
  REFERRAL_WITHDRAWAL_ENABLED: { type: 'bool', default: false, category: 'REFERRAL' },
  REFERRAL_WITHDRAWAL_MIN_AMOUNT_KOPEKS: { type: 'int', default: 100000, category: 'REFERRAL', min: 0 },
  REFERRAL_WITHDRAWAL_COOLDOWN_DAYS: { type: 'int', default: 30, category: 'REFERRAL', min: 0, max: 36500 },
  // Not in the contract: earnings can be withdrawn after this many days, when their payment can hardly go back any more; 0 = at once.
  REFERRAL_EARNINGS_HOLD_DAYS: { type: 'int', default: 0, category: 'REFERRAL', min: 0, max: 3650 },
  REFERRAL_WITHDRAWAL_ONLY_REFERRAL_BALANCE: { type: 'bool', default: true, category: 'REFERRAL' },
  REFERRAL_WITHDRAWAL_REQUISITES_TEXT: { type: 'str', default: '', category: 'REFERRAL' },
  REFERRAL_WITHDRAWAL_NOTIFICATIONS_TOPIC_ID: { type: 'int', optional: true, default: null, category: 'REFERRAL' },
  REFERRAL_PARTNER_SECTION_VISIBLE: { type: 'bool', default: true, category: 'REFERRAL' },
  REFERRAL_WITHDRAWAL_SUSPICIOUS_MIN_DEPOSIT_KOPEKS: { type: 'int', default: 50000, category: 'REFERRAL', min: 0 },
  REFERRAL_WITHDRAWAL_SUSPICIOUS_MAX_DEPOSITS_PER_MONTH: { type: 'int', default: 10, category: 'REFERRAL', min: 0 },
  REFERRAL_WITHDRAWAL_SUSPICIOUS_NO_PURCHASES_RATIO: { type: 'float', default: 2, category: 'REFERRAL', min: 0 },
  REFERRAL_WITHDRAWAL_TEST_MODE: { type: 'bool', default: false, category: 'REFERRAL' },
  // Not in the contract: withdrawals above this amount need the approval of two administrators; 0 = one is enough.
  REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS: { type: 'int', default: 0, category: 'REFERRAL', min: 0, guard: 'superadmin' },
  REFERRAL_CONTESTS_ENABLED: { type: 'bool', default: false, category: 'REFERRAL' },
  CONTESTS_ENABLED: { type: 'bool', default: false, category: 'CONTESTS' },
  CONTESTS_BUTTON_VISIBLE: { type: 'bool', default: false, category: 'CONTESTS' },
} as const satisfies Record<string, SettingDefinition>;
