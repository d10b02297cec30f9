import { z } from 'zod';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';
import { UserIdField } from '../../core/events/event-fields.ts';

/** Feed event of a new account (spec 01 section 2.2). */
export const USER_CREATED = 'user.created';

export const IDENTITY_EVENTS = [
  defineEvent(
    USER_CREATED,
    z.object({
      user_id: UserIdField,
      messenger_id: z.int().nullable().describe('Id in the messenger; null without one.'),
      username: z.string().nullable().describe('Name in the messenger, without `@`.'),
      first_name: z.string().nullable().describe('First name.'),
      last_name: z.string().nullable().optional().describe('Last name.'),
      email: z.string().nullable().optional().describe('Address, for a registration by e-mail or OAuth.'),
      auth_type: z.string().optional().describe('How the account was registered, such as `email`.'),
      referral_code: z.string().describe('Code by which the user refers others.'),
      referred_by_id: z.int().nullable().optional().describe('Id of the referrer.'),
    }),
    {
      audience: 'feed',
      hasWebhook: true,
      description: 'A new account. Which of the optional fields exist depends on how it was created.',
      example: { user_id: 17, messenger_id: 123456789, username: 'anna', first_name: 'Anna', referral_code: 'refA1b2C3' },
    },
  ),
] as const;

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof IDENTITY_EVENTS> {}
}
