declare module '../../core/events/event-recorder.ts' {
  interface EventTypes {
    /** To the inviter: somebody came by the link (spec 05 section 12.2). */
    'referral.registered': { referral_name: string };
    /** The same for an inviter without a messenger, as the mail says it. */
    'notification.referral_registered': { referral_name: string };
    /** To whoever got a reward; `referral_name` is the other one of the pair (spec 05 section 12.2). */
    'referral.bonus': { bonus_kopeks: number; bonus_rubles: number; referral_name: string };
    /** The same for somebody without a messenger, as the mail says it. */
    'notification.referral_bonus': {
      bonus_kopeks: number;
      bonus_rubles: number;
      formatted_bonus: string;
      referral_name: string;
    };
    /** The decision on an application, for an applicant without a messenger. */
    'notification.partner_application_approved': { commission_percent: number; comment: string | null };
    'notification.partner_application_rejected': { comment: string | null };
  }
}

export const REFERRAL_REGISTERED = 'referral.registered';
export const REFERRAL_REGISTERED_NOTICE = 'notification.referral_registered';
export const REFERRAL_BONUS = 'referral.bonus';
export const REFERRAL_BONUS_NOTICE = 'notification.referral_bonus';
