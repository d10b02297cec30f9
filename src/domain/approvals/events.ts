import { z } from 'zod';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';

const approval = {
  approval_id: z.int().describe('Id of the approval.'),
  kind: z.string().describe('`balance_change` or `payment_refund`.'),
  user_id: z.int().nullable().describe('Whose balance it is; null for the refund of a purchase without an account.'),
  amount_kopeks: z.int().describe('By effect on the user in kopeks; of a refund below 0.'),
};
const EXAMPLE = { approval_id: 7, kind: 'balance_change', user_id: 42, amount_kopeks: 5_000_000 };

export const APPROVAL_EVENTS = [
  defineEvent(
    'approval.requested',
    z.object({ ...approval, expires_at: z.string().describe('Until when it can be approved, ISO 8601 in UTC.') }),
    {
      audience: 'feed',
      description: 'A change of money waits for a second administrator.',
      example: { ...EXAMPLE, expires_at: '2026-11-30T12:00:00.000Z' },
    },
  ),
  defineEvent(
    'approval.decided',
    z.object({ ...approval, status: z.string().describe('`approved`, `refused`, `withdrawn` or `expired`.') }),
    {
      audience: 'feed',
      description: 'A change of money that waited is approved and carried out, refused, withdrawn or expired.',
      example: { ...EXAMPLE, status: 'approved' },
    },
  ),
] as const;

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof APPROVAL_EVENTS> {}
}
