import { z } from 'zod';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';

export const REFERRAL_REGISTERED = 'referral.registered';
export const REFERRAL_REGISTERED_NOTICE = 'notification.referral_registered';
export const REFERRAL_BONUS = 'referral.bonus';
export const REFERRAL_BONUS_NOTICE = 'notification.referral_bonus';

const referralName = { referral_name: z.string().describe('Name of the other user of the pair.') };
const bonus = { bonus_kopeks: z.int().describe('Reward in kopeks.'), bonus_rubles: z.number().describe('The same in rubles.') };
const comment = z.string().nullable().describe('Comment of the administrator; null without one.');
const WithdrawalDecided = z.object({
  amount_kopeks: z.int().describe('Amount of the withdrawal in kopeks.'),
  amount_rubles: z.number().describe('The same in rubles.'),
  formatted_amount: z.string().describe('The same as text.'),
  comment,
});
const WITHDRAWAL_EXAMPLE = { amount_kopeks: 50_000, amount_rubles: 500, formatted_amount: '500 ₽', comment: null };
const BONUS_EXAMPLE = { bonus_kopeks: 5_000, bonus_rubles: 50, referral_name: 'Anna' };

export const REFERRAL_EVENTS = [
  defineEvent(REFERRAL_REGISTERED, z.object(referralName), {
    audience: 'user',
    description: 'To the referrer: a referral has registered.',
    example: { referral_name: 'Anna' },
  }),
  defineEvent(REFERRAL_REGISTERED_NOTICE, z.object(referralName), {
    audience: 'user',
    description: 'The same for a referrer without a messenger, with the parameters of the mail.',
    example: { referral_name: 'Anna' },
  }),
  defineEvent(REFERRAL_BONUS, z.object({ ...bonus, ...referralName }), {
    audience: 'user',
    description: 'The user got a reward.',
    example: BONUS_EXAMPLE,
  }),
  defineEvent(
    REFERRAL_BONUS_NOTICE,
    z.object({ ...bonus, formatted_bonus: z.string().describe('The reward as text.'), ...referralName }),
    {
      audience: 'user',
      description: 'The same for a user without a messenger, with the parameters of the mail.',
      example: { ...BONUS_EXAMPLE, formatted_bonus: '50 ₽' },
    },
  ),
  defineEvent(
    'notification.partner_application_approved',
    z.object({ commission_percent: z.number().describe('Commission of the partner, in percent.'), comment }),
    {
      audience: 'user',
      description: 'An application was approved, for an applicant without a messenger.',
      example: { commission_percent: 25, comment: null },
    },
  ),
  defineEvent('notification.partner_application_rejected', z.object({ comment }), {
    audience: 'user',
    description: 'An application was rejected, for an applicant without a messenger.',
    example: { comment: null },
  }),
  defineEvent('notification.withdrawal_approved', WithdrawalDecided, {
    audience: 'user',
    description: 'A withdrawal was approved, for a user without a messenger.',
    example: WITHDRAWAL_EXAMPLE,
  }),
  defineEvent('notification.withdrawal_rejected', WithdrawalDecided, {
    audience: 'user',
    description: 'A withdrawal was rejected, for a user without a messenger.',
    example: WITHDRAWAL_EXAMPLE,
  }),
] as const;

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof REFERRAL_EVENTS> {}
}
