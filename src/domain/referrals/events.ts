interface WithdrawalDecided {
  amount_kopeks: number;
  amount_rubles: number;
  formatted_amount: string;
  comment: string | null;
}

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes {
    /** To the referrer: a referral has registered (spec 05 section 12.2). */
    'referral.registered': { referral_name: string };
    /** The same for a referrer without a messenger, with the parameters of the mail. */
    'notification.referral_registered': { referral_name: string };
    /** To the user who got a reward; `referral_name` is the other user of the pair (spec 05 section 12.2). */
    'referral.bonus': { bonus_kopeks: number; bonus_rubles: number; referral_name: string };
    /** The same for a user without a messenger, with the parameters of the mail. */
    'notification.referral_bonus': {
      bonus_kopeks: number;
      bonus_rubles: number;
      formatted_bonus: string;
      referral_name: string;
    };
    /** The decision on an application, for an applicant without a messenger. */
    'notification.partner_application_approved': { commission_percent: number; comment: string | null };
    'notification.partner_application_rejected': { comment: string | null };
    /** The decision on a withdrawal, for a user without a messenger. */
    'notification.withdrawal_approved': WithdrawalDecided;
    'notification.withdrawal_rejected': WithdrawalDecided;
  }
}

export const REFERRAL_REGISTERED = 'referral.registered';
export const REFERRAL_REGISTERED_NOTICE = 'notification.referral_registered';
export const REFERRAL_BONUS = 'referral.bonus';
export const REFERRAL_BONUS_NOTICE = 'notification.referral_bonus';
