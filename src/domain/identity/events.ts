declare module '../../core/events/event-recorder.ts' {
  interface EventTypes {
    /** A new account (spec 01 section 2.2). The first four keys always exist; the rest depends on how it was created. */
    'user.created': {
      user_id: number;
      messenger_id: number | null;
      username: string | null;
      first_name: string | null;
      last_name?: string | null;
      email?: string | null;
      auth_type?: string;
      referral_code: string;
      referred_by_id?: number | null;
    };
  }
}

/** Feed event of a new account. */
export const USER_CREATED = 'user.created';
