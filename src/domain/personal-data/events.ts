import { z } from 'zod';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';

export const CHANGES = ['export_ready', 'erasure_requested', 'erasure_cancelled'] as const;

export const PERSONAL_DATA_EVENTS = [
  defineEvent(
    'notification.personal_data',
    z.object({
      change: z
        .enum(CHANGES)
        .describe('What happened: `export_ready` (the archive can be loaded), `erasure_requested` or `erasure_cancelled`.'),
      due_at: z.iso.datetime().nullable().describe('When the account is erased (ISO 8601, UTC); null for other changes.'),
    }),
    {
      audience: 'user',
      description: 'A request for an archive or for the erasure of the account went on, for a user without a messenger.',
      example: { change: 'export_ready', due_at: null },
    },
  ),
] as const;

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof PERSONAL_DATA_EVENTS> {}
}
