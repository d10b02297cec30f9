declare module '../../core/events/event-recorder.ts' {
  interface EventTypes {
    /** To the inviter: somebody came by the link (spec 05 section 12.2). */
    'referral.registered': { referral_name: string };
    /** The same for an inviter without a messenger, as the mail says it. */
    'notification.referral_registered': { referral_name: string };
  }
}

export const REFERRAL_REGISTERED = 'referral.registered';
export const REFERRAL_REGISTERED_NOTICE = 'notification.referral_registered';
