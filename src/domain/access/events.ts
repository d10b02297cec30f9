import { z } from 'zod';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';

/** Sent to feed and webhooks when a day of the audit log is over. */
export const AUDIT_DAY_CLOSED = 'audit.day_closed';

export const ACCESS_EVENTS = [
  defineEvent(
    AUDIT_DAY_CLOSED,
    z.object({
      day: z.string().describe('The day in UTC, `YYYY-MM-DD`.'),
      position: z.int().describe('Position of the last entry of the day in the chain of hashes, counted from 1.'),
      hash: z.string().describe('Hash of that entry, SHA-256 in hexadecimal; it depends on every entry before it.'),
      closed_at: z.iso
        .datetime()
        .describe('When the day was closed, ISO 8601 in UTC with milliseconds; the signature is over this text.'),
      public_key: z
        .string()
        .nullable()
        .describe('Ed25519 key of the signature, hexadecimal; null when the installation has neither of the keys that sign.'),
      signature: z
        .string()
        .nullable()
        .describe('Signature of the lines `audit-day-2`, day, position, hash and closed_at, hexadecimal; null without a key.'),
    }),
    {
      audience: 'feed',
      hasWebhook: true,
      description:
        'A day of the audit log is over; whoever keeps this can prove later that no entry of it was changed or removed.',
      example: {
        day: '2026-11-28',
        position: 48_211,
        hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        closed_at: '2026-11-29T00:00:31.204Z',
        public_key: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
        signature: null,
      },
    },
  ),
] as const;

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof ACCESS_EVENTS> {}
}
