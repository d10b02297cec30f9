import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
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

/** Earnings after this moment cannot be withdrawn yet, so that a refund of the payment can take them back (spec 10 M4); null = all can. */
export function maturedBefore({ settings, clock }: App): Date | null {
  const days = settings.get('REFERRAL_EARNINGS_HOLD_DAYS');
  return days > 0 ? addDays(clock.now(), -days) : null;
}
