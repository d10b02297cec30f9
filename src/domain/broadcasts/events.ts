import { z } from 'zod';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';

export const BROADCAST_PROGRESS = 'broadcast.progress';

export const BROADCAST_EVENTS = [
  defineEvent(
    BROADCAST_PROGRESS,
    z.object({
      broadcast_id: z.int().describe('Id of the broadcast.'),
      status: z.string().describe('Status as in the list of broadcasts.'),
      total_count: z.int().describe('Recipients.'),
      sent_count: z.int().describe('Recipients who got it.'),
      failed_count: z.int().describe('Recipients to whom it could not be sent.'),
      blocked_count: z.int().describe('Recipients who blocked the bot.'),
      unconfirmed_count: z.int().describe('Recipients of whom it is unknown whether they got it.'),
      progress_percent: z.number().describe('Processed recipients, 0 to 100.'),
      estimated_end_at: z.string().nullable().describe('ISO 8601 in UTC; null while it cannot be estimated.'),
    }),
    {
      audience: 'staff',
      description: 'A broadcast begins, every few seconds while it is sent, and when it ends.',
      example: {
        ...{ broadcast_id: 4, status: 'in_progress', total_count: 200, sent_count: 90, failed_count: 4, blocked_count: 6 },
        ...{ unconfirmed_count: 0, progress_percent: 50, estimated_end_at: '2026-01-31T12:00:00.000Z' },
      },
    },
  ),
] as const;

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof BROADCAST_EVENTS> {}
}
