import { z } from 'zod';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';

export const PINNED_PROGRESS = 'pinned_message.progress';

export const PINNED_MESSAGE_EVENTS = [
  defineEvent(
    PINNED_PROGRESS,
    z.object({
      message_id: z.int().describe('Id of the pinned message.'),
      action: z.enum(['broadcast', 'unpin']).describe('Whether it is sent or unpinned.'),
      status: z.string().describe('`preparing`, `sending`, `done`, `cancelled` or `failed`.'),
      total_count: z.int().describe('Recipients.'),
      sent_count: z.int().describe('Recipients who got it, or for whom it was unpinned.'),
      failed_count: z.int().describe('Recipients for whom it failed.'),
    }),
    {
      audience: 'staff',
      description: 'A pinned message begins to be sent or unpinned, every few seconds meanwhile, and when it ends.',
      example: { message_id: 2, action: 'broadcast', status: 'sending', total_count: 200, sent_count: 90, failed_count: 4 },
    },
  ),
] as const;

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof PINNED_MESSAGE_EVENTS> {}
}
