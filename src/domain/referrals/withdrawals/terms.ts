import type { App } from '../../../core/app.ts';
import type { WithdrawalTerms } from './types.ts';

/** The settings in effect. Withdrawals need both the referral programme and their own switch. */
export function withdrawalTerms({ settings }: App): WithdrawalTerms {
  return {
    isEnabled: settings.get('REFERRAL_PROGRAM_ENABLED') && settings.get('REFERRAL_WITHDRAWAL_ENABLED'),
    isReferralOnly: settings.get('REFERRAL_WITHDRAWAL_ONLY_REFERRAL_BALANCE'),
    minAmountKopeks: settings.get('REFERRAL_WITHDRAWAL_MIN_AMOUNT_KOPEKS'),
    cooldownDays: settings.get('REFERRAL_WITHDRAWAL_COOLDOWN_DAYS'),
    isTestMode: settings.get('REFERRAL_WITHDRAWAL_TEST_MODE'),
  };
}
