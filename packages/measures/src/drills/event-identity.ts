/** How a row of `domain_events` and the frame that carries it are recognised as the same event. */
import { createHash } from 'node:crypto';

export type FeedName = 'ws' | 'cabinet';

export interface EventRow {
  id: number;
  type: string;
  payload: Record<string, unknown>;
  userId: number | null;
  /** `event_id` of its frames. */
  eventId: string;
}

/**
 * Type and a digest of the payload, because hundreds of thousands are kept. The frame of `/cabinet/ws` has the payload's fields beside
 * its type and the ids of the event, so fields of these names do not count there.
 */
export function eventIdentity(feed: FeedName, type: string, payload: Record<string, unknown>): string {
  const { type: _type, id: _id, event_id: _eventId, ...fields } = payload;
  const counted = feed === 'cabinet' ? fields : payload;
  return `${type} ${createHash('sha1').update(sortedJson(counted)).digest('base64url')}`;
}

/** Tells an event from one with the same contents that was lost with a primary, too. */
export function socketIdentity(feed: FeedName, row: Pick<EventRow, 'type' | 'payload' | 'eventId'>): string {
  return `${eventIdentity(feed, row.type, row.payload)} ${row.eventId}`;
}

/** @returns that of the event's row; null for a frame that is no event: the greeting, an answer to a ping */
export function frameIdentity(feed: FeedName, frame: Record<string, unknown>): string | null {
  const { type } = frame;
  if (typeof type !== 'string' || ['connection', 'connected', 'pong'].includes(type)) return null;
  const payload = (feed === 'cabinet' ? frame : frame.payload) as Record<string, unknown> | null;
  return typeof payload === 'object' && payload !== null
    ? socketIdentity(feed, { type, payload, eventId: String(frame.event_id) })
    : null;
}

/** The user whose order an event belongs to; null = it has none. */
export function userOf(row: Pick<EventRow, 'userId' | 'payload'>): number | null {
  if (row.userId !== null) return row.userId;
  const named = row.payload.user_id;
  return typeof named === 'number' ? named : null;
}

/** `jsonb` and clients do not keep the order of keys. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${sortedJson(item)}`).join(',')}}`;
}
